// SPDX-License-Identifier: Apache-2.0
#include "sys/append_file.h"

#include "sys/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kagent::sys {
namespace {

namespace fs = std::filesystem;

constexpr int kFlags = O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC;

Error failure(const fs::path& path, const std::string& what) {
  return Error{ErrorKind::environment, path.string() + ": " + what + ": " + std::strerror(errno)};
}

}  // namespace

Result<AppendFile> AppendFile::create(const fs::path& path) {
  Fd file(::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0644));
  if (!file) return failure(path, "create");
  const Fd folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder) ::fsync(folder.get());  // the entry itself; where it cannot be synced it is durable
  return AppendFile(std::move(file), path);
}

Result<AppendFile> AppendFile::resume(const fs::path& path) {
  Fd file(::open(path.c_str(), kFlags));
  if (!file) return failure(path, "open");
  off_t end = ::lseek(file.get(), 0, SEEK_END);
  char byte = 0;
  while (end > 0 && ::pread(file.get(), &byte, 1, end - 1) == 1 && byte != '\n') --end;
  if (::ftruncate(file.get(), end) != 0) return failure(path, "truncate");
  return AppendFile(std::move(file), path);
}

Result<void> AppendFile::append_line(std::string_view line) {
  KAGENT_CHECK(line.find('\n') == std::string_view::npos);
  if (auto written = write_all(file_.get(), std::string(line) + '\n'); !written) {
    return std::move(written).error().with_context(path_.string());
  }
  return {};
}

Result<void> AppendFile::sync() {
  if (::fdatasync(file_.get()) != 0) return failure(path_, "sync");
  return {};
}

}  // namespace kagent::sys
