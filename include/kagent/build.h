// SPDX-License-Identifier: Apache-2.0
// What the builder made of a candidate's kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kagent/tensor.h>

namespace kagent {

enum class ParameterKind { pointer, signed_integer, unsigned_integer, floating, boolean, half,
                           bfloat16, tensor_map };

/// One parameter of a kernel as C++ declares it (pitfall 9).
struct KernelParameter {
  ParameterKind kind = ParameterKind::pointer;
  int bytes = 8;                        // size of the parameter itself
  std::optional<DType> pointee;         // element type, where it is one we know; empty for void*
  bool read_only = false;               // pointer to const
  std::string type;                     // "float const*", for messages
  bool operator==(const KernelParameter&) const = default;
};

struct KernelBuild {
  int kernel = -1;                      // index into Plan::kernels
  int unit = -1;                        // which image holds it
  std::string entry;                    // symbol in the image
  std::vector<KernelParameter> parameters;
  int registers = 0;                    // per thread; 0 on the CPU backend
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
  std::int64_t shared_bytes = 0;        // static
  bool operator==(const KernelBuild&) const = default;
};

/// One compiled source file with one set of options. The image's bytes travel as a descriptor.
struct BuildUnit {
  std::string source;
  std::vector<std::string> options;
  std::string hash;                     // sha256 of the image, hex
  std::string log;                      // compiler's words, capped
  double build_ms = 0;
  bool operator==(const BuildUnit&) const = default;
};

struct BuildResult {
  std::string compiler;                 // "nvrtc 13.0", "nvcc 13.0", "g++ 12.2.0"
  std::vector<BuildUnit> units;
  std::vector<KernelBuild> kernels;
  bool operator==(const BuildResult&) const = default;
};

}  // namespace kagent
