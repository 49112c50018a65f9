// SPDX-License-Identifier: Apache-2.0
#include "agent/run_result.h"

#include "fakes/fake_evaluator.h"

#include <gtest/gtest.h>

namespace kagent::agent {
namespace {

std::string word(StopReason reason, std::optional<double> speedup = {}, bool noisy = false,
                 std::optional<ErrorKind> error = {}) {
  LoopEnd end;
  end.reason = reason;
  if (error) end.error = Error{*error, "why"};
  std::optional<store::BestResult> best;
  if (speedup) best = store::BestResult{1, fakes::correct_evaluation(*speedup, noisy)};
  return outcome_word(end, best);
}

TEST(OutcomeWord, PutsWhatCouldNotBeDoneFirst) {
  EXPECT_EQ(word(StopReason::interrupted, 2.0), "interrupted");
  EXPECT_EQ(word(StopReason::network, 2.0, false, ErrorKind::network), "network");
  EXPECT_EQ(word(StopReason::environment, 2.0, false, ErrorKind::internal), "internal");
  EXPECT_EQ(word(StopReason::environment, {}, false, ErrorKind::environment), "environment");
  EXPECT_EQ(word(StopReason::refusal), "refusal");
}

TEST(OutcomeWord, IsSuccessHoweverTheRunEndedOtherwise) {
  for (const StopReason reason :
       {StopReason::target_reached, StopReason::turns, StopReason::finished,
        StopReason::replay_ended, StopReason::stuck}) {
    EXPECT_EQ(word(reason, 2.0), "success");
  }
}

TEST(OutcomeWord, TellsSpentBudgetsFromTargetsNotMet) {
  EXPECT_EQ(word(StopReason::turns, 1.0), "budget_spent");
  EXPECT_EQ(word(StopReason::tokens), "budget_spent");
  EXPECT_EQ(word(StopReason::wall_clock), "budget_spent");
  EXPECT_EQ(word(StopReason::finished, 1.0), "not_met");
  EXPECT_EQ(word(StopReason::replay_ended), "not_met");
  EXPECT_EQ(word(StopReason::bad_calls), "not_met");
  EXPECT_EQ(word(StopReason::finished, 1.2, true), "noisy");
}

}  // namespace
}  // namespace kagent::agent
