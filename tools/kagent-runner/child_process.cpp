// SPDX-License-Identifier: Apache-2.0
#include "child_process.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kagent::runner {
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

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}
sock_filter answer(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
sock_filter skip_unless_equal(std::uint32_t value, unsigned char skip) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip);
}

constexpr std::size_t kNumber = offsetof(seccomp_data, nr);
constexpr std::size_t kFirstArgument = offsetof(seccomp_data, args);

constexpr std::array kRefused {
  SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_process_madvise, SYS_pidfd_open,
      SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_kcmp, SYS_execve, SYS_execveat, SYS_socket,
      SYS_socketpair, SYS_io_uring_setup, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl,
      SYS_add_key, SYS_request_key, SYS_unshare, SYS_setns, SYS_mount, SYS_rt_sigqueueinfo,
      SYS_rt_tgsigqueueinfo, SYS_tkill, SYS_process_mrelease,
#if defined(__x86_64__)
      SYS_fork, SYS_vfork,
#endif
};

/// Signals go to this very process only; new threads may start, new processes may not.
std::vector<sock_filter> native_code_filter() {
  std::vector<sock_filter> program{
      load(offsetof(seccomp_data, arch)), skip_unless_equal(kArchitecture, 1),
      BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0), answer(SECCOMP_RET_KILL_PROCESS), load(kNumber)};
#if defined(__x86_64__)
  // The x32 numbers would walk round everything below.
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000u, 0, 1));
  program.push_back(answer(kRefuse));
#endif
  for (const long number : kRefused) {
    program.push_back(skip_unless_equal(static_cast<std::uint32_t>(number), 1));
    program.push_back(answer(kRefuse));
  }
  // clone3 has its flags in memory, where a filter can't look; glibc then takes clone.
  program.push_back(skip_unless_equal(SYS_clone3, 1));
  program.push_back(answer(SECCOMP_RET_ERRNO | ENOSYS));
  program.push_back(skip_unless_equal(SYS_clone, 4));
  program.push_back(load(kFirstArgument));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1));
  program.push_back(answer(kAllow));
  program.push_back(answer(kRefuse));
  const auto self = static_cast<std::uint32_t>(::getpid());
  for (const long number : {SYS_kill, SYS_tgkill}) {
    program.push_back(skip_unless_equal(static_cast<std::uint32_t>(number), 4));
    program.push_back(load(kFirstArgument));
    program.push_back(skip_unless_equal(self, 1));
    program.push_back(answer(kAllow));
    program.push_back(answer(kRefuse));
  }
  // prlimit64 of somebody else.
  program.push_back(skip_unless_equal(SYS_prlimit64, 4));
  program.push_back(load(kFirstArgument));
  program.push_back(skip_unless_equal(0, 1));
  program.push_back(answer(kAllow));
  program.push_back(answer(kRefuse));
  program.push_back(answer(kAllow));
  return program;
}

bool confine_native_code() {
  std::vector<sock_filter> filter = native_code_filter();
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

bool isolate_child(int parent, const sys::Fd& socket, ChildCode code) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return false;  // it died before we asked
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const auto kept = static_cast<unsigned>(socket.get());
  if (kept > 3) ::close_range(3, kept - 1, 0);
  ::close_range(kept + 1, ~0u, 0);
  if (code == ChildCode::native) return confine_native_code();
  // A driver may want to read what /proc says about this process; nothing of a candidate runs on
  // the host here.
  ::prctl(PR_SET_DUMPABLE, 1);
  return true;
}

void hide_from_siblings() { ::prctl(PR_SET_DUMPABLE, 0); }

}  // namespace kagent::runner
