// SPDX-License-Identifier: Apache-2.0
// What a child sees and may, in each tier that holds here; tests/escape tries to get out.
#include "sandbox/child.h"

#include <csignal>
#include <thread>

#include "sandbox/probe.h"
#include "sys/capture.h"
#include "sys/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace kagent::sandbox {
using sys::give_to_sandbox_user;
using sys::read_file;
using sys::show_to_sandbox_user;
using sys::TemporaryDirectory;
using sys::write_file_atomically;

namespace {

class Sandbox : public testing::TestWithParam<Tier> {
 protected:
  void SetUp() override {
    const auto holding = probe(GetParam());
    if (!holding) GTEST_SKIP() << holding.error().message;
  }

  std::string run(const std::string& command, const Policy& policy = {}) {
    sys::SpawnRequest request;
    request.arguments = {"/bin/sh", "-c", command};
    request.environment = {"PATH=/usr/bin:/bin", "TMPDIR=/tmp"};
    auto capture = sys::OutputCapture::start(1 << 16, 1 << 16);
    request.output = (*capture)->writer();
    auto child = Child::start(std::move(request), policy, GetParam());
    EXPECT_TRUE(child) << child.error().message;
    if (!child) return {};
    (*capture)->close_writer();
    status_ = child->wait(Child::Clock::now() + std::chrono::seconds(20));
    EXPECT_TRUE(status_);
    child->kill();
    (*capture)->finish(2000);
    return (*capture)->text();
  }

  std::optional<sys::ExitStatus> status_;
};

INSTANTIATE_TEST_SUITE_P(Tiers, Sandbox, testing::Values(Tier::bubblewrap, Tier::namespaces, Tier::landlock),
                         [](const auto& tier) { return std::string(word(tier.param)); });

TEST_P(Sandbox, TellsTheProgramsOwnStatus) {
  run("exit 3");
  EXPECT_EQ(status_->code, 3);
  run("exit 139");
  EXPECT_EQ(status_->code, 139);
  run("kill -SEGV $$");
  EXPECT_EQ(status_->signal, SIGSEGV);
}

TEST_P(Sandbox, IsNobodyWithoutCapabilities) {
  const std::string said = run("id -u; cat /proc/self/status");
  for (const char* set : {"CapEff", "CapPrm", "CapInh", "CapAmb"}) {
    EXPECT_NE(said.find(std::string(set) + ":\t0000000000000000"), std::string::npos) << said;
  }
  EXPECT_NE(said.find("NoNewPrivs:\t1"), std::string::npos) << said;
  EXPECT_NE(said.find("Seccomp:\t2"), std::string::npos) << said;
  EXPECT_NE(said.rfind("0\n", 0), 0u) << said;
}

TEST_P(Sandbox, SeesOnlyWhatIsNamed) {
  if (!has_own_root(GetParam())) GTEST_SKIP() << "sees the host's names, and can open none of them: tests/escape";
  const auto folder = TemporaryDirectory::create("kagent-test");
  ASSERT_TRUE(write_file_atomically(folder->path() / "secret", "sesame"));
  ASSERT_TRUE(show_to_sandbox_user(folder->path()));
  Policy policy;
  EXPECT_EQ(run("cat " + (folder->path() / "secret").string() + " 2>/dev/null"), "");
  policy.read_only.push_back({folder->path(), "/given"});
  EXPECT_EQ(run("cat /given/secret; echo x 2>/dev/null > /given/secret || echo refused", policy),
            "sesamerefused\n");
  EXPECT_EQ(run("ls / | tr '\\n' ' '").find("home"), std::string::npos);
}

TEST_P(Sandbox, CanRunTheSystemsProgramsBehindTheirLinks) {
  // c++ is a link through /etc/alternatives on Debian; awk too.
  EXPECT_EQ(run("awk 'BEGIN { print 6 * 7 }'; nproc >/dev/null && ls /etc/alternatives >/dev/null && echo fine"),
            "42\nfine\n");
}

TEST_P(Sandbox, WritesOnlyWhereItMay) {
  if (!has_own_root(GetParam())) GTEST_SKIP() << "tests/escape";
  const auto folder = TemporaryDirectory::create("kagent-test");
  ASSERT_TRUE(give_to_sandbox_user(folder->path()));
  Policy policy;
  policy.read_write.push_back({folder->path(), "/workspace"});
  policy.directory = "/workspace";
  EXPECT_EQ(run("echo hello > note && cat note; touch /usr/x /etc/x /x 2>/dev/null || echo refused", policy),
            "hello\nrefused\n");
  const auto note = read_file(folder->path() / "note", 100);
  ASSERT_TRUE(note) << note.error().message;
  EXPECT_EQ(*note, "hello\n");
}

TEST_P(Sandbox, HasNoNetworkAndNoOtherProcesses) {
  if (!has_own_root(GetParam())) GTEST_SKIP() << "shares the host's list of processes";
  const std::string said = run("ls /sys/class/net 2>/dev/null; tail -n +3 /proc/net/dev | grep -v lo:; "
                               "ls /proc | grep -c '^[0-9]'");
  EXPECT_LE(std::stoi(said), 8) << said;
  EXPECT_EQ(run("cat /proc/1/environ 2>/dev/null"), "");
}

TEST_P(Sandbox, RefusesRemountAndKernelSettings) {
  EXPECT_EQ(run("mount -o remount,rw,bind /usr 2>/dev/null || echo refused"), "refused\n");
  EXPECT_EQ(run("echo x 2>/dev/null > /proc/sys/kernel/hostname || echo refused"), "refused\n");
  EXPECT_EQ(run("unshare -Urm mount -o remount,rw,bind /usr 2>/dev/null || echo refused"), "refused\n");
}

TEST_P(Sandbox, NamesAMountThatIsMissing) {
  Policy policy;
  policy.read_only.push_back({"/no/such/folder", "/given"});
  sys::SpawnRequest request;
  request.arguments = {"/bin/true"};
  auto child = Child::start(std::move(request), policy, GetParam());
  if (GetParam() != Tier::bubblewrap) return;   // the launcher says it: TellsWhatTheLauncherCannotDo
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().message, "sandbox: /no/such/folder is missing");
}

TEST_P(Sandbox, TellsWhatTheLauncherCannotDo) {
  Policy policy;
  policy.directory = "/no/such/folder";
  const std::string said = run("true", policy);
  EXPECT_EQ(status_->code, kLauncherFailed);
  EXPECT_NE(said.find("sandbox: /no/such/folder: No such file or directory"), std::string::npos) << said;
}

TEST(SandboxTiers, HaveNames) {
  for (const Tier tier : {Tier::bubblewrap, Tier::namespaces, Tier::landlock, Tier::none}) {
    const auto found = tier_of(word(tier));
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, tier);
  }
  EXPECT_FALSE(tier_of("jail"));
}

}  // namespace
}  // namespace kagent::sandbox
