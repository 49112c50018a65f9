// SPDX-License-Identifier: Apache-2.0
#include "batch/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace kagent::batch {
namespace {

constexpr double kGradeShare = 0.95;   // "saves more than 5 %"

double smaller_speedup(const JobEnd& end) {
  if (end.speedup_over_eager > 0 && end.speedup_over_compiled > 0) {
    return std::min(end.speedup_over_eager, end.speedup_over_compiled);
  }
  return std::max(end.speedup_over_eager, end.speedup_over_compiled);
}

bool better(const JobEnd& left, const JobEnd& right) {
  if (left.correct != right.correct) return left.correct;
  return smaller_speedup(left) > smaller_speedup(right);
}

AgainstBaseline against(const std::vector<const JobEnd*>& tasks, double JobEnd::*speedup) {
  AgainstBaseline result;
  double logarithms = 0;
  double sum = 0;
  int timed = 0;
  for (const JobEnd* end : tasks) {
    const double gain = end->*speedup;
    for (std::size_t i = 0; i < kFastThresholds.size(); ++i) {
      // p = 0 asks for correctness alone, also where nothing could be timed.
      if (end->correct && (kFastThresholds[i] == 0 || gain > kFastThresholds[i])) result.fast[i] += 1;
    }
    if (!end->correct || gain <= 0) continue;
    if (gain * kGradeShare > 1) result.faster_rate += 1;
    logarithms += std::log(gain);
    sum += gain;
    ++timed;
  }
  const double count = static_cast<double>(tasks.size());
  if (timed > 0) {
    result.geometric_mean = std::exp(logarithms / timed);
    result.arithmetic_mean = sum / timed;
  }
  if (count > 0) {
    result.faster_rate /= count;
    for (double& rate : result.fast) rate /= count;
    result.geometric_mean_all = std::exp(logarithms / count);
  }
  return result;
}

SummaryRow row_of(std::string name, const std::vector<const JobEnd*>& tasks) {
  SummaryRow row;
  row.name = std::move(name);
  row.tasks = static_cast<int>(tasks.size());
  for (const JobEnd* end : tasks) {
    row.correct += end->correct ? 1 : 0;
    row.success += end->success ? 1 : 0;
  }
  row.eager = against(tasks, &JobEnd::speedup_over_eager);
  row.compiled = against(tasks, &JobEnd::speedup_over_compiled);
  return row;
}

std::string times(double speedup) { return speedup > 0 ? fmt::format("{:.2f}x", speedup) : "-"; }
std::string percent(double rate) { return fmt::format("{:.1f} %", 100 * rate); }

wire::Json to_json(const AgainstBaseline& figures) {
  wire::Json fast = wire::Json::object();
  for (std::size_t i = 0; i < kFastThresholds.size(); ++i) {
    fast[fmt::format("{}", kFastThresholds[i])] = figures.fast[i];
  }
  return {{"faster_rate", figures.faster_rate},
          {"geometric_mean", figures.geometric_mean},
          {"arithmetic_mean", figures.arithmetic_mean},
          {"geometric_mean_unsolved_as_1", figures.geometric_mean_all},
          {"fast_p", std::move(fast)}};
}

}  // namespace

std::vector<SummaryRow> summarise(const std::vector<JobResult>& results) {
  std::map<std::pair<std::string, std::string>, const JobEnd*> best;
  for (const auto& result : results) {
    const JobEnd*& kept = best[{result.level, result.task}];
    if (kept == nullptr || better(result.end, *kept)) kept = &result.end;
  }
  std::vector<const JobEnd*> all, sound;
  std::map<std::string, std::vector<const JobEnd*>> levels, sound_levels;
  for (const auto& [key, end] : best) {
    all.push_back(end);
    levels[key.first].push_back(end);
    if (end->degenerate) continue;
    sound.push_back(end);
    sound_levels[key.first].push_back(end);
  }
  std::vector<SummaryRow> rows{row_of("overall", all)};
  const auto add_levels = [&](const auto& by_level, const std::string& suffix) {
    if (by_level.size() == 1 && by_level.begin()->first.empty()) return;
    for (const auto& [level, ends] : by_level) {
      rows.push_back(row_of((level.empty() ? "no level" : level) + suffix, ends));
    }
  };
  add_levels(levels, "");
  if (sound.size() != all.size()) {
    rows.push_back(row_of("overall without degenerate", sound));
    add_levels(sound_levels, " without degenerate");
  }
  return rows;
}

std::string summary_text(const std::vector<SummaryRow>& rows) {
  std::string text = fmt::format("{:<28}{:>7}{:>10}{:>10}  {:<12}{:>10}{:>10}{:>14}\n", "", "tasks", "correct",
                                 "success", "against", "> 5 % off", "geo mean", "unsolved = 1");
  for (const auto& row : rows) {
    text += fmt::format("{:<28}{:>7}{:>10}{:>10}  {:<12}{:>10}{:>10}{:>14}\n", row.name, row.tasks, row.correct,
                        row.success, "eager", percent(row.eager.faster_rate), times(row.eager.geometric_mean),
                        times(row.eager.geometric_mean_all));
    text += fmt::format("{:<28}{:>7}{:>10}{:>10}  {:<12}{:>10}{:>10}{:>14}\n", "", "", percent(row.pass_rate()), "",
                        "compile", percent(row.compiled.faster_rate), times(row.compiled.geometric_mean),
                        times(row.compiled.geometric_mean_all));
  }
  text += "fast_p, correct and more than p times as fast:";
  for (const double threshold : kFastThresholds) text += fmt::format("{:>9}", fmt::format("p={}", threshold));
  text += "\n";
  for (const auto& row : rows) {
    for (const auto& [name, figures] : {std::pair{"eager", &row.eager}, std::pair{"compile", &row.compiled}}) {
      text += fmt::format("{:<46}", "  " + row.name + ", " + name);
      for (const double rate : figures->fast) text += fmt::format("{:>9}", percent(rate));
      text += "\n";
    }
  }
  return text;
}

std::string summary_markdown(const std::vector<SummaryRow>& rows) {
  std::string text = "| | tasks | correct | success | faster than eager | geo mean | faster than torch.compile | geo mean |";
  for (const double threshold : kFastThresholds) text += fmt::format(" fast_{} |", threshold);
  text += "\n| --- |";
  for (std::size_t i = 0; i < 7 + kFastThresholds.size(); ++i) text += " ---: |";
  text += "\n";
  for (const auto& row : rows) {
    text += fmt::format("| {} | {} | {} ({}) | {} | {} | {} | {} | {} |", row.name, row.tasks, row.correct,
                        percent(row.pass_rate()), row.success, percent(row.eager.faster_rate),
                        times(row.eager.geometric_mean), percent(row.compiled.faster_rate),
                        times(row.compiled.geometric_mean));
    for (const double rate : row.compiled.fast) text += fmt::format(" {} |", percent(rate));
    text += "\n";
  }
  return text + "\nfast_p is against torch.compile; of several samples of a task the best counts.\n";
}

wire::Json to_json(const SummaryRow& row) {
  return {{"name", row.name},         {"tasks", row.tasks},
          {"correct", row.correct},   {"pass_rate", row.pass_rate()},
          {"success", row.success},   {"eager", to_json(row.eager)},
          {"compiled", to_json(row.compiled)}};
}

}  // namespace kagent::batch
