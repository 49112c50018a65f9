// SPDX-License-Identifier: Apache-2.0
// like_a_container docker|user PROGRAM ARGUMENT...: runs a program as a plain container would.
//   docker  root with Docker's default capabilities, and no system call that makes namespaces or mounts
//   user    the same as user 1234, without any capability
// Exit code 77: this machine cannot pretend (not root, or the program cannot be reached by that user).
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr int kCannotPretend = 77;
// What Docker leaves to root in a container unless told otherwise.
constexpr int kDockerCapabilities[] = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_FSETID,  CAP_FOWNER,   CAP_MKNOD,
                                       CAP_NET_RAW, CAP_SETGID,      CAP_SETUID,  CAP_SETFCAP,  CAP_SETPCAP,
                                       CAP_NET_BIND_SERVICE, CAP_SYS_CHROOT, CAP_KILL, CAP_AUDIT_WRITE};

bool keeps(int capability) {
  for (const int kept : kDockerCapabilities) {
    if (kept == capability) return true;
  }
  return false;
}

bool drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct words[2] = {};
  for (int capability = 0; capability < 64; ++capability) {
    if (keeps(capability)) {
      words[capability / 32].effective |= 1u << (capability % 32);
      words[capability / 32].permitted |= 1u << (capability % 32);
    } else {
      ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    }
  }
  return ::syscall(SYS_capset, &header, words) == 0;
}

bool refuse_namespaces() {
  constexpr auto kRefuse = static_cast<std::uint32_t>(SECCOMP_RET_ERRNO | EPERM);
  constexpr std::uint32_t kFlags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                                   CLONE_NEWCGROUP;
  std::vector<sock_filter> code{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long number : {SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root}) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, kRefuse));
  }
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(SYS_clone3), 0, 1));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, static_cast<std::uint32_t>(SECCOMP_RET_ERRNO | ENOSYS)));
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(SYS_clone), 0, 3));
  code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kFlags, 0, 1));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, kRefuse));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, static_cast<std::uint32_t>(SECCOMP_RET_ALLOW)));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 3) return 2;
  const bool user = std::string(arguments[1]) == "user";
  if (::geteuid() != 0 || !drop_capabilities()) return kCannotPretend;
  if (user && (::setgroups(0, nullptr) != 0 || ::setresgid(1234, 1234, 1234) != 0 || ::setresuid(1234, 1234, 1234) != 0)) {
    return kCannotPretend;
  }
  if (!refuse_namespaces()) return kCannotPretend;
  ::execv(arguments[2], arguments + 2);
  std::fprintf(stderr, "SKIPPED LOUDLY: %s cannot be run as that user\n", arguments[2]);
  return kCannotPretend;
}
