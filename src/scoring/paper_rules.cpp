// SPDX-License-Identifier: Apache-2.0
#include "scoring/paper_rules.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace kagent::scoring {
namespace {

constexpr double kTolerance = 1e-2;
constexpr double kGradeShare = 0.95;
constexpr std::size_t kPaperTrials = 5;

double mean_device_time(const ArmTimes& arm) {
  double total = 0;
  for (const Sample& sample : arm.samples) total += sample.sum_us > 0 ? sample.sum_us : sample.span_us;
  return arm.samples.empty() ? 0 : total / static_cast<double>(arm.samples.size());
}

double speedup(const std::optional<ArmTimes>& baseline, const ArmTimes& candidate) {
  const double slow = baseline ? mean_device_time(*baseline) : 0;
  const double fast = mean_device_time(candidate);
  return slow > 0 && fast > 0 ? slow / fast : 0;
}

/// Faults that a comparison of values finds; the other words are about shapes, builds and crashes,
/// which fail there as well, or about what the papers do not look for.
bool about_values(FaultKind kind) { return kind == FaultKind::mismatch; }

bool beyond_the_papers(FaultKind kind) {
  return kind == FaultKind::input_specific || kind == FaultKind::input_modified || kind == FaultKind::nondeterministic;
}

/// One element that was printed with the fault, and is further off than they allow.
bool refuted(const Fault& fault) {
  char* end = nullptr;
  const double expected = std::strtod(fault.expected.c_str(), &end);
  if (fault.expected.empty() || *end != '\0') return false;
  const double got = std::strtod(fault.got.c_str(), &end);
  if (fault.got.empty() || *end != '\0') return false;
  return !(std::abs(got - expected) <= kTolerance + kTolerance * std::abs(expected));
}

std::optional<bool> correct(const Verdict& verdict) {
  if (verdict.correct) return true;
  const FaultKind kind = verdict.fault ? verdict.fault->kind : FaultKind::unsupported;
  if (!about_values(kind) && !beyond_the_papers(kind)) return false;
  if (about_values(kind) && refuted(*verdict.fault)) return false;
  bool within = true;
  for (const Trial& trial : verdict.trials) within = within && (trial.passed || trial.max_error <= kTolerance);
  // Trials that were not run, or errors that a large expected value could excuse, leave it open.
  if (!within || verdict.trials.size() < kPaperTrials) return std::nullopt;
  return true;
}

}  // namespace

PaperScore paper_score(const Evaluation& evaluation) {
  PaperScore score;
  score.correct = correct(evaluation.verdict);
  if (!score.correct.value_or(false)) return score;
  score.grade = Grade::correct;
  if (!evaluation.measurement) return score;
  score.speedup_over_eager = speedup(evaluation.measurement->eager, evaluation.measurement->candidate);
  score.speedup_over_compiled = speedup(evaluation.measurement->compiled, evaluation.measurement->candidate);
  if (score.speedup_over_eager * kGradeShare > 1) {
    score.grade = score.speedup_over_compiled * kGradeShare > 1 ? Grade::faster_than_both : Grade::faster_than_eager;
  }
  return score;
}

}  // namespace kagent::scoring
