// SPDX-License-Identifier: Apache-2.0
#include "scoring/slowdown.h"

#include "base/statistics.h"

namespace kagent::scoring {

std::optional<Slowdown> slowdown(const std::vector<GatePair>& pairs) {
  Slowdown result;
  for (const auto& pair : pairs) {
    if (pair.saved_us > 0 && pair.present_us > 0) result.pairs.push_back(pair.present_us / pair.saved_us - 1);
  }
  if (result.pairs.empty()) return std::nullopt;
  const base::Interval interval = base::median_interval(result.pairs);
  result.point = base::median(result.pairs);
  result.low = interval.low;
  result.high = interval.high;
  return result;
}

GateVerdict judge(const Slowdown& slowdown, double max_slowdown) {
  if (slowdown.low > max_slowdown) return GateVerdict::failed;
  return slowdown.high <= max_slowdown ? GateVerdict::passed : GateVerdict::inconclusive;
}

}  // namespace kagent::scoring
