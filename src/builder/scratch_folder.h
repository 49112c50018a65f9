// SPDX-License-Identifier: Apache-2.0
// Where compilers that want files get them. A watcher process removes the folder once the builder is
// gone, however it died.
#pragma once

#include <filesystem>

#include <kagent/result.h>

#include "sys/fd.h"
#include "sys/files.h"

namespace kagent::builder {

class ScratchFolder {
 public:
  static Result<ScratchFolder> create();
  ScratchFolder(ScratchFolder&&) = default;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  /// Removes the folder, lets the watcher go and waits for it.
  ~ScratchFolder();

  /// A new empty folder below, for one unit; it belongs to `user`, 0: to us.
  Result<std::filesystem::path> folder(unsigned user);
  void remove(const std::filesystem::path& folder);

 private:
  ScratchFolder(sys::TemporaryDirectory root, sys::Fd alive, int watcher)
      : root_(std::move(root)), alive_(std::move(alive)), watcher_(watcher) {}

  sys::TemporaryDirectory root_;
  sys::Fd alive_;    // the watcher reads the other end: end of file means that we are gone
  int watcher_ = -1;
  int next_ = 0;
};

}  // namespace kagent::builder
