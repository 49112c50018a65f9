// SPDX-License-Identifier: Apache-2.0
#include "sys/lock_file.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "sys/files.h"

namespace kagent::sys {
namespace {

std::size_t tickets(const std::filesystem::path& lock) {
  std::error_code code;
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(lock.string() + ".queue", code)) {
    count += entry.path().filename().string().front() != '.' ? 1 : 0;
  }
  return count;
}

void wait_for_tickets(const std::filesystem::path& lock, std::size_t count) {
  for (int i = 0; i < 500 && tickets(lock) != count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_EQ(tickets(lock), count);
}

TEST(LockFile, WhoCameFirstIsServedFirst) {
  auto folder = TemporaryDirectory::create("lock-test");
  ASSERT_TRUE(folder);
  const auto path = folder->path() / "device.lock";
  std::optional<LockFile> held;
  held.emplace(std::move(*LockFile::acquire(path)));
  std::mutex mutex;
  std::vector<int> served;
  std::vector<std::thread> waiters;
  for (int number = 0; number < 4; ++number) {
    waiters.emplace_back([&, number] {
      const auto lock = LockFile::acquire(path);
      const std::lock_guard<std::mutex> guard(mutex);
      served.push_back(number);
    });
    wait_for_tickets(path, static_cast<std::size_t>(number) + 1);
  }
  held.reset();
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(tickets(path), 0u);
}

TEST(LockFile, NeitherAKilledHolderNorAKilledWaiterStopsTheQueue) {
  auto folder = TemporaryDirectory::create("lock-test");
  ASSERT_TRUE(folder);
  const auto path = folder->path() / "device.lock";
  std::vector<pid_t> children;
  for (int number = 0; number < 2; ++number) {   // the first holds, the second waits
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto lock = LockFile::acquire(path);
      if (::write(ready[1], "x", 1) != 1) ::_exit(1);
      ::pause();
      ::_exit(0);
    }
    children.push_back(child);
    char word = 0;
    if (number == 0) {
      ASSERT_EQ(::read(ready[0], &word, 1), 1);
    } else {
      wait_for_tickets(path, 1);
    }
    ::close(ready[0]);
    ::close(ready[1]);
  }
  std::atomic<bool> got = false;
  std::thread third([&] { got = static_cast<bool>(LockFile::acquire(path)); });
  wait_for_tickets(path, 2);
  ::kill(children[1], SIGKILL);   // its ticket stays
  ::waitpid(children[1], nullptr, 0);
  EXPECT_FALSE(got);
  ::kill(children[0], SIGKILL);
  ::waitpid(children[0], nullptr, 0);
  third.join();
  EXPECT_TRUE(got);
  EXPECT_EQ(tickets(path), 0u);
}

TEST(LockFile, AWaitThatIsStoppedLeavesTheQueue) {
  auto folder = TemporaryDirectory::create("lock-test");
  ASSERT_TRUE(folder);
  const auto path = folder->path() / "device.lock";
  const auto held = LockFile::acquire(path);
  ASSERT_TRUE(held);
  int stop[2];
  ASSERT_EQ(::pipe(stop), 0);
  ASSERT_EQ(::write(stop[1], "x", 1), 1);
  const auto second = LockFile::acquire(path, stop[0]);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::interrupted);
  EXPECT_EQ(tickets(path), 0u);
  ::close(stop[0]);
  ::close(stop[1]);
}

}  // namespace
}  // namespace kagent::sys
