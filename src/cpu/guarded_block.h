// SPDX-License-Identifier: Apache-2.0
// One tensor's memory while a candidate is verified:
//
//   [no access][canary page][the tensor, n bytes][canary to the page's end][canary page][no access]
//
// A small overrun is found by its canaries and named; a large one faults at once.
#pragma once

#include <kagent/result.h>

#include "cpu/memory_mapping.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace kagent::cpu {

/// Bytes that changed outside of the tensor.
struct Overrun {
  const void* tensor = nullptr;  // where the block's tensor begins
  std::size_t tensor_bytes = 0;
  bool before = false;       // ahead of the tensor, else behind its end
  std::size_t nearest = 0;   // distance of the nearest changed byte from the tensor; 0: adjacent
  std::size_t farthest = 0;  // of the farthest one
};

class GuardedBlock {
 public:
  /// The tensor's bytes are all `pattern`.
  static Result<GuardedBlock> create(std::size_t bytes, std::uint8_t pattern);

  unsigned char* data() const { return mapping_.data() + 2 * page_bytes(); }
  std::size_t bytes() const { return bytes_; }
  std::size_t mapped_bytes() const { return mapping_.bytes(); }

  std::optional<Overrun> check() const;

  /// From now on a write is a SIGSEGV.
  void make_read_only() const;

 private:
  GuardedBlock(MemoryMapping mapping, std::size_t bytes)
      : mapping_(std::move(mapping)), bytes_(bytes) {}
  std::size_t rear_bytes() const;

  MemoryMapping mapping_;
  std::size_t bytes_ = 0;
};

}  // namespace kagent::cpu
