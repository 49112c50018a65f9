// SPDX-License-Identifier: Apache-2.0
#include "toolbox/bash_tool.h"

#include "base/hash.h"
#include "fakes/fake_shell.h"
#include "fakes/test_folder.h"

#include <gtest/gtest.h>

namespace kagent::toolbox {
namespace {

class Bash : public ::testing::Test {
 protected:
  fakes::TestFolder test;
  sys::ConfinedFolder folder = *sys::ConfinedFolder::open(test.path());
  fakes::FakeShell shell;
  BashTool bash{shell, folder};
};

TEST_F(Bash, ShowsOutputAndHowItEnded) {
  shell.outcome = {ShellEnd::exited, 3, "\x1b[31mno such file\x1b[0m", 12};
  const ToolOutcome outcome = bash.run(R"({"command": "ls x", "timeout": 5})");
  EXPECT_EQ(outcome.text, "no such file\n[exit code 3]");
  EXPECT_FALSE(outcome.is_error)
      << "the tool worked; what the command said is for the model to judge";
  EXPECT_EQ(shell.last_command, "ls x");
  EXPECT_EQ(shell.last_timeout, std::chrono::seconds(5));
}

TEST_F(Bash, TellsOtherEnds) {
  shell.outcome = {ShellEnd::timed_out, 0, "", 0};
  EXPECT_NE(bash.run(R"({"command": "sleep 999"})").text.find("still running after 120 s"),
            std::string::npos);
  shell.outcome = {ShellEnd::killed, 9, "", 0};
  EXPECT_EQ(bash.run(R"({"command": "x"})").text, "[killed by signal 9]");
  shell.error = Error{ErrorKind::environment, "bwrap not found"};
  EXPECT_TRUE(bash.run(R"({"command": "x"})").is_error);
}

TEST_F(Bash, KeepsLongOutputInALog) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "line " + std::to_string(i) + "\n";
  shell.outcome = {ShellEnd::exited, 0, text, text.size()};
  const ToolOutcome outcome = bash.run(R"({"command": "make"})");
  EXPECT_LT(outcome.text.size(), 18u << 10);
  const std::string log = ".logs/bash-" + base::sha256_hex(text).substr(0, 8) + ".txt";
  EXPECT_NE(outcome.text.find("all of it is in " + log), std::string::npos);
  EXPECT_EQ(test.read(log), text);
  EXPECT_EQ(bash.run(R"({"command": "make"})").text, outcome.text)
      << "being stuck must read the same";
}

TEST_F(Bash, DoesNotNameALogThatCannotBeWritten) {
  std::filesystem::create_directory_symlink("/tmp", test / ".logs");
  shell.outcome = {ShellEnd::exited, 0, std::string(40000, 'x'), 40000};
  const ToolOutcome outcome = bash.run(R"({"command": "make"})");
  EXPECT_NE(outcome.text.find("bytes left out …]"), std::string::npos);
  EXPECT_EQ(outcome.text.find(".logs"), std::string::npos);
}

TEST_F(Bash, RefusesBadArguments) {
  EXPECT_TRUE(bash.run(R"({"cmd": "ls"})").malformed);
  EXPECT_TRUE(bash.run(R"({"command": "ls", "timeout": 601})").malformed);
  EXPECT_TRUE(bash.run(R"({"command": " "})").is_error);
  EXPECT_TRUE(shell.last_command.empty());
}

}  // namespace
}  // namespace kagent::toolbox
