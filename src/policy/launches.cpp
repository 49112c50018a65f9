// SPDX-License-Identifier: Apache-2.0
#include "policy/launches.h"

#include "base/pack_scalar.h"
#include "base/text.h"
#include "policy/launch_limits.h"
#include "wire/json.h"
#include "wire/tensor_text.h"

namespace kagent::policy {
namespace {

using wire::spec_text;

Fault bad_launch(const Step& step, std::string message, std::string hint = {}) {
  Fault fault;
  fault.kind = FaultKind::bad_launch;
  fault.message = std::move(message);
  fault.hint = std::move(hint);
  fault.at = step.at;
  return fault;
}

const KernelBuild* find_build(const BuildResult& build, int kernel) {
  for (const KernelBuild& candidate : build.kernels) {
    if (candidate.kernel == kernel) return &candidate;
  }
  return nullptr;
}

std::string parameter_list(const KernelBuild& kernel) {
  std::vector<std::string> types;
  for (const KernelParameter& parameter : kernel.parameters) types.push_back(parameter.type);
  return "(" + base::one_line(base::join(types, ", "), 300) + ")";
}

struct GivenText {
  const Plan& plan;
  std::string operator()(ValueId id) const {
    return spec_text(plan.values[static_cast<std::size_t>(id.index)].spec);
  }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return base::number_text(value); }
  std::string operator()(const TensorMap&) const { return "a tensor map"; }
};

std::string given_list(const LaunchStep& step, const Plan& plan) {
  std::vector<std::string> given;
  for (const LaunchArgument& argument : step.arguments)
    given.push_back(std::visit(GivenText{plan}, argument));
  return "(" + base::one_line(base::join(given, ", "), 400) + ")";
}

/// A bool tensor has bytes of 0 and 1, which C++ reads as well through unsigned char.
bool can_point_at(DType pointee, DType tensor) {
  return pointee == tensor || (pointee == DType::uint8 && tensor == DType::boolean);
}

/// What is wrong with one argument, or "".
class ArgumentProblem {
 public:
  ArgumentProblem(const KernelParameter& parameter, const Plan& plan, const DeviceRecord& device)
      : parameter_(parameter), plan_(plan), device_(device) {}

  std::string operator()(ValueId id) const {
    const TensorSpec& spec = spec_of(id);
    if (parameter_.kind == ParameterKind::tensor_map) {
      return "a tensor where the kernel wants kagent.tensor_map(...)";
    }
    if (parameter_.kind != ParameterKind::pointer) {
      return "a tensor (" + spec_text(spec) + ") for a parameter of type " + type();
    }
    if (parameter_.pointee && !can_point_at(*parameter_.pointee, spec.dtype)) {
      return spec_text(spec) + " passed as " + type() + ", which needs a tensor of " +
             wire::word(*parameter_.pointee);
    }
    return {};
  }

  std::string operator()(const TensorMap& map) const {
    if (parameter_.kind != ParameterKind::tensor_map) {
      return "a tensor map for a parameter of type " + type() +
             ": declare it as const __grid_constant__ CUtensorMap";
    }
    return broken_limit(map, spec_of(map.tensor), plan_.backend, device_);
  }

  template <typename Scalar>
  std::string operator()(const Scalar& value) const {
    KernelParameter shown = parameter_;
    shown.type = type();
    const auto packed = base::pack_scalar(LaunchArgument(value), shown);
    const auto* problem = std::get_if<std::string>(&packed);
    return problem != nullptr ? *problem : std::string();
  }

 private:
  const TensorSpec& spec_of(ValueId id) const {
    return plan_.values[static_cast<std::size_t>(id.index)].spec;
  }
  std::string type() const { return base::one_line(parameter_.type, 120); }

  const KernelParameter& parameter_;
  const Plan& plan_;
  const DeviceRecord& device_;
};

std::optional<Fault> check_arguments(const Step& step, const LaunchStep& launch,
                                     const KernelBuild& kernel, const std::string& name,
                                     const Plan& plan, const DeviceRecord& device) {
  if (launch.arguments.size() != kernel.parameters.size()) {
    return bad_launch(step, name + " takes " + std::to_string(kernel.parameters.size()) +
                                " arguments " + parameter_list(kernel) + ", and was given " +
                                std::to_string(launch.arguments.size()) + ": " +
                                given_list(launch, plan));
  }
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const std::string problem =
        std::visit(ArgumentProblem(kernel.parameters[i], plan, device), launch.arguments[i]);
    if (problem.empty()) continue;
    return bad_launch(step,
                      name + ", argument " + std::to_string(i + 1) + " of " +
                          std::to_string(launch.arguments.size()) + ": " + problem,
                      "the kernel is declared as " + name + parameter_list(kernel));
  }
  return std::nullopt;
}

std::optional<Fault> check_step(const Step& step, const Plan& plan, const BuildResult& build,
                                const DeviceRecord& device) {
  const auto* launch = std::get_if<LaunchStep>(&step.action);
  if (launch == nullptr) return std::nullopt;
  const auto& request = plan.kernels[static_cast<std::size_t>(launch->kernel)];
  const std::string name = base::one_line(request.name, 120);
  const KernelBuild* kernel = find_build(build, launch->kernel);
  if (kernel == nullptr) return bad_launch(step, name + " was not built");
  if (auto fault = check_arguments(step, *launch, *kernel, name, plan, device)) return fault;
  const std::string problem = broken_limit(*launch, *kernel, plan.backend, device);
  if (!problem.empty()) return bad_launch(step, name + ": " + problem);
  return std::nullopt;
}

}  // namespace

std::optional<Fault> check_launches(const Plan& plan, const BuildResult& build,
                                    const DeviceRecord& device) {
  for (const auto* section : {&plan.prepare, &plan.forward}) {
    for (const Step& step : *section) {
      if (auto fault = check_step(step, plan, build, device)) return fault;
    }
  }
  return std::nullopt;
}

}  // namespace kagent::policy
