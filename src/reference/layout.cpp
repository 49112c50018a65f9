// SPDX-License-Identifier: Apache-2.0
#include "reference/layout.h"

#include <algorithm>

#include <kagent/result.h>

namespace kagent::reference {
namespace {

std::int64_t count(const TensorSpec& spec) {
  std::int64_t elements = 1;
  for (std::int64_t size : spec.shape) elements *= size;
  return elements;
}

std::int64_t round_up(std::int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

}  // namespace

std::int64_t extent_bytes(const TensorSpec& spec) {
  KAGENT_CHECK(spec.shape.size() == spec.stride.size());
  std::int64_t last = 0;
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    if (spec.shape[i] == 0) return 0;
    last += (spec.shape[i] - 1) * spec.stride[i];
  }
  return (last + 1) * size_of(spec.dtype);
}

bool is_injective(const TensorSpec& spec) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;   // stride, size
  for (std::size_t i = 0; i < spec.shape.size(); ++i) {
    if (spec.shape[i] == 0) return true;
    if (spec.shape[i] > 1) steps.emplace_back(spec.stride[i], spec.shape[i]);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t reach = 0;   // the furthest element that smaller steps get to
  for (auto [stride, size] : steps) {
    if (stride <= reach) return false;
    reach += stride * (size - 1);
  }
  return true;
}

TensorSpec contiguous(TensorSpec spec) {
  spec.stride.assign(spec.shape.size(), 1);
  for (std::size_t i = spec.shape.size(); i-- > 1;) {
    spec.stride[i - 1] = spec.stride[i] * std::max<std::int64_t>(spec.shape[i], 1);
  }
  return spec;
}

TensorSpec arena_form(const TensorSpec& spec) {
  const std::int64_t dense = count(spec) * size_of(spec.dtype);
  const bool keep = is_injective(spec) && extent_bytes(spec) <= 4 * dense;
  return keep ? spec : contiguous(spec);
}

ArenaLayout lay_out(const std::vector<std::pair<std::string, TensorSpec>>& tensors) {
  ArenaLayout layout;
  for (const auto& [name, spec] : tensors) {
    const std::int64_t bytes = extent_bytes(spec);
    layout.entries.push_back({name, spec, layout.bytes, bytes});
    layout.bytes += round_up(bytes);
  }
  layout.bytes = std::max(layout.bytes, kArenaAlignment);
  return layout;
}

}  // namespace kagent::reference
