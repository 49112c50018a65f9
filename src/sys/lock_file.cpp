// SPDX-License-Identifier: Apache-2.0
#include "sys/lock_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace kagent::sys {

std::filesystem::path lock_directory() {
  const char* chosen = std::getenv("KAGENT_LOCK_DIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp/kagent-locks";
}

Result<LockFile> LockFile::acquire(const std::filesystem::path& path, int stop_fd) {
  const auto folder = path.parent_path();
  if (::mkdir(folder.c_str(), 01777) == 0) {
    ::chmod(folder.c_str(), 01777);  // the umask took bits away
  } else if (errno != EEXIST) {
    return Error{ErrorKind::environment,
                 "make folder " + folder.string() + ": " + std::strerror(errno)};
  }
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  // A sticky folder may refuse O_CREAT on another user's file (protected_regular): open it as it is.
  if (!fd && errno == EACCES) fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) {
    return Error{ErrorKind::environment, "open lock " + path.string() + ": " + std::strerror(errno)};
  }
  ::fchmod(fd.get(), 0666);
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return Error{ErrorKind::environment, "lock " + path.string() + ": " + std::strerror(errno)};
    }
    pollfd wait{stop_fd, POLLIN, 0};
    if (::poll(&wait, stop_fd >= 0 ? 1 : 0, 20) > 0) {
      return Error{ErrorKind::interrupted, "stopped while waiting for " + path.string()};
    }
  }
  return LockFile(std::move(fd));
}

}  // namespace kagent::sys
