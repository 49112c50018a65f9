// SPDX-License-Identifier: Apache-2.0
#include "sys/subprocess.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace kagent::sys {
namespace {

void limit(int resource, unsigned long value) {
  const rlimit both{value, value};
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

/// Runs in the child between fork and exec: async-signal-safe calls only. Returns errno.
int become(const SpawnRequest& request, char* const* arguments, char* const* environment,
           int null_fd, int keep_fd, int parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return ECHILD;
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);

  const int err = request.output >= 0 ? request.output : null_fd;
  const int out = request.standard_output >= 0 ? request.standard_output : err;
  // Everything is first moved above the range that is about to be filled.
  constexpr int kAbove = 512;
  const int high_null = ::fcntl(null_fd, F_DUPFD, kAbove);
  const int high_out = ::fcntl(out, F_DUPFD, kAbove);
  const int high_err = ::fcntl(err, F_DUPFD, kAbove);
  const int high_keep = ::fcntl(keep_fd, F_DUPFD_CLOEXEC, kAbove);
  int high[64];
  std::size_t count = 0;
  for (const auto& [ours, theirs] : request.descriptors) {
    if (count == 64) return E2BIG;
    high[count] = ::fcntl(ours, F_DUPFD, kAbove);
    if (high[count++] < 0) return errno;
  }
  if (::dup2(high_null, 0) < 0 || ::dup2(high_out, 1) < 0 || ::dup2(high_err, 2) < 0) return errno;
  ::syscall(SYS_close_range, 3, kAbove - 1, 0);
  int last = 2;
  for (std::size_t i = 0; i < count; ++i) {
    const int theirs = request.descriptors[i].second;
    if (::dup2(high[i], theirs) < 0) return errno;
    if (theirs > last) last = theirs;
  }
  // Only the error pipe survives above, and it closes on exec.
  ::syscall(SYS_close_range, last + 1, high_keep - 1, 0);
  ::syscall(SYS_close_range, high_keep + 1, ~0U, 0);

  if (!request.control_group.empty()) {
    const int group = ::open(request.control_group.c_str(), O_WRONLY | O_CLOEXEC);
    const bool joined = group >= 0 && ::write(group, "0", 1) == 1;
    if (!joined) return errno;
    ::close(group);
  }
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, request.limits.open_files);
  if (request.limits.file_bytes) limit(RLIMIT_FSIZE, *request.limits.file_bytes);
  if (request.limits.data_bytes) limit(RLIMIT_DATA, *request.limits.data_bytes);
  if (request.limits.processes) limit(RLIMIT_NPROC, *request.limits.processes);
  if (request.limits.cpu_seconds) limit(RLIMIT_CPU, *request.limits.cpu_seconds);
  if (!request.directory.empty() && ::chdir(request.directory.c_str()) != 0) return errno;
  ::execve(arguments[0], arguments, environment);
  const int failure = errno;
  [[maybe_unused]] const auto told = ::write(high_keep, &failure, sizeof failure);
  ::_exit(127);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

std::string ExitStatus::describe() const {
  if (signal) return fmt::format("killed by signal {} ({})", *signal, ::strsignal(*signal));
  return fmt::format("exit code {}", code.value_or(-1));
}

Result<Process> Process::spawn(const SpawnRequest& request) {
  KAGENT_CHECK(!request.arguments.empty());
  const Fd null_fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  int ends[2];
  if (!null_fd || ::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{ErrorKind::environment, std::string("start a process: ") + std::strerror(errno)};
  }
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const auto arguments = pointers(request.arguments);
  const auto environment = pointers(request.environment);
  const int parent = ::getpid();
  const int pid = ::fork();
  if (pid < 0) return Error{ErrorKind::environment, std::string("fork: ") + std::strerror(errno)};
  if (pid == 0) {
    const int failure = become(request, arguments.data(), environment.data(), null_fd.get(),
                               writer.get(), parent);
    [[maybe_unused]] const auto told = ::write(writer.get(), &failure, sizeof failure);
    ::_exit(127);
  }
  writer.reset();
  ::setpgid(pid, pid);  // both sides, whoever is first
  Process process(pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  process.ends_own_tree_ = request.ends_own_tree;
  int failure = 0;
  ssize_t got = 0;
  do {
    got = ::read(reader.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof failure) {
    process.wait();
    return Error{ErrorKind::environment,
                 "start " + request.arguments[0] + ": " + std::strerror(failure)};
  }
  return process;
}

Process& Process::operator=(Process&& other) noexcept {
  if (this != &other) {
    kill();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    status_ = std::move(other.status_);
    ends_own_tree_ = other.ends_own_tree_;
  }
  return *this;
}

Process::~Process() { kill(); }

std::optional<ExitStatus> Process::wait(std::optional<Clock::time_point> deadline, int stop_fd) {
  if (status_ || !pidfd_) return status_;
  for (;;) {
    int timeout = -1;
    if (deadline) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - Clock::now()).count();
      timeout = left < 0 ? 0 : static_cast<int>(left + 1);
    }
    pollfd waits[2] = {{pidfd_.get(), POLLIN, 0}, {stop_fd, POLLIN, 0}};
    const int ready = ::poll(waits, stop_fd >= 0 ? 2 : 1, timeout);
    if (ready < 0 && errno == EINTR) continue;
    if ((waits[0].revents & POLLIN) != 0) break;
    return std::nullopt;
  }
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = ExitStatus{};
  if (WIFEXITED(status)) status_->code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) status_->signal = WTERMSIG(status);
  return status_;
}

void Process::interrupt() {
  if (pid_ > 0 && !status_) ::kill(pid_, SIGINT);
}

void Process::kill() {
  if (!pidfd_ || status_) return;
  if (ends_own_tree_) {
    ::kill(pid_, SIGTERM);
    if (wait(Clock::now() + std::chrono::seconds(10))) return;
  }
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  wait();
}

}  // namespace kagent::sys
