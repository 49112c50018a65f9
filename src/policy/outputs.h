// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/evaluation.h>
#include <kagent/plan.h>
#include <kagent/tensor.h>

#include <optional>

namespace kagent::policy {

/// What the plan returns against what the reference returned: structure, scalars, shape, dtype, all
/// exactly. Strides may differ. reference: its tensors are indices into reference_outputs.entries.
std::optional<Fault> check_outputs(const Plan& plan, const OutputTree& reference,
                                   const ArenaLayout& reference_outputs);

}  // namespace kagent::policy
