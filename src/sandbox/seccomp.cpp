// SPDX-License-Identifier: Apache-2.0
#include "sandbox/seccomp.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "sandbox/defence.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kagent::sandbox {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "name this processor's audit architecture"
#endif

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;   // libraries fall back to an older call

constexpr long kTracing[] = {SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd, SYS_kcmp,
                             SYS_perf_event_open, SYS_process_madvise};
constexpr long kKernel[] = {SYS_bpf,           SYS_userfaultfd,   SYS_keyctl,        SYS_add_key,
                            SYS_request_key,   SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
                            SYS_init_module,   SYS_finit_module,  SYS_delete_module, SYS_kexec_load,
                            SYS_open_by_handle_at, SYS_swapon,    SYS_swapoff,       SYS_acct,
                            SYS_quotactl,      SYS_syslog,        SYS_reboot,        SYS_fanotify_init};
constexpr long kMounts[] = {SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_fsopen,
                            SYS_fsmount, SYS_fspick, SYS_fsconfig, SYS_move_mount, SYS_open_tree, 442 /* mount_setattr */};
constexpr long kLeaf[] = {
    SYS_execve, SYS_execveat, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_pidfd_open,
    SYS_pidfd_send_signal, 448 /* process_mrelease */, SYS_setpriority, SYS_ioprio_set, SYS_sched_setscheduler,
    SYS_sched_setparam, SYS_sched_setattr, SYS_migrate_pages, SYS_move_pages,
#if defined(__x86_64__)
    SYS_fork, SYS_vfork,
#endif
};
constexpr std::uint32_t kNamespaceFlags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                                          CLONE_NEWUTS | CLONE_NEWCGROUP;

/// A program over struct seccomp_data; every rule leaves the call's number loaded.
class Program {
 public:
  Program() {
    load(offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
    answer(SECCOMP_RET_KILL_PROCESS);
    load_number();
#if defined(__x86_64__)
    add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1);   // the x32 numbers would walk round everything below
    answer(kRefuse);
#endif
  }

  void answer_call(long number, std::uint32_t action) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1);
    answer(action);
  }

  template <std::size_t N>
  void refuse(const long (&numbers)[N]) {
    for (const long number : numbers) answer_call(number, kRefuse);
  }

  /// `then` where the low word of an argument is among the values, `otherwise` where not.
  void by_argument(long number, int argument, const std::vector<std::uint32_t>& values, std::uint32_t then,
                   std::uint32_t otherwise) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0,
        static_cast<unsigned char>(2 * values.size() + 2));
    load(offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(argument));
    for (const std::uint32_t value : values) {
      add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
      answer(then);
    }
    answer(otherwise);
  }

  /// `then` where any of the bits is set in an argument, `otherwise` where none is.
  void by_bits(long number, int argument, std::uint32_t bits, std::uint32_t then, std::uint32_t otherwise) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 4);
    load(offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(argument));
    add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    answer(then);
    answer(otherwise);
  }

  Result<void> install() {
    answer(kAllow);
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0) {
      return {};
    }
    return Error{ErrorKind::environment, std::string("sandbox: seccomp: ") + std::strerror(errno)};
  }

 private:
  void add(int code, std::uint32_t value, unsigned char if_true, unsigned char if_false) {
    code_.push_back(sock_filter{static_cast<unsigned short>(code), if_true, if_false, value});
  }
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset), 0, 0); }
  void load_number() { load(offsetof(seccomp_data, nr)); }
  void answer(std::uint32_t action) { add(BPF_RET | BPF_K, action, 0, 0); }

  std::vector<sock_filter> code_;
};

void add_sockets(Program& program, bool local) {
  if (!defends("seccomp_sockets")) return;
  if (local) {
    program.by_argument(SYS_socket, 0, {AF_UNIX, AF_NETLINK}, kAllow, kRefuse);
  } else {
    program.answer_call(SYS_socket, kRefuse);
  }
}

void add_mounts(Program& program) {
  if (!defends("seccomp_mounts")) return;
  program.refuse(kMounts);
}

/// clone3 keeps its flags in memory, where a filter can't look; libc then takes clone.
void add_clone(Program& program, bool leaf) {
  if (!defends(leaf ? "seccomp_leaf" : "seccomp_mounts")) return;
  program.answer_call(SYS_clone3, kUnknown);
  if (leaf) {
    program.by_bits(SYS_clone, 0, CLONE_THREAD, kAllow, kRefuse);
  } else {
    program.by_bits(SYS_clone, 0, kNamespaceFlags, kRefuse, kAllow);
  }
}

/// Signals and limits reach this process only; descriptors signal nobody.
void add_leaf(Program& program) {
  if (!defends("seccomp_leaf")) return;
  program.refuse(kLeaf);
  const auto self = static_cast<std::uint32_t>(::getpid());
  for (const long number : {SYS_kill, SYS_tgkill}) program.by_argument(number, 0, {self}, kAllow, kRefuse);
  for (const long number : {SYS_prlimit64, SYS_sched_setaffinity}) {
    program.by_argument(number, 0, {0, self}, kAllow, kRefuse);
  }
  program.by_argument(SYS_fcntl, 1, {F_SETOWN, 10 /* F_SETSIG */, 15 /* F_SETOWN_EX */}, kRefuse, kAllow);
  program.by_argument(SYS_prctl, 0, {PR_SET_PDEATHSIG}, kRefuse, kAllow);
}

}  // namespace

Result<void> install_filter(Filter filter, FilterOptions options) {
  Program program;
  if (defends("seccomp_trace")) program.refuse(kTracing);
  if (defends("seccomp_kernel")) program.refuse(kKernel);
  const bool leaf = filter == Filter::leaf;
  add_sockets(program, options.local && (!leaf || options.gpu));
  if (leaf && !options.gpu && defends("seccomp_sockets")) program.answer_call(SYS_socketpair, kRefuse);
  if (!options.local && defends("seccomp_sockets")) {
    for (const long number : {SYS_shmget, SYS_msgget, SYS_semget, SYS_mq_open}) program.answer_call(number, kRefuse);
  }
  if (filter != Filter::server) {
    add_mounts(program);
    add_clone(program, leaf);
  }
  if (leaf) add_leaf(program);
  // Characters put into a terminal's input are run by whoever sits there.
  if (defends("seccomp_kernel")) {
    program.by_argument(SYS_ioctl, 1, {TIOCSTI, 0x541C /* TIOCLINUX */, 0x8901 /* FIOSETOWN */, 0x8902 /* SIOCSPGRP */},
                        kRefuse, kAllow);
  }
  return program.install();
}

}  // namespace kagent::sandbox
