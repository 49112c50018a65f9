// SPDX-License-Identifier: Apache-2.0
#include "scoring/rounds.h"

#include "base/statistics.h"

#include <cmath>
#include <utility>

namespace kagent::scoring {
namespace {

std::vector<double> collect(const std::vector<Sample>& samples, double Sample::*figure) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const Sample& sample : samples) values.push_back(sample.*figure);
  return values;
}

double sum(const std::vector<Sample>& samples, double Sample::*figure) {
  double total = 0;
  for (const Sample& sample : samples) total += sample.*figure;
  return total;
}

double mean_span(const std::vector<Sample>& samples) {
  return samples.empty() ? 0 : sum(samples, &Sample::span_us) / static_cast<double>(samples.size());
}

std::vector<Sample> all_samples(const std::vector<Round>& rounds, std::vector<Sample> Round::*arm) {
  std::vector<Sample> all;
  for (const Round& round : rounds) all.insert(all.end(), (round.*arm).begin(), (round.*arm).end());
  return all;
}

std::optional<ArmTimes> times_of(const std::vector<Round>& rounds,
                                 std::vector<Sample> Round::*arm) {
  std::vector<Sample> samples = all_samples(rounds, arm);
  if (samples.empty()) return std::nullopt;
  return summarise(std::move(samples));
}

}  // namespace

ArmTimes summarise(std::vector<Sample> samples) {
  ArmTimes times;
  if (samples.empty()) return times;
  const std::vector<double> spans = collect(samples, &Sample::span_us);
  const base::Interval quartiles = base::quartiles(spans);
  std::vector<double> launches;
  for (const Sample& sample : samples) launches.push_back(sample.launches);
  times.median_us = base::median(spans);
  times.low_us = quartiles.low;
  times.high_us = quartiles.high;
  times.busy_us = base::median(collect(samples, &Sample::busy_us));
  times.launches = static_cast<int>(std::lround(base::median(std::move(launches))));
  times.samples = std::move(samples);
  return times;
}

std::optional<Speedup> measure_speedup(const std::vector<Round>& rounds,
                                       std::vector<Sample> Round::*baseline) {
  std::vector<double> baselines;
  std::vector<double> candidates;
  for (const Round& round : rounds) {
    const double slow = mean_span(round.*baseline);
    const double fast = mean_span(round.candidate);
    if (slow <= 0 || fast <= 0) continue;
    baselines.push_back(slow);
    candidates.push_back(fast);
  }
  if (baselines.empty()) return std::nullopt;
  const std::vector<double> ratios = base::paired_log_ratios(baselines, candidates);
  const base::Interval interval = base::median_interval(ratios);
  return Speedup{std::exp(base::median(ratios)), std::exp(interval.low), std::exp(interval.high)};
}

Measurement summarise(const std::vector<Round>& rounds) {
  Measurement measurement;
  measurement.rounds = static_cast<int>(rounds.size());
  measurement.candidate = times_of(rounds, &Round::candidate).value_or(ArmTimes());
  measurement.eager = times_of(rounds, &Round::eager);
  measurement.compiled = times_of(rounds, &Round::compiled);
  measurement.over_eager = measure_speedup(rounds, &Round::eager);
  measurement.over_compiled = measure_speedup(rounds, &Round::compiled);
  const double total = sum(measurement.candidate.samples, &Sample::sum_us);
  const double own = sum(measurement.candidate.samples, &Sample::own_us);
  measurement.own_kernel_share = total > 0 ? own / total : 0;
  return measurement;
}

}  // namespace kagent::scoring
