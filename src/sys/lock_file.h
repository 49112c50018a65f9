// SPDX-License-Identifier: Apache-2.0
// One holder at a time across all processes of the host, first come first served; the kernel frees it when
// the holder dies.
#pragma once

#include <filesystem>

#include <kagent/result.h>

#include "sys/fd.h"

namespace kagent::sys {

class LockFile {
 public:
  /// Waits for the lock; stop_fd (or -1) ends the wait with an Error of kind interrupted.
  /// The file itself stays: removing it would let two holders in. Who waits holds a ticket in the folder
  /// <path>.queue, locked as long as its process lives; the oldest of living tickets is next.
  static Result<LockFile> acquire(const std::filesystem::path& path, int stop_fd = -1);

  LockFile(LockFile&&) noexcept = default;
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

 private:
  LockFile(Fd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Fd fd_;
  std::filesystem::path path_;
};

/// KAGENT_LOCK_DIR, or /tmp/kagent-locks: shared by all users and kagent processes of the host.
std::filesystem::path lock_directory();

}  // namespace kagent::sys
