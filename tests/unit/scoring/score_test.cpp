// SPDX-License-Identifier: Apache-2.0
#include "scoring/score.h"

#include <gtest/gtest.h>

namespace kagent::scoring {
namespace {

/// Speed-ups of a candidate that needs these shares of the baseline's time; worse end of the
/// interval at `worst`.
Speedup share(double point, double worst) { return {1 / point, 1 / worst, 1 / (point * 0.99)}; }
Speedup share(double point) { return share(point, point); }

Measurement measured(std::optional<Speedup> eager, std::optional<Speedup> compiled) {
  Measurement measurement;
  measurement.over_eager = eager;
  measurement.over_compiled = compiled;
  return measurement;
}

Verdict correct() {
  Verdict verdict;
  verdict.correct = true;
  return verdict;
}

Score of(const Measurement& measurement, Baselines over = Baselines::both, double min_gain = 0.05) {
  JudgeSettings settings;
  settings.over = over;
  settings.min_gain = min_gain;
  return score(correct(), measurement, settings);
}

TEST(Score, IsNothingForAWrongCandidate) {
  Verdict verdict;
  verdict.fault = Fault();
  EXPECT_EQ(score(verdict, measured(share(0.1), share(0.1)), {}), Score());
  EXPECT_EQ(Score().grade, Grade::wrong);
}

TEST(Score, WithoutTimesIsCorrectAndNoMore) {
  const Score result = score(correct(), std::nullopt, {});
  EXPECT_EQ(result.grade, Grade::correct);
  EXPECT_FALSE(result.success);
  EXPECT_FALSE(result.noisy);
}

TEST(Score, SucceedsAtExactly95Percent) {
  EXPECT_TRUE(of(measured(share(0.95), share(0.95))).success);
  EXPECT_TRUE(of(measured(share(0.9499), share(0.9499))).success);
  EXPECT_FALSE(of(measured(share(0.9501), share(0.5))).success);
  EXPECT_FALSE(of(measured(share(0.5), share(0.9501))).success);
  // The same as figures of time, which need not divide well.
  for (const double baseline : {1.0, 3.0, 7.3, 1234.567}) {
    const double time = baseline * 0.95;
    const Speedup exact{baseline / time, baseline / time, baseline / time};
    EXPECT_TRUE(of(measured(exact, exact)).success) << baseline;
  }
}

TEST(Score, GradesAtMoreThanFivePercent) {
  EXPECT_EQ(of(measured(share(0.95), share(0.95))).grade, Grade::correct);
  EXPECT_EQ(of(measured(share(0.9499), share(0.95))).grade, Grade::faster_than_eager);
  EXPECT_EQ(of(measured(share(0.9499), share(0.9499))).grade, Grade::faster_than_both);
  EXPECT_EQ(of(measured(share(0.95), share(0.5))).grade, Grade::correct);  // eager comes first
}

TEST(Score, GradesByPointEstimateAndAlwaysAtFivePercent) {
  const Score result = of(measured(share(0.94, 1.2), share(0.94, 1.2)), Baselines::both, 0.5);
  EXPECT_EQ(result.grade, Grade::faster_than_both);
  EXPECT_FALSE(result.success);
  EXPECT_FALSE(result.noisy);  // 0.94 is no success at --min-gain 0.5 either
}

TEST(Score, AsksTheWorseEndOfTheInterval) {
  EXPECT_TRUE(of(measured(share(0.8, 0.95), share(0.8, 0.95))).success);
  const Score result = of(measured(share(0.8, 0.9501), share(0.8, 0.9)));
  EXPECT_FALSE(result.success);
  EXPECT_TRUE(result.noisy);
  EXPECT_FALSE(of(measured(share(0.96, 0.97), share(0.8))).noisy);  // simply too slow
  EXPECT_FALSE(of(measured(share(0.8), share(0.8))).noisy);
}

TEST(Score, BeatsTheBaselinesThatWereAskedFor) {
  const Measurement only_eager = measured(share(0.5), share(1.5));
  EXPECT_FALSE(of(only_eager, Baselines::both).success);
  EXPECT_TRUE(of(only_eager, Baselines::eager).success);
  EXPECT_FALSE(of(only_eager, Baselines::compile).success);
  const Measurement only_compiled = measured(share(1.5), share(0.5));
  EXPECT_TRUE(of(only_compiled, Baselines::compile).success);
  EXPECT_FALSE(of(only_compiled, Baselines::eager).success);
}

TEST(Score, DoesNotBeatABaselineThatWasNotMeasured) {
  const Measurement measurement = measured(share(0.5), std::nullopt);
  const Score result = of(measurement);
  EXPECT_FALSE(result.success);
  EXPECT_FALSE(result.noisy);
  EXPECT_EQ(result.grade, Grade::faster_than_eager);
  EXPECT_EQ(result.speedup_over_eager, 2);
  EXPECT_EQ(result.speedup_over_compiled, 0);
  EXPECT_TRUE(of(measurement, Baselines::eager).success);
  EXPECT_FALSE(of(measured(std::nullopt, std::nullopt)).success);
}

TEST(Score, TakesOtherGains) {
  EXPECT_TRUE(of(measured(share(1.0), share(1.0)), Baselines::both, 0).success);
  EXPECT_TRUE(of(measured(share(0.5), share(0.5)), Baselines::both, 0.5).success);
  EXPECT_FALSE(of(measured(share(0.501), share(0.5)), Baselines::both, 0.5).success);
}

}  // namespace
}  // namespace kagent::scoring
