// SPDX-License-Identifier: Apache-2.0
// Timing from outside by two eventfds, as docs/protocol.md has it.
#include "runner_fixture.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>

namespace kagent::testing {
namespace {

using LoopTest = RunnerTest;
using Clock = std::chrono::steady_clock;

// Sleeps `milliseconds`, then y[0] = x[0] + 1.
constexpr const char* kSource = R"(
#include <cstdint>
#include <time.h>
extern "C" void kagent_launch_0(const void* const* a, const std::int64_t*) {
  const int ms = *static_cast<const int*>(a[2]);
  timespec t{ms / 1000, (ms % 1000) * 1000000L};
  nanosleep(&t, nullptr);
  **static_cast<float* const*>(a[0]) = **static_cast<const float* const*>(a[1]) + 1;
}
)";

bool wait_readable(int fd) {
  pollfd waits{fd, POLLIN, 0};
  return ::poll(&waits, 1, 20'000) == 1;
}

std::uint64_t take(int fd) {
  std::uint64_t count = 0;
  EXPECT_TRUE(wait_readable(fd));
  EXPECT_EQ(::read(fd, &count, sizeof count), static_cast<ssize_t>(sizeof count));
  return count;
}

void give(int fd) {
  const std::uint64_t one = 1;
  EXPECT_EQ(::write(fd, &one, sizeof one), static_cast<ssize_t>(sizeof one));
}

Evaluation sleeping_plan(std::int64_t milliseconds) {
  PlanMaker maker;
  const ValueId x = maker.input(contiguous({1}), bytes_of<float>({41}));
  const int kernel =
      maker.kernel(maker.unit(kSource), 0, "nap", {{"float*"}, {"const float*"}, {"int"}});
  const ValueId y = maker.empty(contiguous({1}));
  maker.launch(kernel, {y, x, milliseconds});
  return maker.finish({y});
}

TEST_F(LoopTest, EachCallWaitsForGoAndSaysReadyAndDone) {
  const Evaluation evaluation = sleeping_plan(30);
  RunnerChild child(server());
  child.start(evaluation);
  const sys::Fd go(::eventfd(0, EFD_CLOEXEC));
  const sys::Fd signal(::eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE));
  child.send({{"type", "loop"}, {"set", 0}, {"calls", 3}, {"touch", 1 << 20}},
             {go.get(), signal.get()});
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(take(signal.get()), 1u);  // ready
    pollfd early{signal.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&early, 1, 20), 0) << "did not wait for go";
    const auto start = Clock::now();
    give(go.get());
    EXPECT_EQ(take(signal.get()), 1u);  // done
    const auto spent = Clock::now() - start;
    EXPECT_GE(spent, std::chrono::milliseconds(30));
    EXPECT_LT(spent, std::chrono::milliseconds(500));
  }
  const Json answer = child.receive(std::chrono::seconds(20));
  ASSERT_TRUE(answer.contains("ok")) << answer.dump();
  EXPECT_EQ(evaluation.outputs.read<float>(0), (std::vector<float>{42}));
  EXPECT_TRUE(child.run().contains("ok"));  // guarded runs work again afterwards
}

TEST_F(LoopTest, ThreadsRestBetweenCalls) {
  PlanMaker maker;
  const std::int64_t n = 512;
  const ValueId x = maker.input(contiguous({n, n}), counting(n * n));
  const ValueId y = maker.op("aten::mm", {{x}, {x}}, contiguous({n, n}));
  const Evaluation evaluation = maker.finish({y});
  RunnerChild child(server());
  child.start(evaluation);
  const sys::Fd go(::eventfd(0, EFD_CLOEXEC));
  const sys::Fd signal(::eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE));
  child.send({{"type", "loop"}, {"set", 0}, {"calls", 2}, {"touch", 0}}, {go.get(), signal.get()});
  take(signal.get());
  give(go.get());
  take(signal.get());
  take(signal.get());  // ready for the second call: nothing may run now
  auto cpu_ticks = [&] {
    std::FILE* file =
        std::fopen(("/proc/" + std::to_string(child.process_id()) + "/stat").c_str(), "r");
    char text[4096] = {};
    const std::size_t bytes = file == nullptr ? 0 : std::fread(text, 1, sizeof text - 1, file);
    if (file != nullptr) std::fclose(file);
    const std::string line(text, bytes);
    long user = -1, system = -1;
    const std::size_t name_end = line.rfind(')');
    if (name_end == std::string::npos) return -1L;
    std::sscanf(line.c_str() + name_end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld",
                &user, &system);
    return user + system;
  };
  const long before = cpu_ticks();
  ASSERT_GE(before, 0);
  ::usleep(300'000);
  EXPECT_LE(cpu_ticks() - before, 2) << "OpenMP's threads spin between calls";
  give(go.get());
  take(signal.get());
  EXPECT_TRUE(child.receive(std::chrono::seconds(20)).contains("ok"));
}

TEST_F(LoopTest, DescriptorsAndNumbersAreChecked) {
  const Evaluation evaluation = sleeping_plan(0);
  RunnerChild child(server());
  child.start(evaluation);
  EXPECT_TRUE(
      child.ask({{"type", "loop"}, {"set", 0}, {"calls", 1}, {"touch", 0}}).contains("error"));
  const sys::Fd event(::eventfd(0, EFD_CLOEXEC));
  const std::vector<int> both{event.get(), event.get()};
  EXPECT_TRUE(child.ask({{"type", "loop"}, {"set", 7}, {"calls", 1}, {"touch", 0}}, both)
                  .contains("error"));
  EXPECT_TRUE(child.ask({{"type", "loop"}, {"set", 0}, {"calls", -1}, {"touch", 0}}, both)
                  .contains("error"));
}

}  // namespace
}  // namespace kagent::testing
