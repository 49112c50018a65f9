// SPDX-License-Identifier: Apache-2.0
// Plans written by hand, without a recorder; kernels compiled with the host compiler.
#pragma once

#include "runner_process.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace kagent::testing {

TensorSpec contiguous(std::vector<std::int64_t> shape, DType dtype = DType::float32);

inline Argument none() { return {Argument::None{}}; }
inline Argument ints(std::initializer_list<std::int64_t> values) {
  Argument::List list;
  for (const std::int64_t value : values) list.push_back({value});
  return {list};
}
inline Argument tensors(std::initializer_list<ValueId> ids) {
  Argument::List list;
  for (const ValueId id : ids) list.push_back({id});
  return {list};
}

struct Parameter {
  std::string type;  // "float*", "const float*", "int", "float"
};

/// Builds an Evaluation step by step; each step gets the next line of model_new.py, from 1.
class PlanMaker {
 public:
  PlanMaker() { made_.plan.backend = Backend::cpu; }

  ValueId input(const TensorSpec& spec, const std::string& bytes);
  ValueId weight(const std::string& path, const TensorSpec& spec, const std::string& bytes);
  ValueId constant(const TensorSpec& spec, const std::string& bytes);
  ValueId prepared(const std::string& path, ValueId made);
  void prepare_steps() { section_ = &made_.plan.prepare; }
  void forward_steps() { section_ = &made_.plan.forward; }

  ValueId op(const std::string& overload, std::vector<Argument> arguments,
             const TensorSpec& result);
  ValueId empty(const TensorSpec& spec);

  /// C++ source with extern "C" void kagent_launch_<n>(...), one launcher a kernel.
  int unit(const std::string& source, const std::string& options = "-O1");
  int kernel(int unit, int number_in_unit, const std::string& name,
             const std::vector<Parameter>& parameters);
  void launch(int kernel, std::vector<LaunchArgument> arguments);

  /// Outputs and their places; finishes the evaluation.
  Evaluation finish(const std::vector<ValueId>& outputs);

 private:
  ValueId value(PlanValue value);
  SourceLine next_line() { return {"model_new.py", ++line_}; }

  Evaluation made_;
  std::vector<Step>* section_ = &made_.plan.forward;
  int line_ = 0;
};

}  // namespace kagent::testing
