// SPDX-License-Identifier: Apache-2.0
#include "sys/lock_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kagent::sys {
namespace {

namespace fs = std::filesystem;

constexpr int kPollMilliseconds = 20;

long long now_ns() {
  // One clock for all processes of the host.
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Error failed(const std::string& what, const fs::path& path) {
  return Error{ErrorKind::environment, what + " " + path.string() + ": " + std::strerror(errno)};
}

/// A folder for all users of the host, as /tmp is one.
Result<void> make_shared_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 01777) == 0) {
    ::chmod(folder.c_str(), 01777);  // the umask took bits away
  } else if (errno != EEXIST) {
    return failed("make folder", folder);
  }
  return {};
}

Result<Fd> open_lock(const fs::path& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  // A sticky folder may refuse O_CREAT on another user's file (protected_regular): open it as it is.
  if (!fd && errno == EACCES) fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return failed("open lock", path);
  ::fchmod(fd.get(), 0666);
  return fd;
}

/// One line for each change of hands to the file that KAGENT_LEASE_LOG names: for tests, and for whoever wants
/// to see who held a device when. One write, so that lines of several processes do not mix.
void log_lease(const char* event, const fs::path& path) {
  const char* log = std::getenv("KAGENT_LEASE_LOG");
  if (log == nullptr || *log == '\0') return;
  const Fd fd(::open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!fd) return;
  const std::string line = "{\"lease\": \"" + path.stem().string() + "\", \"event\": \"" + event + "\", \"process\": " +
                           std::to_string(::getpid()) + ", \"at_ns\": " + std::to_string(now_ns()) + "}\n";
  if (::write(fd.get(), line.data(), line.size()) < 0) return;
}

/// A place in the queue: a file that stays locked as long as this process lives, named by when it came.
class Ticket {
 public:
  static Result<Ticket> take(const fs::path& queue) {
    KAGENT_TRY_VOID(make_shared_folder(queue));
    char name[64];
    std::snprintf(name, sizeof name, "%020lld-%d", now_ns(), static_cast<int>(::getpid()));
    // Locked before it has its name: nobody takes it for one whose process is gone.
    const fs::path unnamed = queue / (std::string(".new-") + name);
    Fd fd(::open(unnamed.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return failed("queue at", unnamed);
    const bool named = ::link(unnamed.c_str(), (queue / name).c_str()) == 0;
    ::unlink(unnamed.c_str());
    if (!named) return failed("queue at", queue / name);
    return Ticket(std::move(fd), queue, name);
  }
  Ticket(Ticket&&) noexcept = default;
  Ticket& operator=(Ticket&&) = delete;
  ~Ticket() {
    if (fd_) ::unlink((queue_ / name_).c_str());
  }

  /// No ticket of a living process is older.
  bool is_first() const {
    std::error_code code;
    std::vector<std::string> older;
    for (const auto& entry : fs::directory_iterator(queue_, code)) {
      const std::string name = entry.path().filename().string();
      if (name.front() != '.' && name < name_) older.push_back(name);
    }
    return std::none_of(older.begin(), older.end(), [&](const std::string& name) { return is_alive(queue_ / name); });
  }

 private:
  Ticket(Fd fd, fs::path queue, std::string name) : fd_(std::move(fd)), queue_(std::move(queue)), name_(std::move(name)) {}

  static bool is_alive(const fs::path& ticket) {
    const Fd fd(::open(ticket.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) return false;  // served meanwhile
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return true;
    ::unlink(ticket.c_str());  // left over from a kill; another user's stays, and counts for nothing
    return false;
  }

  Fd fd_;
  fs::path queue_;
  std::string name_;
};

}  // namespace

fs::path lock_directory() {
  const char* chosen = std::getenv("KAGENT_LOCK_DIR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp/kagent-locks";
}

Result<LockFile> LockFile::acquire(const fs::path& path, int stop_fd) {
  KAGENT_TRY_VOID(make_shared_folder(path.parent_path()));
  KAGENT_TRY(Fd fd, open_lock(path));
  fs::path queue = path;
  queue += ".queue";
  KAGENT_TRY(const Ticket ticket, Ticket::take(queue));
  while (true) {
    if (ticket.is_first()) {
      if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) break;
      if (errno != EWOULDBLOCK && errno != EINTR) return failed("lock", path);
    }
    pollfd wait{stop_fd, POLLIN, 0};
    if (::poll(&wait, stop_fd >= 0 ? 1 : 0, kPollMilliseconds) > 0) {
      return Error{ErrorKind::interrupted, "stopped while waiting for " + path.string()};
    }
  }
  log_lease("acquired", path);
  return LockFile(std::move(fd), path);
}

LockFile::~LockFile() {
  if (fd_) log_lease("released", path_);   // before the descriptor is closed
}

}  // namespace kagent::sys
