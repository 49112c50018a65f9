// SPDX-License-Identifier: Apache-2.0
// With any single defence left out, an attack gets through: every row tests something, and no defence is idle.
#include <cstdlib>

#include "attack_run.h"
#include "sandbox/defence.h"
#include "sandbox/probe.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace kagent::escape {
namespace {

using sandbox::Tier;

struct Hole {
  const char* defence;
  Tier tier;
  const char* role;
  const char* attack;   // that gets through without it
};

constexpr Hole kHoles[] = {
    {"own_root", Tier::bubblewrap, "tools", "read_secret"},
    {"own_root", Tier::namespaces, "tools", "read_secret"},
    {"read_only", Tier::bubblewrap, "tools", "change_frozen"},
    {"read_only", Tier::namespaces, "leaf", "change_frozen"},
    {"user", Tier::namespaces, "tools", "kernel_settings"},
    {"user_namespace", Tier::bubblewrap, "leaf", "be_server_user"},
    {"pid_namespace", Tier::bubblewrap, "tools", "signal_others"},
    {"network_namespace", Tier::bubblewrap, "tools", "abstract_socket"},
    {"network_namespace", Tier::namespaces, "tools", "abstract_socket"},
    {"ipc_namespace", Tier::bubblewrap, "tools", "shared_memory"},
    {"seccomp_trace", Tier::bubblewrap, "tools", "trace"},
    {"seccomp_sockets", Tier::bubblewrap, "tools", "other_sockets"},
    {"seccomp_sockets", Tier::landlock, "tools", "udp"},
    {"seccomp_mounts", Tier::bubblewrap, "tools", "change_mounts"},
    {"seccomp_kernel", Tier::bubblewrap, "tools", "kernel_keys"},
    {"seccomp_leaf", Tier::bubblewrap, "leaf", "new_program"},
    {"landlock", Tier::landlock, "tools", "read_secret"},
    {"landlock", Tier::landlock, "leaf", "change_frozen"},
    {"capabilities", Tier::bubblewrap, "leaf", "other_user"},
    {"fresh_namespaces", Tier::bubblewrap, "leaf", "find_server"},
    {"child_user", Tier::bubblewrap, "leaf", "be_server_user"},
    {"hidden_parent", Tier::landlock, "leaf", "open_server_memory"},
    {"scratch_limit", Tier::bubblewrap, "tools", "scratch_flood"},
    {"scratch_limit", Tier::namespaces, "tools", "scratch_flood"},
    {"process_limit", Tier::bubblewrap, "tools", "fork_bomb"},
    {"process_limit", Tier::landlock, "leaf", "thread_bomb"},
    {"control_group", Tier::bubblewrap, "tools", "memory_files"},
    {"guardian", Tier::landlock, "tools", "leave_somebody"},
};

class OpenHole {
 public:
  explicit OpenHole(const char* name) { ::setenv(sandbox::kHoleVariable, name, 1); }
  ~OpenHole() { ::unsetenv(sandbox::kHoleVariable); }
};

TEST(Holes, EveryDefenceIsNeeded) {
  int needed = 0;
  for (const auto& hole : kHoles) {
    const auto holding = sandbox::probe(hole.tier);
    if (!holding || (std::string(hole.defence) == "control_group" && !holding->control_group)) continue;
    const TargetsOnHost host;
    const auto closed = run_attack(host, hole.tier, hole.role, hole.attack);
    EXPECT_TRUE(closed.tried && closed.refused) << hole.defence << " in place, " << hole.attack << ": " << closed.how;
    const OpenHole open(hole.defence);
    const auto through = run_attack(host, hole.tier, hole.role, hole.attack);
    EXPECT_FALSE(through.refused) << "without " << hole.defence << " (" << sandbox::word(hole.tier) << "), " << hole.role
                                  << "'s " << hole.attack << " is still refused: " << through.how;
    needed += through.refused ? 0 : 1;
  }
  std::printf("%d of %zu defences left out: an attack got through\n", needed, std::size(kHoles));
}

TEST(Holes, DeathWithParentIsNeeded) {
  if (!sandbox::probe(Tier::bubblewrap)) GTEST_SKIP();
  const OpenHole open("death_with_parent");
  const TargetsOnHost host;
  const int pid = ::fork();
  if (pid == 0) {
    static_cast<void>(run_attack(host, Tier::bubblewrap, "tools", "stay"));
    ::_exit(0);
  }
  ::usleep(1'500'000);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  ::usleep(300'000);
  EXPECT_TRUE(host.still_beats());
}

}  // namespace
}  // namespace kagent::escape
