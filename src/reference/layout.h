// SPDX-License-Identifier: Apache-2.0
// Where tensors lie in a shared arena. Pure: no memory is touched.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <kagent/tensor.h>

namespace kagent::reference {

inline constexpr std::int64_t kArenaAlignment = 256;   // bytes; what cuBLASLt and TMA ask for

/// Bytes from the first to one past the last element that `spec` reaches; 0 for an empty tensor.
std::int64_t extent_bytes(const TensorSpec& spec);

/// True where no two elements share memory. Expanded and overlapping tensors are not.
bool is_injective(const TensorSpec& spec);

/// The same shape and dtype, row-major.
TensorSpec contiguous(TensorSpec spec);

/// What `spec` becomes in an arena: itself, or contiguous where it overlaps itself or where gaps
/// would take more than three quarters of the memory.
TensorSpec arena_form(const TensorSpec& spec);

/// One entry after the other, each at a multiple of kArenaAlignment; never an empty arena.
ArenaLayout lay_out(const std::vector<std::pair<std::string, TensorSpec>>& tensors);

}  // namespace kagent::reference
