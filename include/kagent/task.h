// SPDX-License-Identifier: Apache-2.0
// One KernelBench-format file and what a recorder must know of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <kagent/plan.h>
#include <kagent/tensor.h>

namespace kagent {

struct Task {
  std::string name;             // file name without ".py"
  std::filesystem::path path;   // absolute; never edited
  std::string source;           // whole text, as read once
  std::string hash;             // sha256 of the text, hex

  bool operator==(const Task&) const = default;
};

/// One argument of forward(): a tensor, or a Python scalar that is baked into the plan.
struct InputSpec {
  std::optional<TensorSpec> tensor;
  Argument scalar;              // meaningful only where tensor is empty
  bool operator==(const InputSpec&) const = default;
};

/// A tensor that Model reaches by attribute path and a candidate is given by the same path.
struct WeightSpec {
  std::string path;             // "layers.0.conv.weight"
  TensorSpec spec;
  bool in_state_dict = true;    // else a plain attribute or non-persistent buffer
  bool operator==(const WeightSpec&) const = default;
};

/// Made by the reference from task.py, since the recorder never runs it (pitfall 2).
struct TaskSignature {
  std::vector<Argument> init_arguments;   // get_init_inputs()
  std::vector<InputSpec> inputs;          // get_inputs()
  std::vector<WeightSpec> weights;
  bool operator==(const TaskSignature&) const = default;
};

}  // namespace kagent
