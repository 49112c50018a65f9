// SPDX-License-Identifier: Apache-2.0
// What a candidate's forward does, recorded without a GPU. docs/plan-format.md is the JSON form.
// A Plan that was parsed is well formed (ids in range, caps kept) but not yet allowed: the
// operator policy and the launch check decide that.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <kagent/settings.h>
#include <kagent/tensor.h>

namespace kagent {

/// Index into Plan::values.
struct ValueId {
  int index = -1;
  bool operator==(const ValueId&) const = default;
};

enum class MemoryFormat { contiguous, channels_last, channels_last_3d, preserve };

/// One argument of an operator, tagged as in JSON so that 1, 1.0 and true stay apart (pitfall 4).
struct Argument {
  using List = std::vector<Argument>;
  struct None { bool operator==(const None&) const = default; };
  struct Layout { bool operator==(const Layout&) const = default; };   // only strided exists
  struct Device { bool operator==(const Device&) const = default; };   // only the plan's device
  std::variant<None, ValueId, bool, std::int64_t, double, std::string, DType, MemoryFormat, Layout,
               Device, List>
      value;
  bool operator==(const Argument&) const = default;
};

/// Where in the candidate's source a step came from.
struct SourceLine {
  std::string file;  // relative to the candidate, e.g. "model_new.py"
  int line = 0;
  bool operator==(const SourceLine&) const = default;
};

struct OperatorStep {
  std::string overload;               // "aten::addmm", "aten::add.Tensor": name as the schema has it
  std::vector<Argument> arguments;    // in schema order, defaults filled in
  std::vector<ValueId> results;       // tensors returned, flattened
  std::string torch_name;             // as the candidate wrote it ("torch.softmax"), for messages; may be empty
  bool operator==(const OperatorStep&) const = default;
};

/// A TMA descriptor over a tensor, encoded by the runner (cuTensorMapEncodeTiled).
struct TensorMap {
  ValueId tensor;
  std::vector<std::int64_t> box;              // elements per dimension, innermost first
  std::vector<std::int64_t> element_strides;  // innermost first; usually all 1
  std::string swizzle = "none";               // none, 32B, 64B, 128B
  std::string interleave = "none";            // none, 16B, 32B
  std::string l2_promotion = "none";          // none, 64B, 128B, 256B
  bool fill_nan = false;                      // out-of-bounds elements: NaN instead of zero
  bool operator==(const TensorMap&) const = default;
};

/// A kernel argument as Python gave it; converted by the kernel's real parameter type later.
using LaunchArgument = std::variant<ValueId, bool, std::int64_t, double, TensorMap>;

struct LaunchStep {
  int kernel = -1;                                  // index into Plan::kernels
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::int64_t shared_bytes = 0;                    // dynamic shared memory
  std::optional<std::array<std::int64_t, 3>> cluster;
  bool cooperative = false;
  bool programmatic = false;                        // programmatic dependent launch
  std::vector<LaunchArgument> arguments;
  bool operator==(const LaunchStep&) const = default;
};

struct Step {
  std::variant<OperatorStep, LaunchStep> action;
  SourceLine at;
  bool operator==(const Step&) const = default;
};

/// One kernel as model_new.py names it: kagent.kernel(source, name, options).
struct KernelRequest {
  std::string source;                // "kernels/softmax.cu"
  std::string name;                  // "softmax_rows<1024>", a C++ name expression
  std::vector<std::string> options;  // compiler options, checked against the allowlist
  SourceLine at;
  bool operator==(const KernelRequest&) const = default;
};

enum class ValueOrigin { input, weight, constant, prepared, computed };

struct PlanValue {
  TensorSpec spec;
  ValueOrigin origin = ValueOrigin::computed;
  int input = -1;             // index of forward's argument, where origin is input
  std::string path;           // weight path or prepared name, where origin is weight or prepared
  std::string constant;       // raw little-endian bytes (contiguous), where origin is constant
  bool operator==(const PlanValue&) const = default;
};

/// forward's or the reference's return value: a tensor, a scalar, or a nest of them.
struct OutputTree {
  enum class Kind { tensor, scalar, list, tuple, dict };
  Kind kind = Kind::tensor;
  ValueId tensor;                      // kind tensor; in a reference's tree: index of the output
  Argument scalar;                     // kind scalar
  std::vector<OutputTree> items;       // list, tuple, dict
  std::vector<std::string> keys;       // dict: one per item
  bool operator==(const OutputTree&) const = default;
};

/// kagent.tune(name, values...): what a sweep may set; the first value is the default.
struct Tunable {
  std::string name;
  std::vector<std::int64_t> values;
  bool operator==(const Tunable&) const = default;
};

struct Plan {
  Backend backend = Backend::cuda;
  std::vector<PlanValue> values;
  std::vector<KernelRequest> kernels;
  std::vector<Step> prepare;            // run once after the weights are there
  std::map<std::string, ValueId> prepared;
  std::vector<Step> forward;
  OutputTree outputs;
  std::vector<Tunable> tunables;

  bool operator==(const Plan&) const = default;
};

/// Tensors of the outputs in the order in which a nested structure is walked.
std::vector<ValueId> output_tensors(const OutputTree& tree);

}  // namespace kagent
