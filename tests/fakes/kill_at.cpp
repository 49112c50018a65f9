// SPDX-License-Identifier: Apache-2.0
// Preloaded into kagent by a test (LD_PRELOAD): ends the process, as SIGKILL does, at one named
// step of what it does to its run folder or asks of its workers.
//
//   KAGENT_KILL_LOG=FILE          writes the name of each step into FILE, one a line
//   KAGENT_KILL_AT=STEP#N:WHEN    dies at the N-th (from 1) step of that name; WHEN is before,
//   after,
//                                 or half (a write that is torn)
//
// Names: append:TYPE (a line of trajectory.jsonl), sync:FILE, rename:FILE, exchange:FILE, ask:TYPE
// (a frame to a worker). Children do not inherit it: kagent builds their environment from nothing.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace {

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

ssize_t write_through(int fd, const void* bytes, size_t count) {
  static auto* const function = real<ssize_t(int, const void*, size_t)>("write");
  return function(fd, bytes, count);
}

[[noreturn]] void die() {
  ::raise(SIGKILL);
  std::abort();
}

/// What to do at this step: "", "before", "after" or "half".
std::string meet(const std::string& step) {
  static std::mutex mutex;
  static std::map<std::string, int> met;
  const std::lock_guard<std::mutex> lock(mutex);
  const int number = ++met[step];
  if (const char* path = std::getenv("KAGENT_KILL_LOG"); path != nullptr) {
    const int log = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    const std::string line = step + "\n";
    if (log < 0 || write_through(log, line.data(), line.size()) < 0) std::abort();
    ::close(log);
  }
  const char* at = std::getenv("KAGENT_KILL_AT");
  if (at == nullptr) return "";
  const std::string wanted = step + "#" + std::to_string(number) + ":";
  return std::string_view(at).substr(0, wanted.size()) == wanted ? at + wanted.size() : "";
}

std::string file_name(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.size() == 64 ? "candidate" : name;
}

/// Folders have names that no two runs share, and so have frozen candidates.
std::string name_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) return "folder";
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = ::readlink(link.c_str(), path, sizeof path);
  return size < 0 ? "" : file_name(std::string(path, static_cast<size_t>(size)));
}

/// The value of the last member "type" of a JSON text, "" where there is none.
std::string type_of(const void* bytes, size_t count) {
  const std::string_view text(static_cast<const char*>(bytes), count);
  constexpr std::string_view kMember = "\"type\":\"";
  const size_t at = text.rfind(kMember);
  if (at == std::string_view::npos) return "";
  const size_t begin = at + kMember.size();
  return std::string(text.substr(begin, text.find('"', begin) - begin));
}

/// A temporary file's name without the letters that mkostemp chose.
std::string without_suffix(std::string name) {
  const size_t dot = name.rfind('.');
  if (name.size() > 7 && dot == name.size() - 7) name.resize(dot);
  return name;
}

template <typename Call>
auto around(const std::string& step, const Call& call) {
  const std::string when = meet(step);
  if (when == "before") die();
  const auto result = call();
  if (!when.empty()) die();
  return result;
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* bytes, size_t count) {
  if (fd <= 2 || name_of(fd) != "trajectory.jsonl") return write_through(fd, bytes, count);
  const std::string when = meet("append:" + type_of(bytes, count));
  if (when == "before") die();
  const ssize_t written = write_through(fd, bytes, when == "half" ? count / 2 : count);
  if (!when.empty()) die();
  return written;
}

int fsync(int fd) {
  return around("sync:" + without_suffix(name_of(fd)), [&] { return real<int(int)>("fsync")(fd); });
}

int fdatasync(int fd) {
  return around("sync:" + name_of(fd), [&] { return real<int(int)>("fdatasync")(fd); });
}

int rename(const char* from, const char* to) noexcept {
  return around("rename:" + file_name(to),
                [&] { return real<int(const char*, const char*)>("rename")(from, to); });
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  return around("exchange:" + file_name(to), [&] {
    return real<int(int, const char*, int, const char*, unsigned)>("renameat2")(
        from_folder, from, to_folder, to, flags);
  });
}

ssize_t send(int fd, const void* bytes, size_t count, int flags) {
  const auto call = [&] {
    return real<ssize_t(int, const void*, size_t, int)>("send")(fd, bytes, count, flags);
  };
  // Whole frames of workers only: the name of their socket is no address, and their text is JSON.
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  const bool local = ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
                     address.ss_family == AF_UNIX;
  const std::string type = local ? type_of(bytes, count) : "";
  return type.empty() ? call() : around("ask:" + type, call);
}
}
