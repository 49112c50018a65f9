// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kagent::evaluator {

/// From the kernel's random source; below 2^62, so that it fits a signed integer everywhere.
/// Seeds are drawn only after a candidate was frozen.
std::uint64_t secret_number();

}  // namespace kagent::evaluator
