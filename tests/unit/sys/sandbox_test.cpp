// SPDX-License-Identifier: Apache-2.0
// The hostile child of these tests is a shell; the escape suite of the sandbox issue goes further.
#include "sys/sandbox.h"

#include <csignal>
#include <thread>

#include "sys/capture.h"
#include "sys/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace kagent::sys {
namespace {

class Sandbox : public testing::Test {
 protected:
  void SetUp() override {
    const auto tier = probe_sandbox();
    if (!tier) GTEST_SKIP() << "no sandbox here: " << tier.error().message;
  }

  std::string run(const std::string& command, const SandboxPolicy& policy = {}) {
    SpawnRequest request;
    request.arguments = {"/bin/sh", "-c", command};
    request.environment = {"PATH=/usr/bin:/bin"};
    auto wrapped = sandboxed(std::move(request), policy, SandboxTier::bubblewrap);
    EXPECT_TRUE(wrapped) << wrapped.error().message;
    auto capture = OutputCapture::start(1 << 16, 1 << 16);
    wrapped->output = (*capture)->writer();
    auto process = Process::spawn(*wrapped);
    (*capture)->close_writer();
    EXPECT_TRUE(process->wait(Process::Clock::now() + std::chrono::seconds(20)));
    process->kill();
    (*capture)->finish(2000);
    return (*capture)->text();
  }
};

TEST_F(Sandbox, IsNobodyWithoutCapabilities) {
  const std::string said = run("id -u; grep CapEff /proc/self/status; grep NoNewPrivs /proc/self/status");
  EXPECT_NE(said.find("CapEff:\t0000000000000000"), std::string::npos) << said;
  EXPECT_NE(said.find("NoNewPrivs:\t1"), std::string::npos) << said;
  EXPECT_NE(said.rfind("0\n", 0), 0u) << said;
}

TEST_F(Sandbox, SeesOnlyWhatIsNamed) {
  const auto folder = TemporaryDirectory::create("kagent-test");
  ASSERT_TRUE(write_file_atomically(folder->path() / "secret", "sesame"));
  ASSERT_TRUE(show_to_sandbox_user(folder->path()));
  SandboxPolicy policy;
  EXPECT_EQ(run("cat " + (folder->path() / "secret").string() + " 2>/dev/null"), "");
  policy.read_only.push_back({folder->path(), "/given"});
  EXPECT_EQ(run("cat /given/secret; echo x 2>/dev/null > /given/secret || echo refused", policy),
            "sesamerefused\n");
  EXPECT_EQ(run("ls / | tr '\\n' ' '").find("home"), std::string::npos);
}

TEST_F(Sandbox, CanRunTheSystemsProgramsBehindTheirLinks) {
  // c++ is a link through /etc/alternatives on Debian; awk too.
  EXPECT_EQ(run("awk 'BEGIN { print 6 * 7 }'; nproc >/dev/null && ls /etc/alternatives >/dev/null && echo fine"),
            "42\nfine\n");
}

TEST_F(Sandbox, WritesOnlyWhereItMay) {
  const auto folder = TemporaryDirectory::create("kagent-test");
  ASSERT_TRUE(give_to_sandbox_user(folder->path()));
  SandboxPolicy policy;
  policy.read_write.push_back({folder->path(), "/workspace"});
  policy.directory = "/workspace";
  EXPECT_EQ(run("echo hello > note && cat note; touch /usr/x /etc/x /x 2>/dev/null || echo refused", policy),
            "hello\nrefused\n");
  const auto note = read_file(folder->path() / "note", 100);
  ASSERT_TRUE(note) << note.error().message;
  EXPECT_EQ(*note, "hello\n");
}

TEST_F(Sandbox, HasNoNetworkAndNoOtherProcesses) {
  const std::string said = run("ls /sys/class/net 2>/dev/null; tail -n +3 /proc/net/dev | grep -v lo:; "
                               "ls /proc | grep -c '^[0-9]'");
  EXPECT_LE(std::stoi(said), 8) << said;
  EXPECT_EQ(run("cat /proc/1/environ 2>/dev/null"), "");
}

TEST_F(Sandbox, RefusesRemountAndKernelSettings) {
  EXPECT_EQ(run("mount -o remount,rw,bind /usr 2>/dev/null || echo refused"), "refused\n");
  EXPECT_EQ(run("echo x 2>/dev/null > /proc/sys/kernel/hostname || echo refused"), "refused\n");
  EXPECT_EQ(run("unshare -Urm mount -o remount,rw,bind /usr 2>/dev/null || echo refused"), "refused\n");
}

TEST_F(Sandbox, LeavesNobodyBehind) {
  const auto folder = TemporaryDirectory::create("kagent-test");
  ASSERT_TRUE(give_to_sandbox_user(folder->path()));
  SandboxPolicy policy;
  policy.read_write.push_back({folder->path(), "/workspace"});
  run("setsid sh -c 'while sleep 0.05; do echo . >> /workspace/beat; done' & sleep 0.3", policy);
  const auto size = std::filesystem::file_size(folder->path() / "beat");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(std::filesystem::file_size(folder->path() / "beat"), size);
}

TEST_F(Sandbox, NamesAMountThatIsMissing) {
  SandboxPolicy policy;
  policy.read_only.push_back({"/no/such/folder", "/given"});
  SpawnRequest request;
  request.arguments = {"/bin/true"};
  const auto wrapped = sandboxed(std::move(request), policy, SandboxTier::bubblewrap);
  ASSERT_FALSE(wrapped);
  EXPECT_EQ(wrapped.error().message, "sandbox: /no/such/folder is missing");
}

}  // namespace
}  // namespace kagent::sys
