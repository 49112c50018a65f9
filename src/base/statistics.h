// SPDX-License-Identifier: Apache-2.0
// Statistics of times: order statistics only, so that a tail of slow samples moves nothing.
#pragma once

#include <vector>

namespace kagent::base {

/// Mean of the two middle values where their number is even. Needs at least one value.
double median(std::vector<double> values);

/// Linear interpolation between order statistics; 0 <= fraction <= 1. Needs at least one value.
double quantile(std::vector<double> values, double fraction);

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

/// First and third quartile.
Interval quartiles(std::vector<double> values);

/// Ranks (from 1) of the order statistics that enclose the median with at least 95 % probability,
/// whatever the distribution: 20 values: 6 and 15. Below six values even the extremes cover less;
/// they are returned all the same.
struct Ranks {
  int low = 1;
  int high = 1;
  bool operator==(const Ranks&) const = default;
};
Ranks median_interval_ranks(int count);

/// The values at those ranks. Needs at least one value.
Interval median_interval(std::vector<double> values);

/// log(numerators[i] / denominators[i]); both of the same length, all positive.
std::vector<double> paired_log_ratios(const std::vector<double>& numerators,
                                      const std::vector<double>& denominators);

}  // namespace kagent::base
