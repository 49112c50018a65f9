// SPDX-License-Identifier: Apache-2.0
// Where tensors lie in an arena, and how many bytes a tensor spans. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <kagent/tensor.h>

namespace kagent::gpu {

/// Base addresses of tensors are multiples of this, in the reference and in the runner alike, since
/// libraries choose kernels by alignment (pitfall 14).
inline constexpr std::int64_t kTensorAlignment = 256;

/// value rounded up to a multiple of step; both positive or value zero.
constexpr std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

/// Bytes from a tensor's first element to the end of its last one; zero without elements.
std::int64_t storage_bytes(const TensorSpec& spec);

/// Places the tensors one behind the other, each on a multiple of 256 bytes. The arena's size is a
/// multiple of 256 and at least that.
ArenaLayout place(const std::vector<std::pair<std::string, TensorSpec>>& tensors);

}  // namespace kagent::gpu
