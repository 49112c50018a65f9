// SPDX-License-Identifier: Apache-2.0
#include "plan/interpreter.h"

#include "plan/arguments.h"
#include "plan/faults.h"
#include "plan/launch_arguments.h"
#include "plan/liveness.h"
#include "plan/operators.h"
#include "plan/tensors.h"

#include <c10/core/InferenceMode.h>

#include <optional>
#include <variant>

namespace kagent::plan {
namespace {

struct OperatorCall {
  Operator op;
  std::vector<Slot> slots;
};

struct KernelCall {
  LaunchArguments arguments;
};

/// Tensors that an operator returned, lists flattened; numbers and None are left out.
std::vector<at::Tensor> flatten(const torch::jit::Stack& stack) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : stack) {
    if (value.isTensor()) {
      if (value.toTensor().defined()) tensors.push_back(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) tensors.push_back(tensor);
    }
  }
  return tensors;
}

}  // namespace

struct Interpreter::CompiledStep {
  const Step* step = nullptr;
  std::variant<std::monostate, OperatorCall, KernelCall> action;
  std::vector<std::size_t> dead_after;  // values that nothing needs after this step
};

Interpreter::Interpreter(const Plan& plan, const BuildResult& build, Backend& backend,
                         ProgressPage* progress)
    : plan_(plan),
      build_(build),
      backend_(backend),
      progress_(progress),
      values_(plan.values.size()) {}

Interpreter::~Interpreter() = default;

Outcome Interpreter::compile() {
  if (progress_ != nullptr) progress_->describe(plan_);
  KAGENT_PASS(compile_section(plan_.prepare, prepare_));
  KAGENT_PASS(compile_section(plan_.forward, forward_));
  const std::vector<std::vector<std::size_t>> prepare_dead = dead_after_prepare(plan_);
  const std::vector<std::vector<std::size_t>> forward_dead = dead_after_forward(plan_);
  for (std::size_t i = 0; i < prepare_.size(); ++i) prepare_[i].dead_after = prepare_dead[i];
  for (std::size_t i = 0; i < forward_.size(); ++i) forward_[i].dead_after = forward_dead[i];
  return std::nullopt;
}

Outcome Interpreter::compile_section(const std::vector<Step>& steps,
                                     std::vector<CompiledStep>& compiled) {
  compiled.resize(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    compiled[i].step = &steps[i];
    KAGENT_PASS(compile_step(steps[i], compiled[i]));
  }
  return std::nullopt;
}

Outcome Interpreter::compile_step(const Step& step, CompiledStep& compiled) {
  if (const auto* launch = std::get_if<LaunchStep>(&step.action)) {
    const KernelBuild* kernel = find_kernel(build_, launch->kernel);
    if (kernel == nullptr) {
      return Error{ErrorKind::internal, "the build lacks kernel " + std::to_string(launch->kernel)};
    }
    auto arguments = LaunchArguments::create(*launch, *kernel);
    if (const auto* problem = std::get_if<std::string>(&arguments)) {
      return fault_at(step, plan_, FaultKind::bad_launch, *problem);
    }
    compiled.action = KernelCall{std::get<LaunchArguments>(std::move(arguments))};
    return std::nullopt;
  }
  const auto& call = std::get<OperatorStep>(step.action);
  KAGENT_TRY(std::optional<Operator> op, resolve_operator(call.overload));
  if (!op) {
    return fault_at(step, plan_, FaultKind::forbidden_op, "is not an operator that kagent replays");
  }
  auto slots = convert_arguments(op->handle.schema(), call.arguments, backend_.device());
  if (const auto* problem = std::get_if<std::string>(&slots)) {
    return fault_at(step, plan_, FaultKind::unsupported, *problem);
  }
  compiled.action = OperatorCall{*op, std::get<std::vector<Slot>>(std::move(slots))};
  return std::nullopt;
}

Result<void> Interpreter::bind(std::size_t value, const NamedTensors& tensors,
                               const std::string& name) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) {
    return Error{ErrorKind::internal, "no shared tensor '" + name + "' came with the arenas"};
  }
  const TensorSpec& spec = plan_.values[value].spec;
  if (!matches(found->second, spec)) {
    return Error{ErrorKind::internal, "shared tensor '" + name + "' is " + describe(found->second) +
                                          ", recorded as " + describe(spec)};
  }
  values_[value] = found->second;
  return {};
}

Outcome Interpreter::bind_weights(const NamedTensors& weights) {
  return catching(nullptr, plan_, [&]() -> Outcome {
    for (std::size_t i = 0; i < plan_.values.size(); ++i) {
      const PlanValue& value = plan_.values[i];
      if (value.origin == ValueOrigin::weight) KAGENT_TRY_VOID(bind(i, weights, value.path));
      if (value.origin == ValueOrigin::constant) {
        values_[i] = constant_tensor(value, backend_.device());
      }
    }
    return std::nullopt;
  });
}

