// SPDX-License-Identifier: Apache-2.0
// Samples of interleaved arms to times and speed-ups (design §6).
#pragma once

#include <kagent/evaluation.h>

#include <optional>
#include <vector>

namespace kagent::scoring {

/// One palindromic round, E C K K C E: two samples of each arm, or none of an arm that is not
/// there.
struct Round {
  std::vector<Sample> eager;
  std::vector<Sample> compiled;
  std::vector<Sample> candidate;
};

/// Medians and quartiles over samples. All zero where there are none.
ArmTimes summarise(std::vector<Sample> samples);

/// Each round gives one ratio, mean baseline span / mean candidate span; drift over the rounds so
/// cancels. The point is their median, the interval encloses it with about 95 % probability. Rounds
/// in which either arm showed no time at all say nothing; nothing where no round is left.
std::optional<Speedup> measure_speedup(const std::vector<Round>& rounds,
                                       std::vector<Sample> Round::*baseline);

/// Everything that the samples say; clock, prepare_us and notes are the caller's. Without samples
/// of the candidate (baselines alone) its times are zero and there are no speed-ups.
Measurement summarise(const std::vector<Round>& rounds);

}  // namespace kagent::scoring
