// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/result.h>

#include "sys/fd.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kagent::cpu {

/// The one owner of a range of mapped pages. Move-only.
class MemoryMapping {
 public:
  enum class Mode { shared_read_only, shared_read_write, private_copy };

  MemoryMapping() = default;
  MemoryMapping(MemoryMapping&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryMapping& operator=(MemoryMapping&& other) noexcept;
  MemoryMapping(const MemoryMapping&) = delete;
  MemoryMapping& operator=(const MemoryMapping&) = delete;
  ~MemoryMapping() { reset(); }

  /// The first `bytes` of a memory file, between pages that nobody may touch. An Error where the
  /// file is shorter, since reading beyond its end would be a SIGBUS later.
  static Result<MemoryMapping> of_file(const sys::Fd& memory, std::int64_t bytes, Mode mode);

  /// Fresh zeroed pages; no access at all where `accessible` is false. Rounded up to whole pages.
  static Result<MemoryMapping> anonymous(std::size_t bytes, bool accessible);

  unsigned char* data() const { return address_; }
  std::size_t bytes() const { return bytes_; }
  void reset();

 private:
  MemoryMapping(unsigned char* address, std::size_t bytes) : address_(address), bytes_(bytes) {}

  unsigned char* address_ = nullptr;
  std::size_t bytes_ = 0;
};

std::size_t page_bytes();
std::size_t round_up(std::size_t value, std::size_t multiple);

}  // namespace kagent::cpu
