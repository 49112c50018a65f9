// SPDX-License-Identifier: Apache-2.0
// The real shell. Where this machine has no sandbox, only what needs none is tested.
#include "toolbox/sandboxed_shell.h"

#include "fakes/test_folder.h"
#include "sandbox/probe.h"
#include "workspace_for_shell.h"

#include <gtest/gtest.h>

namespace kagent::toolbox {
namespace {

using std::chrono::seconds;

class Shell : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto found = sandbox::probe_best();
    if (!found) GTEST_SKIP() << found.error().message;
    tier = found->tier;
    prepare_for_shell(test);
  }
  ShellOutcome run(const std::string& command, seconds timeout = seconds(20)) {
    SandboxedShell shell(test / "workspace", {"task.py"}, tier);
    auto outcome = shell.run(command, timeout);
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
    return outcome ? *outcome : ShellOutcome{};
  }

  fakes::TestFolder test;
  sandbox::Tier tier = sandbox::Tier::none;
};

TEST_F(Shell, WorksInTheWorkspace) {
  const ShellOutcome outcome = run("pwd; cat task.py; echo new > made.txt; echo bad >&2; exit 4");
  EXPECT_EQ(outcome.output, "/workspace\ntask\nbad\n");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_EQ(test.read("workspace/made.txt"), "new\n");
}

TEST_F(Shell, CannotChangeGivenFiles) {
  const ShellOutcome outcome =
      run("echo x > task.py; rm -f task.py; mv task.py y; chmod 777 task.py; cat task.py");
  EXPECT_EQ(test.read("workspace/task.py"), "task\n");
  EXPECT_NE(outcome.output.find("task\n"), std::string::npos);
}

TEST_F(Shell, SeesNothingElseOfOurs) {
  test.write("candidates/secret", "secret");
  const ShellOutcome outcome = run("ls " + (test / "candidates").string() +
                                   " /root /home /work; env | grep -c KEY; ls /workspace/..");
  EXPECT_EQ(outcome.output.find("secret"), std::string::npos) << outcome.output;
  ::setenv("KAGENT_TEST_KEY", "canary", 1);
  EXPECT_EQ(run("env; cat /proc/*/environ").output.find("canary"), std::string::npos);
}

TEST_F(Shell, KillsWhatFillsTheDisk) {
  const ShellOutcome outcome = run("for i in 1 2 3 4 5; do fallocate -l 1000000000 big$i; done; sleep 20; echo done");
  EXPECT_EQ(outcome.end, ShellEnd::disk_full);
  EXPECT_EQ(outcome.output.find("done"), std::string::npos);
}

TEST_F(Shell, KeepsHeadAndTailOfAFlood) {
  const ShellOutcome outcome = run("echo first; yes | head -c 200000000; echo last", seconds(60));
  EXPECT_GE(outcome.total_bytes, 200'000'000u);
  EXPECT_LT(outcome.output.size(), 5u << 20);
  EXPECT_EQ(outcome.output.rfind("first\n", 0), 0u);
  EXPECT_NE(outcome.output.find("last\n"), std::string::npos);
}

TEST_F(Shell, KillsWhatRunsTooLong) {
  const auto start = std::chrono::steady_clock::now();
  const ShellOutcome outcome = run("echo begun; (sleep 60 &) ; sleep 60", seconds(1));
  EXPECT_EQ(outcome.end, ShellEnd::timed_out);
  EXPECT_EQ(outcome.output, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(15));
}

TEST_F(Shell, DoesNotWaitForWhatIsLeftInTheBackground) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run("sleep 60 & echo done").output, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(15));
}

}  // namespace
}  // namespace kagent::toolbox
