// SPDX-License-Identifier: Apache-2.0
#include "sandbox/privileges.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "sandbox/defence.h"
#include "sys/fd.h"
#include "sys/sandbox_user.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kagent::sandbox {
namespace {

constexpr int kServerCapabilities[] = {CAP_SYS_ADMIN, CAP_SETUID, CAP_SETGID, CAP_SETPCAP,
                                       CAP_KILL,      CAP_CHOWN,  CAP_FOWNER, CAP_DAC_OVERRIDE};
constexpr int kMostCapabilities = 63;

Error failed(const std::string& what) {
  return Error{ErrorKind::environment, "sandbox: " + what + ": " + std::strerror(errno)};
}

bool write_text(const std::string& path, const std::string& text) {
  const sys::Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// The identity of every user and group that sandboxed processes can be.
std::string map_of_sandbox_users() {
  const auto line = [](unsigned first, unsigned count) {
    const std::string number = std::to_string(first);
    return number + " " + number + " " + std::to_string(count) + "\n";
  };
  return line(sys::kFirstChildUser, sys::kChildUsers) + line(sys::kSandboxUser, 1);
}

/// Waits for a byte, then maps the users of process `pid`; runs in a child that stayed outside.
[[noreturn]] void map_users_of(int pid, int ready) {
  char byte = 0;
  if (::read(ready, &byte, 1) != 1) ::_exit(1);
  const std::string folder = "/proc/" + std::to_string(pid);
  const std::string map = map_of_sandbox_users();
  ::_exit(write_text(folder + "/gid_map", map) && write_text(folder + "/uid_map", map) ? 0 : 1);
}

Result<void> enter_as_root(int namespaces) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("pipe");
  const sys::Fd reader(ends[0]);
  sys::Fd writer(ends[1]);
  const int pid = ::getpid();
  const int helper = ::fork();
  if (helper < 0) return failed("fork");
  if (helper == 0) {
    writer.reset();
    map_users_of(pid, reader.get());
  }
  const bool entered = ::unshare(CLONE_NEWUSER | namespaces) == 0;
  const int error = errno;
  if (entered) [[maybe_unused]] const auto told = ::write(writer.get(), "+", 1);
  writer.reset();
  int status = 0;
  while (::waitpid(helper, &status, 0) < 0 && errno == EINTR) {
  }
  errno = error;
  if (!entered) return failed("user namespace");
  if (status != 0) return Error{ErrorKind::environment, "sandbox: users could not be mapped"};
  return {};
}

Result<void> enter_as_user(int namespaces) {
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER | namespaces) != 0) return failed("user namespace");
  if (!write_text("/proc/self/setgroups", "deny") || !write_text("/proc/self/gid_map", group + " " + group + " 1\n") ||
      !write_text("/proc/self/uid_map", user + " " + user + " 1\n")) {
    return Error{ErrorKind::environment, "sandbox: users could not be mapped"};
  }
  return {};
}

struct CapabilityWords {
  __user_cap_data_struct words[2] = {};
};

bool set_capabilities(const CapabilityWords& wanted) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  return ::syscall(SYS_capset, &header, wanted.words) == 0;
}

Result<void> become(unsigned user) {
  ::prctl(PR_SET_KEEPCAPS, 1);
  // Not glibc's setres*id: those signal every thread, and there is one.
  if (::syscall(SYS_setresgid, sys::kSandboxUser, sys::kSandboxUser, sys::kSandboxUser) != 0 ||
      ::syscall(SYS_setresuid, user, user, user) != 0) {
    return failed("become user " + std::to_string(user));
  }
  return {};
}

}  // namespace

Result<void> enter_user_namespace(bool was_root, int namespaces) {
  if (!was_root) return enter_as_user(namespaces);
  if (::setgroups(0, nullptr) != 0) return failed("setgroups");
  if (defends("user_namespace")) return enter_as_root(namespaces);
  if (namespaces != 0 && ::unshare(namespaces) != 0) return failed("namespaces");
  return {};
}

Result<void> become_sandbox_user() {
  if (!defends("user")) return {};
  return become(sys::kSandboxUser);
}

Result<void> become_child_user(unsigned user) { return become(user); }

Result<void> keep_server_capabilities() {
  CapabilityWords wanted;
  for (const int capability : kServerCapabilities) {
    auto& words = wanted.words[capability / 32];
    const auto bit = 1u << (capability % 32);
    words.effective |= bit;
    words.permitted |= bit;
    words.inheritable |= bit;
  }
  if (!set_capabilities(wanted)) return failed("capabilities of a server");
  for (const int capability : kServerCapabilities) {
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) != 0) return failed("ambient capabilities");
  }
  return {};
}

Result<void> drop_all_capabilities() {
  if (!defends("capabilities")) return {};
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  for (int capability = 0; capability <= kMostCapabilities; ++capability) {
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);  // fails beyond the last one, and without CAP_SETPCAP
  }
  if (!set_capabilities({})) return failed("drop capabilities");
  return {};
}

bool die_with(int parent) {
  if (!defends("death_with_parent")) return true;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int now = ::getppid();
  return now == parent || now == 0;  // 0: it lives in an outer PID namespace
}

}  // namespace kagent::sandbox
