// SPDX-License-Identifier: Apache-2.0
// Files read and written whole. Errors name the path and what the system said.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <kagent/result.h>

#include "sys/fd.h"

namespace kagent::sys {

/// The whole file; an Error where it is larger than max_bytes or not a regular file.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes);

/// All bytes of a descriptor from its start (memfd or regular file), at most max_bytes.
Result<std::string> read_all(int fd, std::size_t max_bytes);

Result<void> write_all(int fd, const std::string& bytes);

/// Written to a temporary name beside `path`, synced, renamed: there is the whole file or the old one.
Result<void> write_file_atomically(const std::filesystem::path& path, const std::string& bytes,
                                   unsigned mode = 0644);

/// An empty file to write to; what was there is gone.
Result<Fd> create_file(const std::filesystem::path& path);

/// Makes the directory and its parents; fine where it exists.
Result<void> make_directories(const std::filesystem::path& path);

/// A sealed memory file with these bytes, position 0.
Result<Fd> sealed_memory_file(const std::string& name, const std::string& bytes);

/// A directory of its own under the temporary directory, removed with all it holds at the end.
class TemporaryDirectory {
 public:
  static Result<TemporaryDirectory> create(const std::string& prefix);
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// Makes path and everything below it belong to the user that sandboxed children run as.
/// Nothing to do unless we are root.
Result<void> give_to_sandbox_user(const std::filesystem::path& path);

/// Makes the folder itself, not what is in it, belong to that user and its group: private to us and to
/// sandboxed processes, which can look into it. Nothing to do unless we are root.
Result<void> show_to_sandbox_user(const std::filesystem::path& folder);

struct DiskUse {
  std::uint64_t bytes = 0;   // as allocated: holes in sparse files don't count
  std::uint64_t files = 0;   // and folders
};

/// Of everything below the folder, links not followed. What vanishes meanwhile is not counted.
DiskUse disk_use(const std::filesystem::path& folder);

/// The folder above this program's bin/ folder, whether built or installed.
Result<std::filesystem::path> installation_root();

}  // namespace kagent::sys
