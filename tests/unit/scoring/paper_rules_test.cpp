// SPDX-License-Identifier: Apache-2.0
#include "scoring/paper_rules.h"

#include <gtest/gtest.h>

namespace kagent::scoring {
namespace {

Sample sample(double span, double sum) {
  Sample made;
  made.span_us = span;
  made.sum_us = sum;
  return made;
}

ArmTimes arm(std::vector<Sample> samples) {
  ArmTimes times;
  times.samples = std::move(samples);
  return times;
}

Evaluation judged(bool correct, FaultKind kind, std::vector<double> errors) {
  Evaluation evaluation;
  evaluation.verdict.correct = correct;
  for (const double error : errors) {
    Trial trial;
    trial.passed = correct || kind != FaultKind::mismatch;
    trial.max_error = error;
    evaluation.verdict.trials.push_back(trial);
  }
  if (!correct) {
    evaluation.verdict.fault.emplace();
    evaluation.verdict.fault->kind = kind;
  }
  return evaluation;
}

TEST(PaperRules, TimesAreMeansOfSummedDeviceTime) {
  Evaluation evaluation = judged(true, FaultKind::mismatch, {0, 0, 0, 0, 0});
  evaluation.measurement.emplace();
  evaluation.measurement->candidate = arm({sample(30, 10), sample(30, 20)});
  evaluation.measurement->eager = arm({sample(40, 60), sample(40, 30)});
  evaluation.measurement->compiled = arm({sample(15, 0), sample(15, 0)});   // no sum: the span
  const PaperScore score = paper_score(evaluation);
  EXPECT_EQ(score.correct, std::optional(true));
  EXPECT_DOUBLE_EQ(score.speedup_over_eager, 3);
  EXPECT_DOUBLE_EQ(score.speedup_over_compiled, 1);
  EXPECT_EQ(score.grade, Grade::faster_than_eager);
}

TEST(PaperRules, WhatTheyDoNotLookForPasses) {
  EXPECT_EQ(paper_score(judged(false, FaultKind::input_specific, {0, 0, 0, 0, 0})).correct, std::optional(true));
  EXPECT_EQ(paper_score(judged(false, FaultKind::input_modified, {0, 0, 0, 0, 0})).correct, std::optional(true));
  EXPECT_EQ(paper_score(judged(false, FaultKind::build_failed, {})).correct, std::optional(false));
  EXPECT_EQ(paper_score(judged(false, FaultKind::shape, {0, 0, 0, 0, 0})).correct, std::optional(false));
}

TEST(PaperRules, SmallErrorsPassAndLargeOnesCannotBeTold) {
  EXPECT_EQ(paper_score(judged(false, FaultKind::mismatch, {9e-3, 1e-2, 0, 0, 0})).correct, std::optional(true));
  EXPECT_EQ(paper_score(judged(false, FaultKind::mismatch, {2e-2, 0, 0, 0, 0})).correct, std::nullopt);
  EXPECT_EQ(paper_score(judged(false, FaultKind::mismatch, {1e-3})).correct, std::nullopt);   // the others were not run
  auto refuted = judged(false, FaultKind::mismatch, {5});
  refuted.verdict.fault->expected = "100.0";
  refuted.verdict.fault->got = "103.0";
  EXPECT_EQ(paper_score(refuted).correct, std::optional(false));
  refuted.verdict.fault->got = "101.0";
  EXPECT_EQ(paper_score(refuted).correct, std::nullopt);
  refuted.verdict.fault->got = "nan";
  EXPECT_EQ(paper_score(refuted).correct, std::optional(false));
}

}  // namespace
}  // namespace kagent::scoring
