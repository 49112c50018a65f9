// SPDX-License-Identifier: Apache-2.0
#include "launch.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "process_tree.h"
#include "sandbox/defence.h"
#include "sandbox/fresh_child.h"
#include "sandbox/landlock.h"
#include "sandbox/own_root.h"
#include "sandbox/privileges.h"
#include "sandbox/seccomp.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace kagent::sandbox {
namespace {

Error failed(const std::string& what) {
  return Error{ErrorKind::environment, "sandbox: " + what + ": " + std::strerror(errno)};
}

Result<void> limit_processes(const Order& order) {
  const auto most = order.policy.limits.processes;
  if (!most || !defends("process_limit")) return {};
  const rlimit both{*most, *most};
  if (::setrlimit(RLIMIT_NPROC, &both) != 0) return failed("limit of processes");
  return {};
}

/// The last steps, in the process that becomes the program.
Result<void> become_program(const Order& order, char** arguments) {
  const bool server = order.policy.calls == Calls::server && has_own_root(order.tier);
  if (::chdir(order.policy.directory.c_str()) != 0) return failed(order.policy.directory);
  KAGENT_TRY_VOID(limit_processes(order));
  if (server) {
    const std::string users = order.was_root && defends("user_namespace") ? "users:" : "same:";
    ::setenv(kNestVariable, (users + std::to_string(order.policy.scratch_bytes)).c_str(), 1);
    KAGENT_TRY_VOID(keep_server_capabilities());
  } else {
    ::unsetenv(kNestVariable);
    KAGENT_TRY_VOID(drop_all_capabilities());
  }
  if (!has_own_root(order.tier)) {
    KAGENT_TRY(const FileAccess access, file_access(order.policy, order.policy.read_write.back().ours.string()));
    KAGENT_TRY_VOID(confine(access));
  }
  // Sockets on the host's file system are in reach without a root of its own, and no other wall stops a connect.
  FilterOptions options;
  options.local = has_own_root(order.tier) || order.policy.gpu == GpuAccess::devices;
  KAGENT_TRY_VOID(install_filter(server ? Filter::server : Filter::tools, options));
  ::execv(arguments[0], arguments);
  return failed(std::string("start ") + arguments[0]);
}

/// Tiers with namespaces: user, mount, PID and IPC namespaces that belong to the sandbox's users.
Result<int> launch_in_namespaces(const Order& order, char** arguments) {
  if (order.tier == Tier::namespaces) {
    int outer = CLONE_NEWNS | CLONE_NEWUTS;
    if (defends("network_namespace")) outer |= CLONE_NEWNET;
    if (defends("ipc_namespace")) outer |= CLONE_NEWIPC;
    if (::unshare(outer) != 0) return failed("namespaces");
    KAGENT_TRY_VOID(enter_own_root(order.policy));
  }
  // The one at hand may have parts covered, and then the kernel lets no user namespace mount another.
  if (order.tier == Tier::bubblewrap && defends("pid_namespace")) KAGENT_TRY_VOID(mount_proc());
  int inner = CLONE_NEWNS;
  if (defends("pid_namespace")) inner |= CLONE_NEWPID;
  if (defends("ipc_namespace")) inner |= CLONE_NEWIPC;
  KAGENT_TRY_VOID(enter_user_namespace(order.was_root, inner));
  const auto prepare = [&]() -> Result<void> {
    if (defends("pid_namespace")) KAGENT_TRY_VOID(mount_proc());
    if (order.was_root) KAGENT_TRY_VOID(become_sandbox_user());
    return {};
  };
  return keep_tree(prepare, [&] { return become_program(order, arguments); });
}

Result<int> launch_on_host_files(const Order& order, char** arguments) {
  return guard_tree([&]() -> Result<void> {
    const int guardian = ::getppid();
    if (order.was_root) KAGENT_TRY_VOID(become_sandbox_user());
    if (!die_with(guardian)) return Error{ErrorKind::environment, "sandbox: the guardian is gone"};
    return become_program(order, arguments);
  });
}

}  // namespace

Result<int> launch(const Order& order, char** arguments) {
  return has_own_root(order.tier) ? launch_in_namespaces(order, arguments) : launch_on_host_files(order, arguments);
}

}  // namespace kagent::sandbox
