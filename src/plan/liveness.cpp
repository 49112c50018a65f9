// SPDX-License-Identifier: Apache-2.0
#include "plan/liveness.h"

#include <variant>

namespace kagent::plan {
namespace {

void collect(const Argument& argument, std::vector<ValueId>& used) {
  if (const auto* id = std::get_if<ValueId>(&argument.value)) used.push_back(*id);
  if (const auto* list = std::get_if<Argument::List>(&argument.value)) {
    for (const Argument& item : *list) collect(item, used);
  }
}

std::vector<ValueId> touched_values(const Step& step) {
  std::vector<ValueId> used;
  if (const auto* op = std::get_if<OperatorStep>(&step.action)) {
    for (const Argument& argument : op->arguments) collect(argument, used);
    used.insert(used.end(), op->results.begin(), op->results.end());
    return used;
  }
  for (const LaunchArgument& argument : std::get<LaunchStep>(step.action).arguments) {
    if (const auto* id = std::get_if<ValueId>(&argument)) used.push_back(*id);
    if (const auto* map = std::get_if<TensorMap>(&argument)) used.push_back(map->tensor);
  }
  return used;
}

std::vector<std::vector<std::size_t>> dead_after(const Plan& plan, const std::vector<Step>& steps,
                                                 const std::vector<bool>& kept) {
  std::vector<std::vector<std::size_t>> dead(steps.size());
  std::vector<bool> seen = kept;
  for (std::size_t i = steps.size(); i-- > 0;) {
    for (const ValueId id : touched_values(steps[i])) {
      const auto value = static_cast<std::size_t>(id.index);
      if (seen[value] || plan.values[value].origin != ValueOrigin::computed) continue;
      seen[value] = true;
      dead[i].push_back(value);
    }
  }
  return dead;
}

}  // namespace

std::vector<std::vector<std::size_t>> dead_after_prepare(const Plan& plan) {
  std::vector<bool> kept(plan.values.size(), false);
  for (const auto& [name, id] : plan.prepared) kept[static_cast<std::size_t>(id.index)] = true;
  return dead_after(plan, plan.prepare, kept);
}

std::vector<std::vector<std::size_t>> dead_after_forward(const Plan& plan) {
  std::vector<bool> kept(plan.values.size(), false);
  for (const ValueId id : output_tensors(plan.outputs)) {
    kept[static_cast<std::size_t>(id.index)] = true;
  }
  return dead_after(plan, plan.forward, kept);
}

}  // namespace kagent::plan
