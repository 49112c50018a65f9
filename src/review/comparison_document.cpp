// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "base/statistics.h"
#include "batch/summary.h"
#include "review/documents.h"
#include "review/result_tables.h"

#include <fmt/format.h>

namespace kagent::review {
namespace {

using batch::JobResult;
using Key = std::pair<std::string, std::string>;

constexpr int kResamples = 2000;

struct Ratio {
  double point = 0;      // 0: one of both was not measured
  base::Interval interval;
};

Ratio ratio(double a, const base::Interval& of_a, double b, const base::Interval& of_b) {
  if (a <= 0 || b <= 0) return {};
  Ratio result{b / a, {0, 0}};
  if (of_a.low > 0 && of_b.low > 0) result.interval = {of_b.low / of_a.high, of_b.high / of_a.low};
  return result;
}

/// Geometric mean of the ratios, and a percentile bootstrap of it over the tasks: which tasks a benchmark
/// has is the larger chance here. The generator's seed is fixed: the same results give the same page.
std::string overall(const std::vector<double>& ratios) {
  if (ratios.empty()) return "-";
  std::vector<double> logs;
  for (const double each : ratios) logs.push_back(std::log(each));
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  if (logs.size() < 3) return fmt::format("{:.3f}x over {} tasks", std::exp(mean(logs)), logs.size());
  std::mt19937_64 random(20260101);
  std::vector<double> means;
  for (int i = 0; i < kResamples; ++i) {
    std::vector<double> drawn;
    for (std::size_t k = 0; k < logs.size(); ++k) drawn.push_back(logs[random() % logs.size()]);
    means.push_back(mean(drawn));
  }
  return fmt::format("{:.3f}x [{:.3f}, {:.3f}] over {} tasks", std::exp(mean(logs)), std::exp(base::quantile(means, 0.025)),
                     std::exp(base::quantile(means, 0.975)), logs.size());
}

const char* word(const Ratio& change) {
  if (change.interval.low > 1) return "faster";
  if (change.interval.high > 0 && change.interval.high < 1) return "slower";
  return "";
}

std::map<Key, const JobResult*> by_task(const std::vector<JobResult>& results) {
  std::map<Key, const JobResult*> all;
  for (const JobResult* result : batch::best_of_samples(results)) all[{result->level, result->task}] = result;
  return all;
}

/// Everything that is said of the tasks both have.
class Comparison {
 public:
  void add(const JobResult& a, const JobResult& b) {
    const Ratio eager = ratio(a.end.speedup_over_eager, a.end.over_eager, b.end.speedup_over_eager, b.end.over_eager);
    const Ratio compiled = ratio(a.end.speedup_over_compiled, a.end.over_compiled, b.end.speedup_over_compiled, b.end.over_compiled);
    ++common;
    correct_a += a.end.correct ? 1 : 0;
    correct_b += b.end.correct ? 1 : 0;
    std::string verdict;
    if (a.end.correct && !b.end.correct) verdict = "no longer correct";
    if (!a.end.correct && b.end.correct) verdict = "now correct";
    if (a.end.correct && b.end.correct) verdict = word(eager);
    if (a.task_hash != b.task_hash) verdict += verdict.empty() ? "other task text" : ", other task text";
    table.rows.push_back({b.id, a.end.outcome, b.end.outcome, gain_text(a.end.speedup_over_eager, a.end.over_eager),
                          gain_text(b.end.speedup_over_eager, b.end.over_eager), gain_text(eager.point, eager.interval),
                          gain_text(compiled.point, compiled.interval), verdict});
    const auto cell = [](double value) { return value > 0 ? fmt::format("{}", value) : std::string(); };
    figures.rows.push_back({b.id, a.end.outcome, b.end.outcome, verdict, cell(a.end.speedup_over_eager), cell(b.end.speedup_over_eager),
                            cell(eager.point), cell(eager.interval.low), cell(eager.interval.high), cell(compiled.point),
                            cell(compiled.interval.low), cell(compiled.interval.high)});
    if (!a.end.correct || !b.end.correct) return;
    if (eager.point > 0) over_eager.push_back(eager.point);
    if (compiled.point > 0) over_compiled.push_back(compiled.point);
    chart.labels.push_back(b.id);
    chart.series[0].values.push_back(gain_value(eager.point, eager.interval));
  }

  int common = 0, correct_a = 0, correct_b = 0;
  std::vector<double> over_eager, over_compiled;
  report::Table table{{{"task", false}, {"A", false}, {"B", false}, {"A over eager", true}, {"B over eager", true}, {"B / A", true},
                       {"B / A by torch.compile", true}, {"", false}}, {}};
  report::Table figures{{{"id", false}, {"outcome_a", false}, {"outcome_b", false}, {"change", false}, {"speedup_over_eager_a", true},
                         {"speedup_over_eager_b", true}, {"ratio", true}, {"ratio_low", true}, {"ratio_high", true}, {"ratio_compiled", true},
                         {"ratio_compiled_low", true}, {"ratio_compiled_high", true}}, {}};
  report::Chart chart{report::ChartKind::bars, "B against A, task by task", "times as fast as A", true, 1, {}, {{"B / A", {}}}};
};

}  // namespace

report::Document comparison_document(const std::string& name_a, const std::vector<JobResult>& a, const std::string& name_b,
                                     const std::vector<JobResult>& b) {
  const auto tasks_a = by_task(a), tasks_b = by_task(b);   // best_of_samples() keeps the batch's order
  Comparison comparison;
  std::vector<std::string> only_a, only_b;
  for (const JobResult* result : batch::best_of_samples(a)) {
    const auto found = tasks_b.find({result->level, result->task});
    if (found == tasks_b.end()) {
      only_a.push_back(result->id);
    } else {
      comparison.add(*result, *found->second);
    }
  }
  for (const JobResult* result : batch::best_of_samples(b)) {
    if (!tasks_a.contains({result->level, result->task})) only_b.push_back(result->id);
  }
  report::Document document;
  document.title = "kagent: B against A";
  report::Facts facts;
  facts.rows = {{"A", name_a}, {"B", name_b}, {"Tasks of both", std::to_string(comparison.common)},
                {"Correct", fmt::format("A {}, B {}", comparison.correct_a, comparison.correct_b)},
                {"B / A, geometric mean", overall(comparison.over_eager)},
                {"the same by torch.compile", overall(comparison.over_compiled)}};
  for (const auto& [name, results] : {std::pair{"A: ", &a}, std::pair{"B: ", &b}}) {
    for (const auto& [what, text] : machine_facts(*results).rows) facts.rows.emplace_back(name + what, text);
  }
  document.blocks.emplace_back(std::move(facts));
  document.blocks.emplace_back(report::Paragraph{
      "Both sides are compared by their speed-up over eager PyTorch, measured in the same session as the candidate, so that two machines "
      "or days can be compared at all. A task's interval takes the worst ends of both; faster and slower are said only where it leaves "
      "out 1. The geometric mean's interval is a bootstrap over tasks."});
  if (!comparison.chart.labels.empty()) document.blocks.emplace_back(comparison.chart);
  document.blocks.emplace_back(comparison.table);
  for (const auto& [name, tasks] : {std::pair{"Only in A: ", &only_a}, std::pair{"Only in B: ", &only_b}}) {
    std::string text;
    for (const auto& task : *tasks) text += (text.empty() ? "" : ", ") + task;
    if (!text.empty()) document.blocks.emplace_back(report::Paragraph{name + text});
  }
  document.figures = comparison.figures;
  return document;
}

}  // namespace kagent::review
