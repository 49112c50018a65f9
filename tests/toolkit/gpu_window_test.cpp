// SPDX-License-Identifier: Apache-2.0
// Windows and intervals on synthetic records.
#include "gpu/timeline_window.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kagent::gpu {
namespace {

constexpr std::uint32_t kFirst = 40;   // ticket of the first sample

/// Builds records in the order of API calls; correlation ids count up like CUPTI's.
class Records {
 public:
  Records& open(std::uint64_t at, std::uint32_t ticket) {
    return marker("kagent_instrument_open", at, at + 1, ticket);
  }
  Records& gate(std::uint64_t start, std::uint64_t end, std::uint32_t ticket) {
    return marker("kagent_instrument_gate", start, end, ticket);
  }
  Records& end(std::uint64_t at, std::uint32_t ticket) {
    return marker("kagent_instrument_end", at, at + 1, ticket);
  }
  Records& work(const char* name, std::uint64_t start, std::uint64_t end) {
    all.push_back({start, end, name, ++correlation_, 256});
    return *this;
  }
  std::vector<Activity> all;

 private:
  Records& marker(const char* name, std::uint64_t start, std::uint64_t end, std::uint32_t ticket) {
    all.push_back({start, end, name, ++correlation_, marker_threads(ticket)});
    return *this;
  }
  std::uint32_t correlation_ = 100;
};

TEST(Summarise, NothingIsZero) { EXPECT_EQ(summarise({}, {}), Sample{}); }

TEST(Summarise, OverlapCountsOnceInBusyAndTwiceInSum) {
  Records records;
  records.work("a", 1000, 5000).work("b", 3000, 8000).work("c", 10000, 11000);
  const Sample sample = summarise(records.all, {"b"});
  EXPECT_DOUBLE_EQ(sample.span_us, 10.0);
  EXPECT_DOUBLE_EQ(sample.busy_us, 8.0);
  EXPECT_DOUBLE_EQ(sample.sum_us, 10.0);
  EXPECT_DOUBLE_EQ(sample.own_us, 5.0);
  EXPECT_EQ(sample.launches, 3);
}

TEST(Summarise, OneInsideAnotherDoesNotEndTheSpan) {
  Records records;
  records.work("long", 1000, 9000).work("short", 2000, 3000);
  const Sample sample = summarise(records.all, {});
  EXPECT_DOUBLE_EQ(sample.span_us, 8.0);
  EXPECT_DOUBLE_EQ(sample.busy_us, 8.0);
}

TEST(SplitWindows, TakesOnlyWhatIsBetweenGateAndNextOpen) {
  Records records;
  records.open(1, kFirst).work("before", 10, 50).work("kagent_instrument_flush_write", 60, 90);
  records.gate(100, 200, kFirst).work("call", 210, 310).end(320, kFirst);
  records.open(1000, kFirst + 1).work("before", 1010, 1050);
  records.gate(1100, 1200, kFirst + 1).work("call", 1210, 1410).end(1420, kFirst + 1);
  records.open(2000, kFirst + 2);
  const auto windows = split_windows(records.all, kFirst, 2, {"call"});
  ASSERT_TRUE(windows) << windows.error().message;
  ASSERT_EQ(windows->samples.size(), 2u);
  EXPECT_DOUBLE_EQ(windows->samples[0].span_us, 0.1);
  EXPECT_DOUBLE_EQ(windows->samples[1].span_us, 0.2);
  EXPECT_DOUBLE_EQ(windows->samples[1].own_us, 0.2);
  EXPECT_EQ(windows->samples[0].launches, 1);
  EXPECT_EQ(windows->early, 0);
  EXPECT_EQ(windows->late, 0);
}

TEST(SplitWindows, OrderOfRecordsDoesNotMatter) {
  Records records;
  records.open(1, kFirst).gate(100, 200, kFirst).work("call", 210, 310).end(320, kFirst);
  records.open(1000, kFirst + 1);
  std::vector<Activity> shuffled(records.all.rbegin(), records.all.rend());
  const auto windows = split_windows(shuffled, kFirst, 1, {});
  ASSERT_TRUE(windows) << windows.error().message;
  EXPECT_EQ(windows->samples[0].launches, 1);
}

TEST(SplitWindows, TwoStreamsMakeOneSpan) {
  Records records;
  records.open(1, kFirst).gate(100, 200, kFirst);
  records.work("left", 210, 1210).work("right", 700, 2210).end(1220, kFirst);
  records.open(5000, kFirst + 1);
  const auto windows = split_windows(records.all, kFirst, 1, {});
  ASSERT_TRUE(windows) << windows.error().message;
  EXPECT_DOUBLE_EQ(windows->samples[0].span_us, 2.0);
  EXPECT_EQ(windows->late, 1) << "right outlived the call's own stream";
}

TEST(SplitWindows, SideWorkBeforeTheGateEndsIsCharged) {
  Records records;
  records.open(1, kFirst).gate(1000, 9000, kFirst);
  records.work("side", 2000, 4000).work("call", 9100, 9600).end(9700, kFirst);
  records.open(20000, kFirst + 1);
  const auto windows = split_windows(records.all, kFirst, 1, {});
  ASSERT_TRUE(windows) << windows.error().message;
  EXPECT_DOUBLE_EQ(windows->samples[0].span_us, 7.6);
  EXPECT_EQ(windows->early, 1);
}

TEST(SplitWindows, SideWorkThatRanBeforeTheGateStartedIsChargedByItsCall) {
  Records records;
  records.open(1, kFirst).gate(5000, 9000, kFirst);
  records.work("side", 2000, 4000).work("call", 9100, 9600).end(9700, kFirst);
  records.open(20000, kFirst + 1);
  const auto windows = split_windows(records.all, kFirst, 1, {});
  ASSERT_TRUE(windows) << windows.error().message;
  EXPECT_DOUBLE_EQ(windows->samples[0].span_us, 7.6);
}

TEST(SplitWindows, CorrelationIdsMayWrap) {
  Records records;
  records.open(1, kFirst).gate(5000, 9000, kFirst).work("side", 2000, 4000).end(9700, kFirst);
  records.open(20000, kFirst + 1);
  std::uint32_t id = 0xfffffffd;
  for (Activity& activity : records.all) activity.correlation = id++;
  const auto windows = split_windows(records.all, kFirst, 1, {});
  ASSERT_TRUE(windows) << windows.error().message;
  EXPECT_EQ(windows->samples[0].launches, 1);
}

TEST(SplitWindows, ACallWithoutDeviceWorkIsZero) {
  Records records;
  records.open(1, kFirst).gate(100, 200, kFirst).end(210, kFirst).open(300, kFirst + 1);
  const auto windows = split_windows(records.all, kFirst, 1, {});
  ASSERT_TRUE(windows) << windows.error().message;
  EXPECT_EQ(windows->samples[0], Sample{});
}

TEST(SplitWindows, MissingMarkersAreErrors) {
  Records no_gate;
  no_gate.open(1, kFirst).work("call", 210, 310).open(1000, kFirst + 1);
  Records no_end;
  no_end.open(1, kFirst).gate(100, 200, kFirst).work("call", 210, 310).open(1000, kFirst + 1);
  Records no_close;
  no_close.open(1, kFirst).gate(100, 200, kFirst).end(320, kFirst);
  for (const auto& [records, words] :
       std::vector<std::pair<Records, std::string>>{{no_gate, "sample 0 has no gate"},
                                                    {no_end, "sample 0 has no end marker"},
                                                    {no_close, "sample 1 has no open marker"}}) {
    const auto windows = split_windows(records.all, kFirst, 1, {});
    ASSERT_FALSE(windows) << words;
    EXPECT_EQ(windows.error().message, "timeline: " + words);
  }
}

TEST(SplitWindows, MarkersOfAnotherBlockAreErrors) {
  Records records;
  records.open(1, kFirst).gate(100, 200, kFirst + 5).end(320, kFirst).open(1000, kFirst + 1);
  const auto windows = split_windows(records.all, kFirst, 1, {});
  ASSERT_FALSE(windows);
  EXPECT_EQ(windows.error().message, "timeline: sample 0 has a marker of another sample");
}

TEST(SplitWindows, DoubledMarkersAreErrors) {
  Records records;
  records.open(1, kFirst).gate(100, 200, kFirst).gate(201, 202, kFirst).end(320, kFirst);
  records.open(1000, kFirst + 1);
  const auto windows = split_windows(records.all, kFirst, 1, {});
  ASSERT_FALSE(windows);
  EXPECT_EQ(windows.error().message, "timeline: sample 0 has a marker twice");
}

TEST(RoleOf, OnlyWholeNamesAreMarkers) {
  EXPECT_EQ(role_of("kagent_instrument_open"), Role::open_marker);
  EXPECT_EQ(role_of("kagent_instrument_flush_read"), Role::instrument);
  EXPECT_EQ(role_of("_Z22kagent_instrument_gatev"), Role::work);
  EXPECT_EQ(role_of(""), Role::work);
}

}  // namespace
}  // namespace kagent::gpu
