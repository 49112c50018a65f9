// SPDX-License-Identifier: Apache-2.0
#include "scoring/score.h"

namespace kagent::scoring {
namespace {

constexpr double kGradeGain = 0.05;
constexpr double kRounding = 1e-9;  // 1 / 0.95 * 0.95 need not be 1

/// At most `share` of the baseline's time; exactly that much suffices.
bool needs_at_most(double share, double speedup) {
  return speedup > 0 && 1 <= share * speedup * (1 + kRounding);
}

/// "More than 5 %": exactly 5 % does not suffice.
bool saves_more_than_grade_gain(const std::optional<Speedup>& speedup) {
  return speedup && 1 < (1 - kGradeGain) * speedup->point * (1 - kRounding);
}

Grade grade(const Measurement& measurement) {
  if (!saves_more_than_grade_gain(measurement.over_eager)) return Grade::correct;
  return saves_more_than_grade_gain(measurement.over_compiled) ? Grade::faster_than_both
                                                               : Grade::faster_than_eager;
}

/// Whether every baseline asked for is beaten by this end of its estimate.
bool beats_all(const Measurement& measurement, const JudgeSettings& settings,
               double Speedup::*figure) {
  const double share = 1 - settings.min_gain;
  const auto beats = [&](const std::optional<Speedup>& speedup) {
    return speedup && needs_at_most(share, (*speedup).*figure);
  };
  const bool over_eager = settings.over == Baselines::compile || beats(measurement.over_eager);
  const bool over_compiled = settings.over == Baselines::eager || beats(measurement.over_compiled);
  return over_eager && over_compiled;
}

}  // namespace

Score score(const Verdict& verdict, const std::optional<Measurement>& measurement,
            const JudgeSettings& settings) {
  Score result;
  if (!verdict.correct) return result;
  result.grade = Grade::correct;
  if (!measurement) return result;
  result.grade = grade(*measurement);
  if (measurement->over_eager) result.speedup_over_eager = measurement->over_eager->point;
  if (measurement->over_compiled) result.speedup_over_compiled = measurement->over_compiled->point;
  const bool by_point = beats_all(*measurement, settings, &Speedup::point);
  const bool by_interval = beats_all(*measurement, settings, &Speedup::low);
  result.success = by_point && by_interval;
  result.noisy = by_point && !by_interval;
  return result;
}

}  // namespace kagent::scoring
