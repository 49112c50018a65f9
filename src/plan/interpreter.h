// SPDX-License-Identifier: Apache-2.0
// Executes a Plan: a table of values, operators through LibTorch's dispatcher, launches through the
// Backend. A value is dropped after its last use, as Python would.
#pragma once

#include <kagent/build.h>
#include <kagent/plan.h>

#include "plan/backend.h"
#include "plan/outcome.h"
#include "plan/progress_page.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kagent::plan {

/// Named tensors of one arena: weight paths, or positions of forward's arguments.
using NamedTensors = std::map<std::string, at::Tensor>;

class Interpreter {
 public:
  /// The arguments must outlive it. progress may be null.
  Interpreter(const Plan& plan, const BuildResult& build, Backend& backend, ProgressPage* progress);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// Resolves operators and converts all arguments; once, before anything else.
  Outcome compile();

  /// Diagnostic runs: guards are checked after operators too, so that a fault names its step.
  /// Launches are checked by the backend.
  void check_after_each_step(bool check) { check_each_step_ = check; }

  /// What the plan's weights and constants stand for. Weights are used where they lie.
  Outcome bind_weights(const NamedTensors& weights);

  /// Runs the prepare section and keeps what it made.
  Outcome prepare();

  /// The arguments of the calls to come.
  Result<void> bind_inputs(const NamedTensors& inputs);

  /// Makes one call. checked: every result is compared with the plan's spec, which a timed call
  /// need not do again. The outputs stay until release().
  Outcome call(bool checked);

  /// Output tensors of the last call in the order in which the tree is walked.
  std::vector<at::Tensor> outputs() const;
  /// Drops the outputs, and what a call that failed left behind.
  void release();

  /// Where weights, constants and prepared values lie, for protecting them.
  std::vector<at::Tensor> kept_tensors() const;

 private:
  struct CompiledStep;

  Outcome compile_section(const std::vector<Step>& steps, std::vector<CompiledStep>& compiled);
  Outcome compile_step(const Step& step, CompiledStep& compiled);
  Outcome run_section(std::vector<CompiledStep>& steps, Section section, bool checked);
  Outcome run_operator(CompiledStep& step, bool checked);
  Outcome run_launch(CompiledStep& step);
  Outcome keep_prepared();
  Result<void> bind(std::size_t value, const NamedTensors& tensors, const std::string& name);

  const Plan& plan_;
  const BuildResult& build_;
  Backend& backend_;
  ProgressPage* progress_;
  bool check_each_step_ = false;
  std::vector<CompiledStep> prepare_;
  std::vector<CompiledStep> forward_;
  std::vector<at::Tensor> values_;  // by ValueId
};

}  // namespace kagent::plan
