// SPDX-License-Identifier: Apache-2.0
#include "batch/summary.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kagent::batch {
namespace {

JobResult result(const std::string& level, const std::string& task, bool correct, double eager, double compiled) {
  JobResult made;
  made.id = level + "-" + task;
  made.task = task;
  made.level = level;
  made.end.correct = correct;
  made.end.outcome = correct ? "slower" : "mismatch";
  made.end.speedup_over_eager = eager;
  made.end.speedup_over_compiled = compiled;
  return made;
}

TEST(Summary, RatesAreOverAllTasks) {
  const auto rows = summarise({result("level1", "a", true, 2.0, 1.6), result("level1", "b", true, 0.5, 1.02),
                               result("level1", "c", false, 0, 0), result("level2", "d", true, 8.0, 1.0)});
  ASSERT_EQ(rows.size(), 3u);
  const SummaryRow& all = rows[0];
  EXPECT_EQ(all.name, "overall");
  EXPECT_EQ(all.tasks, 4);
  EXPECT_EQ(all.kagent.correct, 3);
  EXPECT_DOUBLE_EQ(all.pass_rate(), 0.75);
  EXPECT_DOUBLE_EQ(all.kagent.eager.faster_rate, 0.5);
  EXPECT_DOUBLE_EQ(all.kagent.compiled.faster_rate, 0.25);          // 1.02 saves less than 5 %
  EXPECT_NEAR(all.kagent.eager.geometric_mean, 2.0, 1e-12);         // (2 * 0.5 * 8)^(1/3)
  EXPECT_NEAR(all.kagent.eager.arithmetic_mean, 3.5, 1e-12);
  EXPECT_NEAR(all.kagent.eager.geometric_mean_all, std::pow(8.0, 0.25), 1e-12);
  EXPECT_EQ(rows[1].name, "level1");
  EXPECT_EQ(rows[2].name, "level2");
}

TEST(Summary, FastPCountsWhatIsStrictlyFaster) {
  const auto rows = summarise({result("", "a", true, 1.0, 1.5), result("", "b", true, 0, 0), result("", "c", false, 9, 9)});
  ASSERT_EQ(rows.size(), 1u);   // no levels: no further rows
  const auto& fast = rows[0].kagent.compiled.fast;
  EXPECT_NEAR(fast[0], 2.0 / 3, 1e-12);   // p = 0: correct, timed or not
  EXPECT_NEAR(fast[3], 1.0 / 3, 1e-12);   // p = 1
  EXPECT_DOUBLE_EQ(fast[4], 0);           // p = 1.5: exactly 1.5 is not more
  EXPECT_DOUBLE_EQ(rows[0].kagent.eager.fast[3], 0);
}

TEST(Summary, ExactlyFivePercentIsNotFaster) {
  EXPECT_DOUBLE_EQ(summarise({result("", "a", true, 1 / 0.95, 0)})[0].kagent.eager.faster_rate, 0);
  EXPECT_DOUBLE_EQ(summarise({result("", "a", true, 1.06, 0)})[0].kagent.eager.faster_rate, 1);
}

TEST(Summary, OfSeveralSamplesTheBestCounts) {
  const auto rows = summarise({result("", "a", false, 0, 0), result("", "a", true, 1.5, 3.0), result("", "a", true, 2.0, 1.2)});
  EXPECT_EQ(rows[0].tasks, 1);
  EXPECT_EQ(rows[0].kagent.correct, 1);
  EXPECT_NEAR(rows[0].kagent.eager.geometric_mean, 1.5, 1e-12);   // the one whose smaller speed-up is larger
}

TEST(Summary, DegenerateTasksAreLeftOutOfASecondRow) {
  auto odd = result("level2", "zero", true, 100, 100);
  odd.end.degenerate = true;
  const auto rows = summarise({result("level1", "a", true, 2, 2), odd});
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].tasks, 2);
  EXPECT_EQ(rows[3].name, "overall without degenerate");
  EXPECT_EQ(rows[3].tasks, 1);
  EXPECT_NEAR(rows[3].kagent.eager.geometric_mean, 2, 1e-12);
  EXPECT_EQ(rows[4].name, "level1 without degenerate");
}

TEST(Summary, NothingAtAllIsARowOfZeros) {
  const auto rows = summarise({});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].tasks, 0);
  EXPECT_DOUBLE_EQ(rows[0].pass_rate(), 0);
  EXPECT_FALSE(summary_text(rows).empty());
}

}  // namespace
}  // namespace kagent::batch
