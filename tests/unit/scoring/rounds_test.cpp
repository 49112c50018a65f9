// SPDX-License-Identifier: Apache-2.0
#include "scoring/rounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kagent::scoring {
namespace {

Sample span(double us) {
  Sample sample;
  sample.span_us = us;
  sample.busy_us = us * 0.9;
  sample.sum_us = us * 0.8;
  sample.own_us = us * 0.4;
  sample.launches = 2;
  return sample;
}

Round round_of(double eager, double compiled, double candidate) {
  return {{span(eager), span(eager)},
          {span(compiled), span(compiled)},
          {span(candidate), span(candidate)}};
}

TEST(Summarise, GivesMediansAndQuartiles) {
  const ArmTimes times = summarise({span(1), span(2), span(3), span(4), span(100)});
  EXPECT_EQ(times.median_us, 3);
  EXPECT_EQ(times.low_us, 2);
  EXPECT_EQ(times.high_us, 4);
  EXPECT_DOUBLE_EQ(times.busy_us, 2.7);
  EXPECT_EQ(times.launches, 2);
  EXPECT_EQ(times.samples.size(), 5u);
  EXPECT_EQ(summarise(std::vector<Sample>{}), ArmTimes());
}

TEST(Summarise, TellsOneRoundsArmsApart) {
  const Measurement measurement = summarise(std::vector<Round>{round_of(20, 15, 10)});
  EXPECT_EQ(measurement.rounds, 1);
  EXPECT_EQ(measurement.candidate.median_us, 10);
  EXPECT_EQ(measurement.eager->median_us, 20);
  EXPECT_EQ(measurement.compiled->median_us, 15);
  EXPECT_DOUBLE_EQ(measurement.over_eager->point, 2);
  EXPECT_DOUBLE_EQ(measurement.over_compiled->point, 1.5);
  EXPECT_DOUBLE_EQ(measurement.own_kernel_share, 0.5);
}

TEST(Summarise, WorksForBaselinesAlone) {
  Round round = round_of(20, 15, 10);
  round.candidate.clear();
  const Measurement measurement = summarise(std::vector<Round>{round});
  EXPECT_EQ(measurement.candidate, ArmTimes());
  EXPECT_EQ(measurement.eager->median_us, 20);
  EXPECT_FALSE(measurement.over_eager);
  EXPECT_EQ(measurement.own_kernel_share, 0);
}

TEST(Summarise, WorksWithoutOneBaseline) {
  Round round = round_of(20, 15, 10);
  round.compiled.clear();
  const Measurement measurement = summarise(std::vector<Round>{round});
  EXPECT_FALSE(measurement.compiled);
  EXPECT_FALSE(measurement.over_compiled);
  EXPECT_TRUE(measurement.over_eager);
}

TEST(Speedups, CancelDriftOverTheRounds) {
  std::vector<Round> rounds;
  for (int i = 0; i < 20; ++i) {
    const double drift = 1 + 0.03 * i;  // everything gets slower
    rounds.push_back(round_of(20 * drift, 15 * drift, 10 * drift));
  }
  const auto speedup = measure_speedup(rounds, &Round::eager);
  ASSERT_TRUE(speedup);
  EXPECT_NEAR(speedup->point, 2, 1e-9);
  EXPECT_NEAR(speedup->low, 2, 1e-9);
  EXPECT_NEAR(speedup->high, 2, 1e-9);
}

TEST(Speedups, UseTheMeanOfARoundsTwoSamples) {
  Round round;
  round.eager = {span(10), span(30)};
  round.candidate = {span(8), span(12)};
  EXPECT_DOUBLE_EQ(measure_speedup({round}, &Round::eager)->point, 2);
}

TEST(Speedups, TakeTheIntervalByRank) {
  std::vector<Round> rounds;
  for (int i = 1; i <= 20; ++i) rounds.push_back(round_of(100 + i, 1, 100));
  const auto speedup = measure_speedup(rounds, &Round::eager);
  EXPECT_NEAR(speedup->low, 1.06, 1e-12);   // 6th of 20
  EXPECT_NEAR(speedup->high, 1.15, 1e-12);  // 15th
  EXPECT_NEAR(speedup->point, std::sqrt(1.10 * 1.11), 1e-12);
}

TEST(Speedups, IgnoreATailOfSlowRounds) {
  std::vector<Round> rounds(17, round_of(20, 15, 10));
  for (int i = 0; i < 3; ++i) rounds.push_back(round_of(20, 15, 1000));
  const auto speedup = measure_speedup(rounds, &Round::eager);
  EXPECT_DOUBLE_EQ(speedup->point, 2);
  EXPECT_DOUBLE_EQ(speedup->low, 2);
}

TEST(Speedups, SayNothingWhereNoTimeWasSeen) {
  EXPECT_FALSE(measure_speedup({round_of(20, 15, 0)}, &Round::eager));
  EXPECT_FALSE(measure_speedup({round_of(0, 15, 10)}, &Round::eager));
  EXPECT_DOUBLE_EQ(
      measure_speedup({round_of(20, 15, 0), round_of(30, 1, 10)}, &Round::eager)->point, 3);
  EXPECT_FALSE(measure_speedup({}, &Round::eager));
}

TEST(Speedups, OfAnArmAgainstItselfEncloseOne) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0, 0.01);
  int enclosed = 0;
  for (int run = 0; run < 400; ++run) {
    std::vector<Round> rounds;
    for (int i = 0; i < 20; ++i) {
      rounds.push_back({{span(10 + noise(random)), span(10 + noise(random))},
                        {},
                        {span(10 + noise(random)), span(10 + noise(random))}});
    }
    const auto speedup = measure_speedup(rounds, &Round::eager);
    enclosed += speedup->low <= 1 && 1 <= speedup->high;
  }
  EXPECT_GE(enclosed, 400 * 93 / 100);
}

}  // namespace
}  // namespace kagent::scoring