Result<void> Interpreter::bind_inputs(const NamedTensors& inputs) {
  for (std::size_t i = 0; i < plan_.values.size(); ++i) {
    const PlanValue& value = plan_.values[i];
    if (value.origin != ValueOrigin::input) continue;
    KAGENT_TRY_VOID(bind(i, inputs, std::to_string(value.input)));
  }
  return {};
}

Outcome Interpreter::prepare() {
  KAGENT_PASS(run_section(prepare_, Section::prepare, true));
  KAGENT_PASS_FAULT(backend_.synchronize());
  return keep_prepared();
}

Outcome Interpreter::keep_prepared() {
  for (std::size_t i = 0; i < plan_.values.size(); ++i) {
    const PlanValue& value = plan_.values[i];
    if (value.origin != ValueOrigin::prepared) continue;
    const auto source = plan_.prepared.find(value.path);
    if (source == plan_.prepared.end()) {
      return Error{ErrorKind::internal, "the plan prepares nothing called '" + value.path + "'"};
    }
    const at::Tensor& made = values_[static_cast<std::size_t>(source->second.index)];
    if (!matches(made, value.spec)) {
      return Error{ErrorKind::internal, "prepared '" + value.path + "' is " + describe(made) +
                                            ", recorded as " + describe(value.spec)};
    }
    values_[i] = made;
  }
  for (const auto& [name, id] : plan_.prepared) {
    const auto index = static_cast<std::size_t>(id.index);
    if (plan_.values[index].origin == ValueOrigin::computed) values_[index].reset();
  }
  return std::nullopt;
}

Outcome Interpreter::call(bool checked) { return run_section(forward_, Section::forward, checked); }

Outcome Interpreter::run_section(std::vector<CompiledStep>& steps, Section section, bool checked) {
  const c10::InferenceMode no_autograd;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CompiledStep& step = steps[i];
    if (progress_ != nullptr) progress_->enter(section, static_cast<int>(i));
    KAGENT_PASS(catching(step.step, plan_, [&] {
      return std::holds_alternative<KernelCall>(step.action) ? run_launch(step)
                                                             : run_operator(step, checked);
    }));
    for (const std::size_t value : step.dead_after) values_[value].reset();
  }
  if (progress_ != nullptr) progress_->leave();
  return std::nullopt;
}

Outcome Interpreter::run_operator(CompiledStep& step, bool checked) {
  auto& call = std::get<OperatorCall>(step.action);
  torch::jit::Stack stack;
  stack.reserve(call.slots.size());
  push_arguments(call.slots, values_, stack);
  if (const auto problem = check_arguments(*call.op.row, stack)) {
    return fault_at(*step.step, plan_, FaultKind::out_of_bounds, *problem);
  }
  call.op.handle.callBoxed(stack);
  if (check_each_step_) {
    if (auto fault = backend_.check_guards()) return located(std::move(*fault), *step.step, plan_);
  }

  const std::vector<ValueId>& results = std::get<OperatorStep>(step.step->action).results;
  const std::vector<at::Tensor> tensors = flatten(stack);
  if (tensors.size() != results.size()) {
    return difference_at(*step.step, plan_,
                         "gave " + std::to_string(tensors.size()) + " tensors here and " +
                             std::to_string(results.size()) + " when it was recorded");
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto id = static_cast<std::size_t>(results[i].index);
    const TensorSpec& spec = plan_.values[id].spec;
    if (checked && (!matches(tensors[i], spec) || tensors[i].device() != backend_.device())) {
      return difference_at(*step.step, plan_,
                           "gave " + describe(tensors[i]) + " on " + tensors[i].device().str() +
                               " here and " + describe(spec) + " on " + backend_.device().str() +
                               " when it was recorded");
    }
    values_[id] = tensors[i];
  }
  return std::nullopt;
}

Outcome Interpreter::run_launch(CompiledStep& step) {
  auto& call = std::get<KernelCall>(step.action);
  const auto& launch = std::get<LaunchStep>(step.step->action);
  auto filled = call.arguments.fill(values_, backend_);
  std::optional<Fault> fault;
  if (auto* bad = std::get_if<Fault>(&filled))
    fault = std::move(*bad);
  else
    fault = backend_.launch(launch, *std::get<const std::vector<PackedArgument>*>(filled));
  if (fault) return located(std::move(*fault), *step.step, plan_);
  return std::nullopt;
}

std::vector<at::Tensor> Interpreter::outputs() const {
  std::vector<at::Tensor> tensors;
  for (const ValueId id : output_tensors(plan_.outputs)) {
    tensors.push_back(values_[static_cast<std::size_t>(id.index)]);
  }
  return tensors;
}

void Interpreter::release() {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (plan_.values[i].origin == ValueOrigin::computed) values_[i].reset();
  }
}

std::vector<at::Tensor> Interpreter::kept_tensors() const {
  std::vector<at::Tensor> kept;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const ValueOrigin origin = plan_.values[i].origin;
    const bool keeps = origin == ValueOrigin::constant || origin == ValueOrigin::prepared;
    if (keeps && values_[i].defined()) kept.push_back(values_[i]);
  }
  return kept;
}

}  // namespace kagent::plan
