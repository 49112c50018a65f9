// SPDX-License-Identifier: Apache-2.0
#include "sys/files.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "sys/sandbox_user.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <dirent.h>
#include <unistd.h>

#include <fmt/format.h>

namespace kagent::sys {
namespace {

Error system_error(const std::string& what, const std::filesystem::path& path) {
  return Error{ErrorKind::environment, fmt::format("{} {}: {}", what, path.string(), std::strerror(errno))};
}

}  // namespace

Result<std::string> read_all(int fd, std::size_t max_bytes) {
  std::string bytes;
  char buffer[65536];
  off_t offset = 0;
  for (;;) {
    const ssize_t got = ::pread(fd, buffer, sizeof buffer, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{ErrorKind::environment, std::string("read: ") + std::strerror(errno)};
    if (got == 0) return bytes;
    if (bytes.size() + static_cast<std::size_t>(got) > max_bytes) {
      return Error{ErrorKind::usage, fmt::format("larger than {} bytes", max_bytes)};
    }
    bytes.append(buffer, static_cast<std::size_t>(got));
    offset += got;
  }
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  // O_NONBLOCK: opening a FIFO that somebody put there must not hang.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    Error error = system_error("open", path);
    error.kind = ErrorKind::usage;
    return error;
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return system_error("stat", path);
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorKind::usage, path.string() + ": not a regular file"};
  }
  auto bytes = read_all(fd.get(), max_bytes);
  if (!bytes) return std::move(bytes).error().with_context(path.string());
  return bytes;
}

Result<void> write_all(int fd, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return Error{ErrorKind::environment, std::string("write: ") + std::strerror(errno)};
    done += static_cast<std::size_t>(wrote);
  }
  return {};
}

Result<void> write_file_atomically(const std::filesystem::path& path, const std::string& bytes,
                                   unsigned mode) {
  std::string name = path.string() + ".XXXXXX";
  const Fd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) return system_error("create a file beside", path);
  auto written = write_all(fd.get(), bytes);
  if (written && (::fchmod(fd.get(), mode) != 0 || ::fsync(fd.get()) != 0 ||
                  ::rename(name.c_str(), path.c_str()) != 0)) {
    written = system_error("write", path);
  }
  if (!written) {
    ::unlink(name.c_str());
    return std::move(written).error().with_context(path.string());
  }
  return {};
}

Result<Fd> create_file(const std::filesystem::path& path) {
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file) return Error{ErrorKind::environment, "create " + path.string() + ": " + std::strerror(errno)};
  return file;
}

Result<void> make_directories(const std::filesystem::path& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) {
    return Error{ErrorKind::environment, "make folder " + path.string() + ": " + code.message()};
  }
  return {};
}

Result<Fd> sealed_memory_file(const std::string& name, const std::string& bytes) {
  Fd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error("memfd_create", name);
  KAGENT_TRY_VOID(write_all(fd.get(), bytes));
  if (::lseek(fd.get(), 0, SEEK_SET) != 0 ||
      ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
    return system_error("seal", name);
  }
  return fd;
}

Result<TemporaryDirectory> TemporaryDirectory::create(const std::string& prefix) {
  std::error_code code;
  const auto base = std::filesystem::temp_directory_path(code);
  std::string name = ((code ? std::filesystem::path("/tmp") : base) / (prefix + ".XXXXXX")).string();
  if (::mkdtemp(name.data()) == nullptr) return system_error("make folder", name);
  return TemporaryDirectory(name);
}

TemporaryDirectory& TemporaryDirectory::operator=(TemporaryDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path_.empty()) return;
  std::error_code code;
  std::filesystem::remove_all(path_, code);  // never follows symbolic links
}

Result<void> show_to_sandbox_user(const std::filesystem::path& folder) {
  if (::geteuid() != 0) return {};
  if (::lchown(folder.c_str(), kSandboxUser, kSandboxUser) != 0) return system_error("chown", folder);
  // The users of children are in the group alone.
  if (::chmod(folder.c_str(), 0750) != 0) return system_error("chmod", folder);
  return {};
}

namespace {

/// By descriptors: whoever can write in there cannot lead us elsewhere through a link.
Result<void> give_below(Fd folder, const std::filesystem::path& path) {
  const int listed = ::fcntl(folder.get(), F_DUPFD_CLOEXEC, 0);
  DIR* entries = listed < 0 ? nullptr : ::fdopendir(listed);
  if (entries == nullptr) return system_error("list", path);
  const std::unique_ptr<DIR, int (*)(DIR*)> closer(entries, ::closedir);
  while (const dirent* entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (::fchownat(folder.get(), name.c_str(), kSandboxUser, kSandboxUser, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT) {
      return system_error("chown", path / name);
    }
    Fd below(::openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (below) KAGENT_TRY_VOID(give_below(std::move(below), path / name));
  }
  return {};
}

}  // namespace

Result<void> give_to_sandbox_user(const std::filesystem::path& path) {
  if (::geteuid() != 0) return {};
  if (::lchown(path.c_str(), kSandboxUser, kSandboxUser) != 0) return system_error("chown", path);
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return {};  // a file
  return give_below(std::move(folder), path);
}

DiskUse disk_use(const std::filesystem::path& folder) {
  DiskUse use;
  std::error_code code;
  using Walk = std::filesystem::recursive_directory_iterator;
  for (Walk walk(folder, std::filesystem::directory_options::skip_permission_denied, code); !code && walk != Walk();
       walk.increment(code)) {
    struct stat status {};
    if (::lstat(walk->path().c_str(), &status) != 0) continue;
    use.bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
    ++use.files;
  }
  return use;
}

Result<std::filesystem::path> installation_root() {
  std::error_code code;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", code);
  if (code) return Error{ErrorKind::environment, "/proc/self/exe: " + code.message()};
  return program.parent_path().parent_path();
}

}  // namespace kagent::sys
