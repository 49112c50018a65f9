// SPDX-License-Identifier: Apache-2.0
// One holder at a time across all processes of the host; the kernel frees it when the holder dies.
#pragma once

#include <filesystem>

#include <kagent/result.h>

#include "sys/fd.h"

namespace kagent::sys {

class LockFile {
 public:
  /// Waits for the lock; stop_fd (or -1) ends the wait with an Error of kind interrupted.
  /// The file itself stays: removing it would let two holders in.
  static Result<LockFile> acquire(const std::filesystem::path& path, int stop_fd = -1);

 private:
  explicit LockFile(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

/// KAGENT_LOCK_DIR, or /tmp/kagent-locks: shared by all users and kagent processes of the host.
std::filesystem::path lock_directory();

}  // namespace kagent::sys
