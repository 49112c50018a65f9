// SPDX-License-Identifier: Apache-2.0
#include "process_tree.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/child.h"
#include "sandbox/defence.h"
#include "sandbox/order.h"
#include "sandbox/privileges.h"
#include "sys/fd.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kagent::sandbox {
namespace {

Error failed(const std::string& what) {
  return Error{ErrorKind::environment, "sandbox: " + what + ": " + std::strerror(errno)};
}

/// What a shell would say of it; the exact status went through the descriptor.
int exit_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

void tell_status(int status) {
  [[maybe_unused]] const auto told = ::write(kStatusDescriptor, &status, sizeof status);
}

/// What was meant for the program; the other side must see when that closes it.
void close_descriptors() { ::syscall(SYS_close_range, 3U, static_cast<unsigned>(kStatusDescriptor - 1), 0); }

void unblock_signals() {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

int fork_program(const Step& program) {
  const int parent = ::getpid();
  const int pid = ::fork();
  if (pid != 0) return pid;
  ::fcntl(kStatusDescriptor, F_SETFD, FD_CLOEXEC);
  unblock_signals();
  if (!die_with(parent)) ::_exit(kLauncherFailed);
  const auto result = program();
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  ::_exit(kLauncherFailed);
}

/// Reaps until `pid` is gone; its status. Others are reaped on the way.
int wait_for(int pid) {
  int status = 0;
  for (;;) {
    const int ended = ::waitpid(-1, &status, 0);
    if (ended == pid) return status;
    if (ended < 0 && errno == ECHILD) return 0;
  }
}

[[noreturn]] void be_first(int parent, const Step& prepare, const Step& program) {
  auto prepared = prepare();
  if (!prepared) std::fprintf(stderr, "%s\n", prepared.error().message.c_str());
  if (!prepared || !die_with(parent)) ::_exit(kLauncherFailed);
  const int pid = fork_program(program);
  if (pid < 0) ::_exit(kLauncherFailed);
  close_descriptors();
  const int status = wait_for(pid);
  tell_status(status);
  ::_exit(exit_code(status));
}

std::vector<int> children_of(int pid) {
  std::vector<int> children;
  std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  for (int child = 0; file >> child;) children.push_back(child);
  return children;
}

void kill_below(int pid, int depth) {
  if (depth > 64) return;
  for (const int child : children_of(pid)) {
    ::kill(child, SIGSTOP);   // so that it cannot fork away from us while we look at its children
    kill_below(child, depth + 1);
    ::kill(child, SIGKILL);
  }
}

/// Does not give up: one that is still being made (a network namespace can take seconds) would live on.
void kill_tree() {
  for (;;) {
    kill_below(::getpid(), 0);
    int status = 0;
    int ended = 0;
    while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) return;
    ::usleep(2'000);
  }
}

}  // namespace

Result<int> keep_tree(const Step& prepare, const Step& program) {
  const int parent = ::getpid();
  const int first = ::fork();
  if (first < 0) return failed("fork");
  if (first == 0) be_first(parent, prepare, program);
  close_descriptors();
  return exit_code(wait_for(first));
}

namespace {

/// The program's status; empty where it was asked to end before that.
Result<std::optional<int>> guard(const std::function<int()>& start) {
  if (!defends("guardian")) {
    const int pid = start();
    if (pid < 0) return failed("fork");
    return std::optional(wait_for(pid));
  }
  const int parent = ::getppid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (defends("death_with_parent")) ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // killed at once we could not take the tree along
  // Nothing else may end this process either: where our parent's death leaves the group orphaned while
  // kill_below() has stopped somebody in it, the kernel sends SIGHUP to all of it.
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGCHLD);
  if (::getppid() != parent) return std::optional<int>();
  const int pid = start();
  if (pid < 0) return failed("fork");
  close_descriptors();
  const sys::Fd events(::signalfd(-1, &signals, SFD_CLOEXEC));
  std::optional<int> status;
  for (bool asked_to_end = false; !status && !asked_to_end;) {
    int each = 0;
    for (int ended = 0; (ended = ::waitpid(-1, &each, WNOHANG)) > 0;) {
      if (ended == pid) status = each;
    }
    if (status) break;
    signalfd_siginfo event{};
    const auto got = ::read(events.get(), &event, sizeof event);
    asked_to_end = got == static_cast<ssize_t>(sizeof event) && event.ssi_signo == SIGTERM;
  }
  kill_tree();
  return status;
}

}  // namespace

Result<int> guard_tree(const Step& program) {
  KAGENT_TRY(const auto status, guard([&] { return fork_program(program); }));
  if (!status) return 128 + SIGTERM;
  tell_status(*status);
  return exit_code(*status);
}

Result<int> guard_command(char** arguments) {
  const auto start = [&] {
    const int parent = ::getpid();
    const int pid = ::fork();
    if (pid != 0) return pid;
    unblock_signals();
    if (die_with(parent)) ::execv(arguments[0], arguments);
    std::fprintf(stderr, "%s\n", failed(std::string("start ") + arguments[0]).message.c_str());
    ::_exit(kLauncherFailed);
  };
  KAGENT_TRY(const auto status, guard(start));
  return status ? exit_code(*status) : 128 + SIGTERM;
}

}  // namespace kagent::sandbox
