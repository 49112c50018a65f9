// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.h"

#include <kagent/result.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kagent::base {
namespace {

constexpr double kOutside = 0.05;  // probability that the median lies outside the interval

double value_at(const std::vector<double>& sorted, double fraction) {
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return weight == 0 ? sorted[below] : sorted[below] * (1 - weight) + sorted[above] * weight;
}

}  // namespace

double quantile(std::vector<double> values, double fraction) {
  KAGENT_CHECK(!values.empty() && fraction >= 0 && fraction <= 1);
  std::sort(values.begin(), values.end());
  return value_at(values, fraction);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

Interval quartiles(std::vector<double> values) {
  KAGENT_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  return {value_at(values, 0.25), value_at(values, 0.75)};
}

Ranks median_interval_ranks(int count) {
  KAGENT_CHECK(count >= 1);
  // Largest rank r with 2 P(Binomial(count, 1/2) <= r - 1) <= 5 %. Logarithms, since 2^-count
  // underflows for large counts.
  double log_term = -count * std::log(2.0);  // P(X = 0)
  double below = std::exp(log_term);
  int rank = 1;
  while (rank < count) {
    log_term += std::log(static_cast<double>(count - rank + 1) / rank);  // P(X = rank)
    below += std::exp(log_term);
    if (2 * below > kOutside) break;
    ++rank;
  }
  return {rank, count + 1 - rank};
}

Interval median_interval(std::vector<double> values) {
  const Ranks ranks = median_interval_ranks(static_cast<int>(values.size()));
  std::sort(values.begin(), values.end());
  return {values[static_cast<std::size_t>(ranks.low - 1)],
          values[static_cast<std::size_t>(ranks.high - 1)]};
}

std::vector<double> paired_log_ratios(const std::vector<double>& numerators,
                                      const std::vector<double>& denominators) {
  KAGENT_CHECK(numerators.size() == denominators.size());
  std::vector<double> ratios;
  ratios.reserve(numerators.size());
  for (std::size_t i = 0; i < numerators.size(); ++i) {
    KAGENT_CHECK(numerators[i] > 0 && denominators[i] > 0);
    ratios.push_back(std::log(numerators[i] / denominators[i]));
  }
  return ratios;
}

}  // namespace kagent::base
