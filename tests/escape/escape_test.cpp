// SPDX-License-Identifier: Apache-2.0
// Every attack, from every role, in every tier that this machine can do.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "attack_run.h"
#include "sandbox/child.h"
#include "sandbox/landlock.h"
#include "sandbox/probe.h"
#include "sys/files.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace kagent::escape {
namespace {

using sandbox::Tier;

/// Rows that a tier does not claim (docs/sandbox.md): without namespaces a child shares its server's user and
/// processes, which is why servers are not used for a second candidate there.
bool is_claimed(Tier tier, const std::string& role, const std::string& name, const sandbox::Holding& holding) {
  if (name == "stay") return false;   // for the test of a killed parent
  if (name == "new_program") return role == "leaf";
  const bool of_fresh_children = name == "find_server" || name == "be_server_user";
  if (of_fresh_children) return holding.fresh_children && (name == "find_server" || ::geteuid() == 0);
  if (name == "memory_files") return holding.control_group;
  if (tier == Tier::landlock && name == "signal_others") return holding.landlock_version >= 6;
  return true;
}

void attack_everywhere(Tier tier) {
  const auto holding = sandbox::probe(tier);
  if (!holding) {
    std::fprintf(stderr, "SKIPPED LOUDLY: %s\n", holding.error().message.c_str());
    GTEST_SKIP() << holding.error().message;
  }
  int refused = 0;
  for (const std::string role : kRoles) {
    for (const auto& [name, attack] : attacks()) {
      if (!is_claimed(tier, role, name, *holding)) continue;
      const TargetsOnHost host;
      const auto result = run_attack(host, tier, role, name);
      EXPECT_TRUE(result.tried) << sandbox::word(tier) << " " << role << " " << name << ": not tried: " << result.how;
      EXPECT_TRUE(result.refused) << sandbox::word(tier) << " " << role << " " << name << ": " << result.how;
      refused += result.refused ? 1 : 0;
    }
  }
  std::printf("%s: %d attacks refused from %zu roles\n", sandbox::word(tier), refused, std::size(kRoles));
}

TEST(Escape, Bubblewrap) { attack_everywhere(Tier::bubblewrap); }
TEST(Escape, Namespaces) { attack_everywhere(Tier::namespaces); }
TEST(Escape, Landlock) { attack_everywhere(Tier::landlock); }

TEST(Escape, AtLeastTwoTiersAreTested) {
  int held = 0;
  for (const Tier tier : {Tier::bubblewrap, Tier::namespaces, Tier::landlock}) held += sandbox::probe(tier) ? 1 : 0;
  if (held < 2) GTEST_SKIP() << "only " << held << " tier holds on this machine";
}

/// Run by like_a_container alone.
TEST(Escape, OnlyLandlockHoldsHere) {
  if (std::getenv("KAGENT_TEST_IN_CONTAINER") == nullptr) GTEST_SKIP() << "for like_a_container";
  EXPECT_FALSE(sandbox::probe(Tier::bubblewrap));
  EXPECT_FALSE(sandbox::probe(Tier::namespaces));
  const auto best = sandbox::probe_best();
  if (sandbox::landlock_version() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  ASSERT_TRUE(best) << best.error().message;
  EXPECT_EQ(best->tier, Tier::landlock);
  EXPECT_FALSE(best->fresh_children);
}

/// As if kagent were killed with SIGKILL: nothing of the tree may live on.
TEST(Escape, NobodyOutlivesAKilledParent) {
  for (const Tier tier : {Tier::bubblewrap, Tier::namespaces, Tier::landlock}) {
    if (!sandbox::probe(tier)) continue;
    const TargetsOnHost host;
    host.forget_beat();
    const int pid = ::fork();
    if (pid == 0) {
      static_cast<void>(run_attack(host, tier, "tools", "stay"));   // lasts a minute
      ::_exit(0);
    }
    ::usleep(1'500'000);
    ASSERT_TRUE(host.still_beats()) << sandbox::word(tier);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    ::usleep(500'000);
    EXPECT_FALSE(host.still_beats()) << sandbox::word(tier);
  }
}

/// Processes of this machine that name `text` on their command line.
int processes_naming(const std::string& text) {
  int found = 0;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", code)) {
    const auto line = sys::read_file(entry.path() / "cmdline", 1 << 20);
    found += line && line->find(text) != std::string::npos ? 1 : 0;
  }
  return found;
}

/// Also while the tree is only being made.
TEST(Escape, NobodyOutlivesAParentKilledAtAnyMoment) {
  for (const Tier tier : {Tier::bubblewrap, Tier::namespaces, Tier::landlock}) {
    if (!sandbox::probe(tier)) continue;
    const TargetsOnHost host;
    for (int moment = 0; moment < 60; ++moment) {
      const int pid = ::fork();
      if (pid == 0) {
        static_cast<void>(run_attack(host, tier, "tools", "stay"));
        ::_exit(0);
      }
      ::usleep(static_cast<unsigned>(moment) * 400);
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
    const std::string folder = std::filesystem::path(host.seen_from(Tier::none).own_folder).parent_path();
    int left = 1;
    for (int wait = 0; wait < 30 && left > 0; ++wait) {
      ::usleep(100'000);
      left = processes_naming(folder);
    }
    EXPECT_EQ(left, 0) << sandbox::word(tier);
  }
}

}  // namespace
}  // namespace kagent::escape
