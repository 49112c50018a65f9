// SPDX-License-Identifier: Apache-2.0
#include "policy/bindings.h"

#include "base/text.h"
#include "wire/tensor_text.h"

#include <unordered_map>

namespace kagent::policy {
namespace {

/// The task's tensor that this value claims to be, or null.
const TensorSpec* bound_spec(const PlanValue& value, const TaskSignature& signature,
                             const std::unordered_map<std::string, const TensorSpec*>& weights) {
  if (value.origin == ValueOrigin::weight) {
    const auto found = weights.find(value.path);
    return found == weights.end() ? nullptr : found->second;
  }
  const auto index = static_cast<std::size_t>(value.input);
  if (index >= signature.inputs.size() || !signature.inputs[index].tensor) return nullptr;
  return &*signature.inputs[index].tensor;
}

}  // namespace

std::optional<Fault> check_bindings(const Plan& plan, const TaskSignature& signature) {
  std::unordered_map<std::string, const TensorSpec*> weights;
  for (const WeightSpec& weight : signature.weights) weights.emplace(weight.path, &weight.spec);
  for (const PlanValue& value : plan.values) {
    const bool is_weight = value.origin == ValueOrigin::weight;
    if (!is_weight && value.origin != ValueOrigin::input) continue;
    const TensorSpec* spec = bound_spec(value, signature, weights);
    if (spec != nullptr && *spec == value.spec) continue;
    Fault fault;
    fault.kind = FaultKind::tampering;
    fault.message =
        "the recorded plan uses " +
        (is_weight ? "weight " + base::one_line(value.path, 120)
                   : "input " + std::to_string(value.input)) +
        (spec == nullptr ? ", which the task does not have"
                         : " as " + wire::spec_text(value.spec) + ", and the task has " +
                               wire::spec_text(*spec) + " (or other strides)");
    fault.at = {"model_new.py", 0};
    return fault;
  }
  return std::nullopt;
}

}  // namespace kagent::policy
