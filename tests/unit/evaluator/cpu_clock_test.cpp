// SPDX-License-Identifier: Apache-2.0
// The clock from outside against workers whose calls take a known time, lie, or never end.
#include "evaluator/cpu_clock.h"

#include <functional>
#include <thread>

#include <sys/eventfd.h>

#include <gtest/gtest.h>

namespace kagent::evaluator {
namespace {

using std::chrono::milliseconds;
using Timed = std::variant<std::vector<Sample>, Fault, Error, Breakdown>;

struct Peer {
  wire::Channel& channel;
  int calls;
  int go;
  int done;
};

Timed time_against(int calls, milliseconds timeout, const std::function<void(Peer)>& behave) {
  auto ends = std::move(*wire::Channel::pair());
  std::thread peer([&] {
    auto received = ends.second.receive();
    const auto& frame = std::get<wire::Frame>(received);
    behave({ends.second, frame.body.at("calls").get<int>(), frame.descriptors.at(0).get(),
            frame.descriptors.at(1).get()});
  });
  Timed timed = time_calls(ends.first, "runner", {{"type", "loop"}, {"set", 0}}, calls, timeout);
  peer.join();
  return timed;
}

void loop(Peer peer, milliseconds work) {
  for (int i = 0; i < peer.calls; ++i) {
    eventfd_t count = 0;
    eventfd_write(peer.done, 1);   // ready
    eventfd_read(peer.go, &count);
    std::this_thread::sleep_for(work);
    eventfd_write(peer.done, 1);
  }
}

TEST(CpuClock, TimesEachCallAndNotWhatIsBetween) {
  const Timed timed = time_against(5, milliseconds(5000), [](Peer peer) {
    loop(peer, milliseconds(10));
    EXPECT_TRUE(peer.channel.send({{"ok", nlohmann::json::object()}}));
  });
  const auto& samples = std::get<std::vector<Sample>>(timed);
  ASSERT_EQ(samples.size(), 5u);
  for (const auto& sample : samples) EXPECT_GE(sample.span_us, 10000);
}

TEST(CpuClock, AnAnswerBeforeTheCallsIsNoTime) {
  const Timed timed = time_against(3, milliseconds(5000), [](Peer peer) {
    EXPECT_TRUE(peer.channel.send({{"ok", {{"samples", {1, 2, 3}}}}}));
  });
  EXPECT_EQ(std::get<Breakdown>(timed).kind, BreakdownKind::malformed);
}

TEST(CpuClock, ACallThatNeverEndsIsATimeout) {
  const Timed timed = time_against(1, milliseconds(100), [](Peer peer) {
    eventfd_write(peer.done, 1);
    std::this_thread::sleep_for(milliseconds(300));
  });
  EXPECT_EQ(std::get<Breakdown>(timed).kind, BreakdownKind::timeout);
}

TEST(CpuClock, AFaultDuringTheLoopIsTheCandidates) {
  const Timed timed = time_against(2, milliseconds(5000), [](Peer peer) {
    eventfd_write(peer.done, 1);
    EXPECT_TRUE(peer.channel.send({{"fault", {{"kind", "crash"}, {"message", "threw"}}}}));
  });
  EXPECT_EQ(std::get<Fault>(timed).kind, FaultKind::crash);
}

}  // namespace
}  // namespace kagent::evaluator
