// SPDX-License-Identifier: Apache-2.0
// The regression gate: has a candidate become slower than the one that was saved? Pure.
#pragma once

#include <optional>
#include <vector>

namespace kagent::scoring {

/// Median times of one pair of evaluations in fresh processes of one session, in microseconds.
struct GatePair {
  double saved_us = 0;
  double present_us = 0;
};

/// Time now over time then, as a fraction more: 0.05 is 5 % slower, -0.1 is 10 % faster.
struct Slowdown {
  double point = 0;                 // median over the pairs
  double low = 0;                   // order-statistic interval over the pairs, at least 95 % from six on
  double high = 0;
  std::vector<double> pairs;        // each pair's own figure
  bool operator==(const Slowdown&) const = default;
};

/// The interval is over pairs, not over rounds, because a fresh process can be a percent off from its first
/// call to its last. Pairs with a side of no time say nothing; nothing where none is left.
std::optional<Slowdown> slowdown(const std::vector<GatePair>& pairs);

enum class GateVerdict { passed, failed, inconclusive };

/// failed: the whole interval lies above max_slowdown; passed: the whole interval lies at or below it.
GateVerdict judge(const Slowdown& slowdown, double max_slowdown);

}  // namespace kagent::scoring
