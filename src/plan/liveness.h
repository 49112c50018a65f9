// SPDX-License-Identifier: Apache-2.0
// When a value is needed for the last time. Pure.
#pragma once

#include <kagent/plan.h>

#include <cstddef>
#include <vector>

namespace kagent::plan {

/// For each step of the section: the computed values that may be dropped once it has run. Outputs
/// and what `prepared` names stay.
std::vector<std::vector<std::size_t>> dead_after_prepare(const Plan& plan);
std::vector<std::vector<std::size_t>> dead_after_forward(const Plan& plan);

}  // namespace kagent::plan
