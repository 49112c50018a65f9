// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/evaluation.h>
#include <kagent/plan.h>
#include <kagent/task.h>

#include <optional>

namespace kagent::policy {

/// Every input and weight of the plan must be one that the task has, with its shape, stride and
/// dtype. The recorder makes them from the signature, so that a difference is tampering.
std::optional<Fault> check_bindings(const Plan& plan, const TaskSignature& signature);

}  // namespace kagent::policy
