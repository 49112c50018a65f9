// SPDX-License-Identifier: Apache-2.0
// How faults name tensors and arguments.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <kagent/plan.h>
#include <kagent/tensor.h>

namespace kagent::policy {

/// "[4096, 512]"
std::string shape_text(const std::vector<std::int64_t>& shape);

/// "float32[4096, 512]"
std::string spec_text(const TensorSpec& spec);

/// What was given for a parameter: "float32[4096, 512]", "5", "2.5", "True", "a tensor map".
std::string given_text(const LaunchArgument& argument, const Plan& plan);

/// "2x1x1"
std::string dimensions_text(const std::array<std::int64_t, 3>& dimensions);

}  // namespace kagent::policy
