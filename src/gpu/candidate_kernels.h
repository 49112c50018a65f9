// SPDX-License-Identifier: Apache-2.0
// The candidate's images and their kernels, launched as a plan says.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kagent/build.h>
#include <kagent/evaluation.h>
#include <kagent/plan.h>
#include <kagent/result.h>

#include "gpu/kernel_image.h"

namespace kagent::gpu {

class CandidateKernels {
 public:
  explicit CandidateKernels(const Driver& driver) : driver_(driver) {}

  /// images: one cubin per unit of the build. An image that the card refuses, or one that holds a
  /// kernel named like an instrument of ours, is the candidate's Fault.
  Result<std::optional<Fault>> load(const BuildResult& build,
                                    const std::vector<std::string>& images);

  /// One parameter's bytes, not owned.
  struct Parameter {
    void* bytes;
    int size;
  };
  /// Queues the kernel on the stream. Sizes are checked against what the driver says of the kernel.
  std::optional<Fault> launch(const LaunchStep& step, const std::vector<Parameter>& parameters,
                              CUstream stream);

  /// Symbols of the kernels in the build, as a timeline names them.
  const std::vector<std::string>& symbols() const { return symbols_; }

 private:
  struct Kernel {
    CUfunction function = nullptr;
    std::vector<std::size_t> parameter_bytes;
    int dynamic_shared_bytes = 0;   // what the function may take now
    bool large_clusters = false;    // allowed
  };

  Result<std::optional<Fault>> load_image(const BuildUnit& unit, const std::string& bytes);
  Result<std::optional<Fault>> find_kernel(const KernelBuild& kernel, std::size_t first_image);
  std::optional<Fault> allow(Kernel& kernel, const LaunchStep& step, const LaunchShape& shape);

  const Driver& driver_;
  std::vector<KernelImage> images_;
  std::map<int, Kernel> kernels_;   // by index into Plan::kernels
  std::vector<std::string> symbols_;
};

}  // namespace kagent::gpu
