// SPDX-License-Identifier: Apache-2.0
#include "report/evaluation_text.h"

#include "base/text.h"
#include "wire/json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kagent::report {
namespace {

std::string table_row(const std::string& name, const ArmTimes& arm,
                      const std::optional<Speedup>& speedup) {
  std::string row = fmt::format("  {:<14}{:>12}   {:>10} .. {:<10}", name, duration(arm.median_us),
                                duration(arm.low_us), duration(arm.high_us));
  row += arm.launches > 0 ? fmt::format("{:>11}", arm.launches) : fmt::format("{:>11}", "-");
  if (speedup) {
    row += fmt::format("   {:.3f}x  [{:.3f}, {:.3f}]", speedup->point, speedup->low, speedup->high);
  }
  return row + "\n";
}

std::string trials_text(const Verdict& verdict) {
  std::size_t passed = 0;
  double worst = 0;
  for (const auto& trial : verdict.trials) {
    passed += trial.passed ? 1 : 0;
    worst = std::max(worst, trial.error_ratio);
  }
  return fmt::format("{} of {} trials, error at most {:.2g} of what is allowed", passed,
                     verdict.trials.size(), worst);
}

}  // namespace

std::string duration(double microseconds) {
  if (microseconds >= 1e6) return fmt::format("{:.3f} s", microseconds / 1e6);
  if (microseconds >= 1e3) return fmt::format("{:.3f} ms", microseconds / 1e3);
  return fmt::format("{:.2f} us", microseconds);
}

std::string outcome(const Evaluation& evaluation) {
  if (evaluation.verdict.fault) return wire::word(evaluation.verdict.fault->kind);
  if (!evaluation.score) return "correct";
  if (evaluation.score->success) return "success";
  return evaluation.score->noisy ? "noisy" : "slower";
}

std::string score_table(const Measurement& measurement, const JudgeSettings& settings) {
  std::string text = fmt::format("  {:<14}{:>12}   {:>24}{:>11}   {}\n", "", "median",
                                 "first .. third quartile", "launches", "candidate is faster by");
  if (!measurement.candidate.samples.empty()) {
    text += table_row("candidate", measurement.candidate, std::nullopt);
  }
  if (measurement.eager) text += table_row("eager", *measurement.eager, measurement.over_eager);
  if (measurement.compiled) {
    text += table_row("torch.compile", *measurement.compiled, measurement.over_compiled);
  }
  text += fmt::format("  {}, {} rounds, numerics {}", measurement.clock, measurement.rounds,
                      wire::word(settings.numerics));
  if (settings.backend == Backend::cuda && !measurement.candidate.samples.empty()) {
    text += fmt::format(", {:.0f} % of the device time in own kernels",
                        100 * measurement.own_kernel_share);
  }
  text += "\n";
  if (settings.backend == Backend::cpu) {
    text += "  Times of the CPU backend: they say nothing about a GPU.\n";
  }
  return text;
}

std::string fault_line(const Fault& fault) {
  std::string text;
  if (!fault.at.file.empty()) {
    text += base::one_line(fault.at.file);
    if (fault.at.line > 0) text += fmt::format(":{}", fault.at.line);
    text += ": ";
  }
  return text + base::one_line(fault.message, 1000);
}

std::string fault_text(const Fault& fault) {
  std::string text = fault_line(fault);
  if (fault.output >= 0 && !fault.index.empty()) {
    text += fmt::format("\n  output {} at [{}]: expected {}, got {}", fault.output,
                        fmt::join(fault.index, ", "), base::one_line(fault.expected),
                        base::one_line(fault.got));
  }
  if (!fault.hint.empty()) text += "\n  try: " + base::one_line(fault.hint, 1000);
  if (!fault.detail.empty()) {
    for (const auto& line : base::split_lines(base::cap(fault.detail, 4000))) {
      text += "\n  | " + base::one_line(line, 400);
    }
  }
  return text;
}

std::string evaluation_text(const Evaluation& evaluation, const JudgeSettings& settings) {
  const auto& verdict = evaluation.verdict;
  std::string text;
  if (verdict.fault) {
    text = fmt::format("{}: {}\n", outcome(evaluation), fault_text(*verdict.fault));
  } else {
    text = fmt::format("{}: {}\n", outcome(evaluation), trials_text(verdict));
  }
  if (evaluation.measurement) text += score_table(*evaluation.measurement, settings);
  if (!verdict.labels.empty()) text += fmt::format("  labels: {}\n", fmt::join(verdict.labels, ", "));
  if (evaluation.measurement) {
    for (const auto& note : evaluation.measurement->notes) {
      text += "  note: " + base::one_line(note) + "\n";
    }
  }
  return text;
}

}  // namespace kagent::report
