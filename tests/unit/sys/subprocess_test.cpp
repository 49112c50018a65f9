// SPDX-License-Identifier: Apache-2.0
#include "sys/subprocess.h"

#include <csignal>
#include <thread>

#include "sys/capture.h"
#include "sys/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace kagent::sys {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

SpawnRequest shell(const std::string& command) {
  SpawnRequest request;
  request.arguments = {"/bin/sh", "-c", command};
  request.environment = {"PATH=/usr/bin:/bin"};
  return request;
}

struct Finished {
  ExitStatus status;
  std::string output;
};

Finished run(SpawnRequest request) {
  auto capture = OutputCapture::start(1 << 16, 1 << 16);
  request.output = (*capture)->writer();
  auto process = Process::spawn(request);
  EXPECT_TRUE(process) << process.error().message;
  (*capture)->close_writer();
  auto status = process->wait(Process::Clock::now() + seconds(20));
  EXPECT_TRUE(status);
  (*capture)->finish(2000);
  return {status.value_or(ExitStatus{}), (*capture)->text()};
}

bool alive(int pid) { return ::kill(pid, 0) == 0; }

TEST(Process, TellsExitCodeAndSignalApart) {
  EXPECT_EQ(run(shell("exit 7")).status.code, 7);
  const auto killed = run(shell("kill -SEGV $$")).status;
  EXPECT_EQ(killed.signal, SIGSEGV);
  EXPECT_NE(killed.describe().find("signal 11"), std::string::npos);
}

TEST(Process, InheritsNothingButWhatIsNamed) {
  ::setenv("KAGENT_TEST_SECRET", "sesame", 1);
  const Fd leaked(::open("/dev/null", O_RDONLY));  // not close-on-exec, as a careless library opens it
  const Fd far(::fcntl(leaked.get(), F_DUPFD, 700));
  const Fd given(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  SpawnRequest request = shell("env; ls /proc/self/fd | tr '\\n' ' '");
  request.descriptors = {{given.get(), 3}, {given.get(), 7}};
  const auto finished = run(request);
  EXPECT_EQ(finished.output.find("sesame"), std::string::npos);
  // 4 is ls's own descriptor of the folder.
  EXPECT_NE(finished.output.find("0 1 2 3 4 7 "), std::string::npos) << finished.output;
  EXPECT_EQ(finished.output.find("70"), std::string::npos) << finished.output;
  ::unsetenv("KAGENT_TEST_SECRET");
}

TEST(Process, SaysWhyAProgramCannotBeStarted) {
  SpawnRequest request;
  request.arguments = {"/no/such/program"};
  const auto process = Process::spawn(request);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().message, "start /no/such/program: No such file or directory");
}

TEST(Process, WaitEndsAtItsDeadlineAndKillTakesTheGroup) {
  auto capture = OutputCapture::start(4096, 4096);
  SpawnRequest request = shell("sleep 60 & echo $!; wait");
  request.output = (*capture)->writer();
  auto process = Process::spawn(request);
  ASSERT_TRUE(process);
  const auto start = Process::Clock::now();
  EXPECT_FALSE(process->wait(start + milliseconds(200)));
  EXPECT_LT(Process::Clock::now() - start, seconds(5));
  const int grandchild = std::stoi((*capture)->text());
  EXPECT_TRUE(alive(grandchild));
  process->kill();
  for (int i = 0; i < 100 && alive(grandchild); ++i) std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(alive(grandchild));
}

TEST(Process, DiesWithItsOwner) {
  int pid = 0;
  {
    auto process = Process::spawn(shell("sleep 60"));
    ASSERT_TRUE(process);
    pid = process->id();
  }
  EXPECT_FALSE(alive(pid));
}

TEST(Process, LimitsHold) {
  const auto folder = TemporaryDirectory::create("kagent-test");
  SpawnRequest request = shell("head -c 100000 /dev/zero > " + (folder->path() / "big").string());
  request.limits.file_bytes = 1000;
  run(request);
  EXPECT_EQ(std::filesystem::file_size(folder->path() / "big"), 1000u);
}

TEST(OutputCapture, KeepsHeadAndTailOfAFlood) {
  auto capture = OutputCapture::start(10, 20);
  SpawnRequest request = shell("printf begin; head -c 5000000 /dev/zero | tr '\\0' x; printf end");
  request.output = (*capture)->writer();
  auto process = Process::spawn(request);
  ASSERT_TRUE(process);
  (*capture)->close_writer();
  ASSERT_TRUE(process->wait(Process::Clock::now() + seconds(20)));
  (*capture)->finish(5000);
  const std::string text = (*capture)->text();
  EXPECT_EQ(text, "beginxxxxx\n[... 4999978 bytes left out ...]\n" + std::string(17, 'x') + "end");
  EXPECT_EQ((*capture)->total_bytes(), 5000008u);
}

}  // namespace
}  // namespace kagent::sys
