// SPDX-License-Identifier: Apache-2.0
#include "sandbox/fresh_child.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "sandbox/defence.h"
#include "sandbox/own_root.h"
#include "sandbox/privileges.h"
#include "sandbox/seccomp.h"
#include "sys/sandbox_user.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace kagent::sandbox {
namespace {

Error failed(const std::string& what) {
  return Error{ErrorKind::environment, "sandbox: " + what + ": " + std::strerror(errno)};
}

/// The first process of a PID namespace ignores its own signals; abort() must still look like one.
void end_by_abort(int) { ::_exit(128 + SIGABRT); }

}  // namespace

FreshNest FreshNest::open() {
  FreshNest nest;
  const char* text = std::getenv(kNestVariable);
  if (text == nullptr || !defends("fresh_namespaces")) return nest;
  const std::string given = text;
  nest.users_ = given.rfind("users:", 0) == 0;
  nest.bytes_ = std::strtoull(given.c_str() + given.find(':') + 1, nullptr, 10);
  nest.own_pid_namespace_ = sys::Fd(::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC));
  return nest;
}

unsigned FreshNest::next_user() const {
  if (!fresh() || !users_ || !defends("child_user")) return 0;
  return sys::kFirstChildUser + count_ % sys::kChildUsers;
}

Result<void> FreshNest::prepare() {
  if (fresh() && ::unshare(CLONE_NEWPID) != 0) return failed("PID namespace for a child");
  return {};
}

void FreshNest::close_door() {
  ++count_;
  // Cannot fail: it is our own namespace. Were it to, the next prepare() says so.
  if (fresh()) static_cast<void>(::setns(own_pid_namespace_.get(), CLONE_NEWPID));
}

Result<void> FreshNest::enter(int parent, const Confinement& confinement) {
  if (!die_with(parent)) return Error{ErrorKind::environment, "sandbox: the server is gone"};
  if (fresh()) {
    if (::unshare(CLONE_NEWNS | CLONE_NEWIPC) != 0) return failed("namespaces of a child");
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return failed("make / private");
    KAGENT_TRY_VOID(mount_proc());
    std::vector<std::string> kept = mounts_in_scratch();
    kept.insert(kept.end(), confinement.kept_folders.begin(), confinement.kept_folders.end());
    KAGENT_TRY_VOID(mount_private_folders(bytes_, kept));
    if (const unsigned user = next_user(); user != 0) KAGENT_TRY_VOID(become_child_user(user));
    std::signal(SIGABRT, end_by_abort);
  }
  KAGENT_TRY_VOID(drop_all_capabilities());
  if (!die_with(parent)) return Error{ErrorKind::environment, "sandbox: the server is gone"};
  if (confinement.files != nullptr && landlock_version() > 0) KAGENT_TRY_VOID(confine(*confinement.files));
  // With namespaces of its own nobody is there who might look in; a driver, a debugger and the loader
  // want to read what /proc says of their own process.
  if (fresh()) ::prctl(PR_SET_DUMPABLE, 1);
  return install_filter(confinement.programs ? Filter::tools : Filter::leaf, {confinement.gpu, confinement.gpu});
}

void hide_server() {
  if (defends("hidden_parent")) ::prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace kagent::sandbox
