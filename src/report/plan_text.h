// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/plan.h>

#include <string>

namespace kagent::report {

/// A plan as people read it: kernels, what is given, each step with its source line, what is
/// returned. Ends with a newline. The plan must be well formed, its texts may be hostile.
std::string plan_text(const Plan& plan);

}  // namespace kagent::report
