// SPDX-License-Identifier: Apache-2.0
#include "builder/forked_call.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>

namespace kagent::builder {
namespace {

constexpr rlim_t kMaxData = 12ul << 30;   // bytes; NVRTC on CUTLASS needs about 3 GiB
constexpr rlim_t kMaxFile = 512ul << 20;  // bytes

void limit(int resource, rlim_t value) {
  rlimit old{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &old) != 0) return;
  const rlimit next{std::min(value, old.rlim_max), std::min(value, old.rlim_max)};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &next);
}

void keep_only(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned first = 3;
  for (const int fd : kept) {
    const auto wanted = static_cast<unsigned>(fd);
    if (wanted > first) ::syscall(SYS_close_range, first, wanted - 1, 0);
    first = std::max(first, wanted + 1);
  }
  ::syscall(SYS_close_range, first, ~0U, 0);
}

[[noreturn]] void run_child(int parent, const std::function<void()>& work,
                            const std::vector<int>& outputs, ForkedCall::Clock::duration limit_time,
                            sandbox::FreshNest& nest, const sandbox::Confinement& confinement) {
  ::setpgid(0, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  keep_only(outputs);
  limit(RLIMIT_DATA, kMaxData);
  limit(RLIMIT_FSIZE, kMaxFile);
  limit(RLIMIT_CORE, 0);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit_time).count();
  limit(RLIMIT_CPU, static_cast<rlim_t>(seconds) + 5);
  if (auto held = nest.enter(parent, confinement); !held) {
    std::fprintf(stderr, "builder: %s\n", held.error().message.c_str());
    ::_exit(3);
  }
  try {
    work();
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "builder: %s\n", exception.what());
    ::_exit(3);
  }
  ::_exit(0);
}

}  // namespace

Result<ForkedCall> ForkedCall::start(const std::function<void()>& work,
                                     const std::vector<int>& outputs, Clock::duration limit,
                                     sandbox::FreshNest& nest, const sandbox::Confinement& confinement) {
  const int parent = ::getpid();
  KAGENT_TRY_VOID(nest.prepare());
  const int pid = ::fork();
  if (pid != 0) nest.close_door();
  if (pid < 0) return Error{ErrorKind::environment, std::string("fork: ") + std::strerror(errno)};
  if (pid == 0) run_child(parent, work, outputs, limit, nest, confinement);
  ::setpgid(pid, pid);  // both sides, whoever is first
  sys::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return ForkedCall(pid, std::move(pidfd), Clock::now() + limit);
}

ForkedCall::~ForkedCall() {
  if (pidfd_) finish();
}

sys::ExitStatus ForkedCall::finish() {
  sys::ExitStatus result;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == 0) {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  pidfd_.reset();
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

Result<sys::Fd> memory_file(const char* name) {
  sys::Fd file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return Error{ErrorKind::environment, std::string("memfd_create: ") + std::strerror(errno)};
  return file;
}

bool seal(const sys::Fd& file) {
  return ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0;
}

}  // namespace kagent::builder
