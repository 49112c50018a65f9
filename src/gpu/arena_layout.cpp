// SPDX-License-Identifier: Apache-2.0
#include "gpu/arena_layout.h"

#include <algorithm>

namespace kagent::gpu {

std::int64_t storage_bytes(const TensorSpec& spec) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    if (spec.shape[i] == 0) return 0;
    last += (spec.shape[i] - 1) * spec.stride[i];
  }
  return (last + 1) * size_of(spec.dtype);
}

ArenaLayout place(const std::vector<std::pair<std::string, TensorSpec>>& tensors) {
  ArenaLayout layout;
  for (const auto& [name, spec] : tensors) {
    ArenaEntry entry{name, spec, layout.bytes, storage_bytes(spec)};
    layout.bytes += round_up(entry.bytes, kTensorAlignment);
    layout.entries.push_back(std::move(entry));
  }
  layout.bytes = std::max(layout.bytes, kTensorAlignment);
  return layout;
}

}  // namespace kagent::gpu
