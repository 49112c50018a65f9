// SPDX-License-Identifier: Apache-2.0
// How messages and reports name tensors and launch dimensions.
#pragma once

#include <kagent/tensor.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kagent::wire {

/// "[4096, 512]"
std::string shape_text(const std::vector<std::int64_t>& shape);

/// "float32[4096, 512]"
std::string spec_text(const TensorSpec& spec);

/// "2x1x1"
std::string dimensions_text(const std::array<std::int64_t, 3>& dimensions);

}  // namespace kagent::wire
