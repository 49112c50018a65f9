// SPDX-License-Identifier: Apache-2.0
// Memory that the reference owns and hands to the runner by descriptor.
#pragma once

#include <cstdint>
#include <memory>

#include <kagent/result.h>

#include "sys/fd.h"

namespace kagent::reference {

/// Readers get a descriptor through which nothing can be written; writers get one for both.
enum class Sharing { read_only, read_write };

/// One mapping, writable here for as long as the arena lives.
class Arena {
 public:
  virtual ~Arena() = default;

  void* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

  /// A new descriptor of the same memory, for sending; its access is the arena's sharing.
  virtual Result<sys::Fd> descriptor() const = 0;

 protected:
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// A memfd of fixed size; zero-filled. read_only: besides the read-only descriptor it is sealed
/// against new writers where the kernel can (Linux 5.1).
Result<std::unique_ptr<Arena>> create_host_arena(std::int64_t bytes, Sharing sharing);

}  // namespace kagent::reference
