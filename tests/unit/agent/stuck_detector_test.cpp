// SPDX-License-Identifier: Apache-2.0
#include "agent/stuck_detector.h"

#include <gtest/gtest.h>

namespace kagent::agent {
namespace {

TEST(StuckDetector, NudgesAtThreeAndStopsAtSix) {
  StuckDetector detector;
  const ToolCall call{"", "bash", R"({"command": "ls"})"};
  const Repetition expected[] = {Repetition::none, Repetition::none, Repetition::nudge,
                                 Repetition::none, Repetition::none, Repetition::stuck};
  for (const Repetition repetition : expected)
    EXPECT_EQ(detector.observe(call, "same"), repetition);
}

TEST(StuckDetector, SeesThroughSpellingTimesAndAddresses) {
  StuckDetector detector;
  detector.observe({"1", "bash", R"({"a":1,"b":2})"}, "took 1.25 s at 0x7ffe12 (#1)");
  detector.observe({"2", "bash", R"({ "b": 2, "a": 1 })"}, "took 31.5 s at 0x55 (#12)");
  EXPECT_EQ(detector.observe({"3", "bash", R"({"a":1,"b":2})"}, "took 0.5 s at 0xab (#3)"),
            Repetition::nudge);
}

TEST(StuckDetector, ForgetsWhatIsTwelveCallsAgo) {
  StuckDetector detector;
  const ToolCall call{"", "evaluate", "{}"};
  for (int i = 0; i < 40; ++i) {
    EXPECT_NE(detector.observe(call, "same"), Repetition::stuck) << i;
    detector.observe({"", "read_file", std::to_string(i)}, "other");
    detector.observe({"", "edit_file", std::to_string(i)}, "other");
  }
}

TEST(StuckDetector, TellsOutcomesApart) {
  StuckDetector detector;
  const ToolCall call{"", "evaluate", "{}"};
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(detector.observe(call, "error on line " + std::to_string(i)), Repetition::none);
  }
}

}  // namespace
}  // namespace kagent::agent
