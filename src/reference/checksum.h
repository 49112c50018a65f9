// SPDX-License-Identifier: Apache-2.0
// Whether shared memory still holds what we put there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kagent/tensor.h>

#include <ATen/core/Tensor.h>

namespace kagent::reference {

/// One number per entry of an arena: depends on every byte and its place.
class Checksums {
 public:
  Checksums() = default;
  /// base: the arena's first byte, on `device`.
  Checksums(void* base, ArenaLayout layout, at::Device device);

  /// Index into the layout's entries of the first one that has changed since.
  std::optional<std::size_t> first_changed() const;

 private:
  std::vector<std::int64_t> compute() const;

  void* base_ = nullptr;
  ArenaLayout layout_;
  at::Device device_ = at::kCPU;
  std::vector<std::int64_t> sums_;
};

}  // namespace kagent::reference
