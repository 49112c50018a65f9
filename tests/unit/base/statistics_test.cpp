// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kagent::base {
namespace {

TEST(Median, IsTheMiddle) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Quantile, InterpolatesBetweenOrderStatistics) {
  EXPECT_EQ(quantile({1, 2, 3, 4, 5}, 0), 1);
  EXPECT_EQ(quantile({1, 2, 3, 4, 5}, 1), 5);
  EXPECT_DOUBLE_EQ(quantile({10, 20}, 0.3), 13);
  EXPECT_EQ(quartiles({5, 4, 3, 2, 1}), (Interval{2, 4}));
}

TEST(MedianInterval, HasTheKnownRanks) {  // tables of the sign test
  EXPECT_EQ(median_interval_ranks(20), (Ranks{6, 15}));
  EXPECT_EQ(median_interval_ranks(30), (Ranks{10, 21}));
  EXPECT_EQ(median_interval_ranks(50), (Ranks{18, 33}));
  EXPECT_EQ(median_interval_ranks(100), (Ranks{40, 61}));
  EXPECT_EQ(median_interval_ranks(200), (Ranks{86, 115}));
  EXPECT_EQ(median_interval_ranks(1), (Ranks{1, 1}));
  EXPECT_EQ(median_interval_ranks(5), (Ranks{1, 5}));
  EXPECT_EQ(median_interval_ranks(6), (Ranks{1, 6}));
}

TEST(MedianInterval, StaysSaneForManyValues) {
  const Ranks ranks = median_interval_ranks(10000);
  EXPECT_EQ(ranks.low + ranks.high, 10001);
  EXPECT_NEAR(ranks.low, 5000 - 1.96 * 50, 2);  // the normal approximation
}

TEST(MedianInterval, CoversTheTrueMedianAtLeastAsOftenAsItSays) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> skewed(0, 1);  // true median 1
  int covered = 0;
  constexpr int kTries = 2000;
  for (int i = 0; i < kTries; ++i) {
    std::vector<double> values(20);
    for (double& value : values) value = skewed(random);
    const Interval interval = median_interval(values);
    covered += interval.low <= 1 && 1 <= interval.high;
  }
  EXPECT_GE(covered, kTries * 94 / 100);
  EXPECT_LE(covered, kTries * 98 / 100);
}

TEST(PairedLogRatios, AreLogarithms) {
  const auto ratios = paired_log_ratios({2, 1}, {1, 4});
  EXPECT_DOUBLE_EQ(ratios[0], std::log(2.0));
  EXPECT_DOUBLE_EQ(ratios[1], -std::log(4.0));
}

}  // namespace
}  // namespace kagent::base
