// SPDX-License-Identifier: Apache-2.0
#include "sys/confined_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

namespace kagent::sys {
namespace {

constexpr std::size_t kMaxPathBytes = 1024;
constexpr std::size_t kMaxNameBytes = 200;
constexpr std::size_t kMaxDepth = 16;

std::string describe(int error) { return std::strerror(error); }

/// What an errno of opening a named thing means: the namer's mistake, or the machine's.
Error open_failure(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
      return {ErrorKind::usage, path + ": no such file or folder"};
    case ELOOP:
      return {ErrorKind::usage, path + ": is a symbolic link, which is not followed"};
    case ENOTDIR:
      return {ErrorKind::usage, path + ": is not a folder (symbolic links are not followed)"};
    case EISDIR:
      return {ErrorKind::usage, path + ": is a folder"};
    case EACCES:
      return {ErrorKind::usage, path + ": permission denied"};
    case ENXIO:
      return {ErrorKind::usage, path + ": is not a regular file"};
    default:
      return {ErrorKind::environment, path + ": " + describe(error)};
  }
}

std::string joined(const std::vector<std::string>& parts, std::size_t count) {
  std::string path;
  for (std::size_t i = 0; i < count; ++i) path += (i == 0 ? "" : "/") + parts[i];
  return path.empty() ? "." : path;
}

Result<void> write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Error{ErrorKind::environment, path + ": write: " + describe(errno)};
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

std::string temporary_name() {
  static std::atomic<unsigned> counter{0};
  return ".kagent-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

Result<ConfinedFolder> ConfinedFolder::open(const std::filesystem::path& folder) {
  Fd root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!root) return open_failure(folder.string(), errno);
  return ConfinedFolder(std::move(root));
}

Result<std::vector<std::string>> ConfinedFolder::split(const std::string& relative) {
  const auto refuse = [](const std::string& why) { return Error{ErrorKind::usage, why}; };
  if (relative.find('\0') != std::string::npos) return refuse("the path contains a NUL byte");
  if (relative.size() > kMaxPathBytes) return refuse("the path is longer than 1024 bytes");
  if (!relative.empty() && relative.front() == '/') {
    return refuse(relative +
                  ": absolute paths are not allowed; name files relative to the workspace");
  }
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (start <= relative.size()) {
    const std::size_t end = std::min(relative.find('/', start), relative.size());
    const std::string part = relative.substr(start, end - start);
    start = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..")
      return refuse(relative + ": \"..\" is not allowed; stay inside the workspace");
    if (part.size() > kMaxNameBytes) return refuse("a name in the path is longer than 200 bytes");
    parts.push_back(part);
  }
  if (parts.size() > kMaxDepth) return refuse(relative + ": more than 16 folders deep");
  return parts;
}

Result<void> ConfinedFolder::give_to_owner(int fd) const {
  struct stat owner {};
  if (::fstat(root_.get(), &owner) != 0) {
    return Error{ErrorKind::environment, "workspace: " + describe(errno)};
  }
  if (::geteuid() != 0 || owner.st_uid == 0) return {};
  if (::fchown(fd, owner.st_uid, owner.st_gid) != 0) {
    return Error{ErrorKind::environment, "workspace: change owner: " + describe(errno)};
  }
  return {};
}

Result<Fd> ConfinedFolder::walk(const std::vector<std::string>& parts, std::size_t count,
                                Missing missing) const {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Fd current(::openat(root_.get(), ".", kFlags));
  if (!current) return open_failure(".", errno);
  for (std::size_t i = 0; i < count; ++i) {
    Fd next(::openat(current.get(), parts[i].c_str(), kFlags));
    if (!next && errno == ENOENT && missing == Missing::create) {
      if (::mkdirat(current.get(), parts[i].c_str(), 0755) != 0 && errno != EEXIST) {
        return open_failure(joined(parts, i + 1), errno);
      }
      next = Fd(::openat(current.get(), parts[i].c_str(), kFlags));
      if (next) KAGENT_TRY_VOID(give_to_owner(next.get()));
    }
    if (!next) return open_failure(joined(parts, i + 1), errno);
    current = std::move(next);
  }
  return current;
}

Result<std::string> ConfinedFolder::read(const std::string& relative, std::size_t max_bytes) const {
  KAGENT_TRY(const auto parts, split(relative));
  if (parts.empty()) return Error{ErrorKind::usage, "an empty path names no file"};
  KAGENT_TRY(const Fd parent, walk(parts, parts.size() - 1, Missing::fail));
  // Not blocking: a FIFO must not hang us before it is seen to be one.
  Fd file(::openat(parent.get(), parts.back().c_str(),
                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return open_failure(relative, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return open_failure(relative, errno);
  if (S_ISDIR(status.st_mode)) return open_failure(relative, EISDIR);
  if (!S_ISREG(status.st_mode))
    return Error{ErrorKind::usage, relative + ": is not a regular file"};
  if (status.st_nlink != 1) {
    return Error{ErrorKind::usage,
                 relative + ": is a hard link, which is not read; write a new file"};
  }
  std::string text;
  std::string buffer(64u << 10, '\0');
  while (text.size() <= max_bytes) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{ErrorKind::environment, relative + ": read: " + describe(errno)};
    if (got == 0) return text;
    text.append(buffer, 0, static_cast<std::size_t>(got));
  }
  return Error{ErrorKind::usage,
               relative + ": is larger than " + std::to_string(max_bytes) + " bytes"};
}

Result<void> ConfinedFolder::write(const std::string& relative, std::string_view text) const {
  KAGENT_TRY(const auto parts, split(relative));
  if (parts.empty()) return Error{ErrorKind::usage, "an empty path names no file"};
  KAGENT_TRY(const Fd parent, walk(parts, parts.size() - 1, Missing::create));
  const char* name = parts.back().c_str();
  mode_t mode = 0644;
  struct stat status {};
  if (::fstatat(parent.get(), name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISDIR(status.st_mode)) return open_failure(relative, EISDIR);
    if (S_ISLNK(status.st_mode)) return open_failure(relative, ELOOP);
    if (!S_ISREG(status.st_mode)) return open_failure(relative, ENXIO);
    mode = status.st_mode & 0777;
  }
  const std::string temporary = temporary_name();
  Fd file(::openat(parent.get(), temporary.c_str(),
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return open_failure(relative, errno);
  Result<void> done = write_all(file.get(), text, relative);
  if (done) done = give_to_owner(file.get());
  if (done && (::fchmod(file.get(), mode) != 0 ||
               ::renameat(parent.get(), temporary.c_str(), parent.get(), name) != 0)) {
    done = open_failure(relative, errno);
  }
  if (!done) ::unlinkat(parent.get(), temporary.c_str(), 0);
  return done;
}

Result<void> ConfinedFolder::make_folder(const std::string& relative) const {
  KAGENT_TRY(const auto parts, split(relative));
  KAGENT_TRY(const Fd folder, walk(parts, parts.size(), Missing::create));
  return {};
}

Result<std::vector<FolderEntry>> ConfinedFolder::list(const std::string& relative,
                                                      std::size_t max_entries) const {
  KAGENT_TRY(const auto parts, split(relative));
  KAGENT_TRY(Fd folder, walk(parts, parts.size(), Missing::fail));
  const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(folder.get()));
  if (!directory) return open_failure(relative, errno);
  const int fd = folder.release();  // belongs to `directory` now
  std::vector<FolderEntry> entries;
  errno = 0;
  while (const dirent* item = ::readdir(directory.get())) {
    const std::string name = item->d_name;
    if (name == "." || name == "..") continue;
    if (entries.size() == max_entries) {
      return Error{ErrorKind::usage, joined(parts, parts.size()) + ": holds more than " +
                                         std::to_string(max_entries) + " entries"};
    }
    FolderEntry entry{name, EntryKind::other, 0};
    struct stat status {};
    if (::fstatat(fd, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
      if (S_ISREG(status.st_mode)) entry = {name, EntryKind::file, status.st_size};
      if (S_ISDIR(status.st_mode)) entry.kind = EntryKind::folder;
    }
    entries.push_back(std::move(entry));
    errno = 0;
  }
  if (errno != 0) return open_failure(relative, errno);
  std::sort(entries.begin(), entries.end(),
            [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  return entries;
}

bool ConfinedFolder::contains(const std::string& relative) const {
  const auto parts = split(relative);
  if (!parts) return false;
  if (parts->empty()) return true;
  const auto parent = walk(*parts, parts->size() - 1, Missing::fail);
  struct stat status {};
  return parent &&
         ::fstatat(parent->get(), parts->back().c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace kagent::sys
