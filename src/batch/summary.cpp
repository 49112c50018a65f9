// SPDX-License-Identifier: Apache-2.0
#include "batch/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "report/render.h"

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

/// One task as a rule set sees it.
struct Seen {
  std::optional<bool> correct;
  double over_eager = 0;
  double over_compiled = 0;
};

Seen by_kagent(const JobEnd& end) { return {end.correct, end.speedup_over_eager, end.speedup_over_compiled}; }

Seen by_paper(const JobEnd& end) {
  // Where nothing was judged (no candidate, a crash, an invalid task) nothing passed.
  if (!end.paper) return {false, 0, 0};
  return {end.paper->correct, end.paper->speedup_over_eager, end.paper->speedup_over_compiled};
}

AgainstBaseline against(const std::vector<Seen>& tasks, double Seen::*speedup) {
  AgainstBaseline result;
  double logarithms = 0;
  double sum = 0;
  int timed = 0;
  for (const Seen& seen : tasks) {
    const double gain = seen.*speedup;
    const bool correct = seen.correct.value_or(false);
    for (std::size_t i = 0; i < kFastThresholds.size(); ++i) {
      // p = 0 asks for correctness alone, also where nothing could be timed.
      if (correct && (kFastThresholds[i] == 0 || gain > kFastThresholds[i])) result.fast[i] += 1;
    }
    if (!correct || gain <= 0) continue;
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

UnderRules under(const std::vector<const JobEnd*>& tasks, Seen (*see)(const JobEnd&)) {
  UnderRules result;
  std::vector<Seen> seen;
  for (const JobEnd* end : tasks) {
    seen.push_back(see(*end));
    result.correct += seen.back().correct.value_or(false) ? 1 : 0;
    result.untold += seen.back().correct ? 0 : 1;
  }
  result.eager = against(seen, &Seen::over_eager);
  result.compiled = against(seen, &Seen::over_compiled);
  return result;
}

SummaryRow row_of(std::string name, const std::vector<const JobEnd*>& tasks) {
  SummaryRow row;
  row.name = std::move(name);
  row.tasks = static_cast<int>(tasks.size());
  for (const JobEnd* end : tasks) row.success += end->success ? 1 : 0;
  row.kagent = under(tasks, &by_kagent);
  row.paper = under(tasks, &by_paper);
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

std::vector<const JobResult*> best_of_samples(const std::vector<JobResult>& results) {
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::vector<const JobResult*> best;
  for (const auto& result : results) {
    const auto [place, is_new] = places.emplace(std::pair(result.level, result.task), best.size());
    if (is_new) {
      best.push_back(&result);
    } else if (better(result.end, best[place->second]->end)) {
      best[place->second] = &result;
    }
  }
  return best;
}

std::vector<SummaryRow> summarise(const std::vector<JobResult>& results) {
  std::vector<const JobEnd*> all, sound;
  std::map<std::string, std::vector<const JobEnd*>> levels, sound_levels;
  for (const JobResult* result : best_of_samples(results)) {
    all.push_back(&result->end);
    levels[result->level].push_back(&result->end);
    if (result->end.degenerate) continue;
    sound.push_back(&result->end);
    sound_levels[result->level].push_back(&result->end);
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

report::Table summary_table(const std::vector<SummaryRow>& rows) {
  report::Table table;
  table.columns = {{"", false}, {"rules", false}, {"against", false}, {"tasks", true}, {"correct", true}, {"success", true},
                   {"> 5 % off", true}, {"geo mean", true}, {"unsolved = 1", true}};
  for (const double threshold : kFastThresholds) table.columns.push_back({fmt::format("p={}", threshold), true});
  for (const auto& row : rows) {
    for (const auto& [rules, figures] : {std::pair{"kagent", &row.kagent}, std::pair{"paper", &row.paper}}) {
      for (const auto& [baseline, against] : {std::pair{"eager", &figures->eager}, std::pair{"compile", &figures->compiled}}) {
        const double rate = row.tasks == 0 ? 0 : static_cast<double>(figures->correct) / row.tasks;
        std::vector<std::string> cells{row.name, rules, baseline, std::to_string(row.tasks),
                                       fmt::format("{}{} ({})", figures->correct, figures->untold > 0 ? fmt::format("+{}?", figures->untold) : "", percent(rate)),
                                       rules == std::string("kagent") ? std::to_string(row.success) : "-",
                                       percent(against->faster_rate), times(against->geometric_mean), times(against->geometric_mean_all)};
        for (const double fast : against->fast) cells.push_back(percent(fast));
        table.rows.push_back(std::move(cells));
      }
    }
  }
  return table;
}

const char* summary_legend() {
  return "Rates are parts of all tasks of the row; of several samples of a task the best counts. geo mean: geometric mean of the "
         "speed-up over tasks that are correct and timed; unsolved = 1: over all tasks, the others as 1.0. p: fast_p, correct and more "
         "than p times as fast. paper: what the papers' rules say of the same runs (within 1e-2, summed device time); n? cannot be told "
         "from them and counts as not correct.";
}

std::string summary_text(const std::vector<SummaryRow>& rows) {
  return report::text_of(summary_table(rows)) + "\n" + report::text_of(report::Paragraph{summary_legend()});
}

std::string summary_markdown(const std::vector<SummaryRow>& rows) {
  return report::markdown_of(summary_table(rows)) + "\n" + summary_legend() + "\n";
}

namespace {

wire::Json to_json(const UnderRules& figures, int tasks) {
  return {{"correct", figures.correct},
          {"untold", figures.untold},
          {"pass_rate", tasks == 0 ? 0.0 : static_cast<double>(figures.correct) / tasks},
          {"eager", to_json(figures.eager)},
          {"compiled", to_json(figures.compiled)}};
}

}  // namespace

wire::Json to_json(const SummaryRow& row) {
  wire::Json json = to_json(row.kagent, row.tasks);
  json.erase("untold");
  json["name"] = row.name;
  json["tasks"] = row.tasks;
  json["success"] = row.success;
  json["paper"] = to_json(row.paper, row.tasks);
  return json;
}

std::vector<BaselineRow> summarise_baselines(const std::vector<JobResult>& results) {
  std::map<std::string, BaselineRow> levels;
  BaselineRow all;
  all.name = "overall";
  const auto add = [](BaselineRow& row, const JobEnd& end) {
    row.tasks += 1;
    row.timed += end.eager_us > 0 ? 1 : 0;
    if (end.eager_us <= 0 || end.compiled_us <= 0) return;
    row.compiled += 1;
    row.compile_speedup += std::log(end.eager_us / end.compiled_us);
  };
  for (const JobResult* result : best_of_samples(results)) {
    add(all, result->end);
    BaselineRow& level = levels[result->level];
    level.name = result->level.empty() ? "no level" : result->level;
    add(level, result->end);
  }
  std::vector<BaselineRow> rows{all};
  if (levels.size() > 1 || (levels.size() == 1 && !levels.begin()->first.empty())) {
    for (const auto& [name, row] : levels) rows.push_back(row);
  }
  for (auto& row : rows) row.compile_speedup = row.compiled > 0 ? std::exp(row.compile_speedup / row.compiled) : 0;
  return rows;
}

report::Table baseline_table(const std::vector<BaselineRow>& rows) {
  report::Table table;
  table.columns = {{"", false}, {"tasks", true}, {"eager timed", true}, {"torch.compile timed", true}, {"eager / torch.compile, geo mean", true}};
  for (const auto& row : rows) {
    table.rows.push_back({row.name, std::to_string(row.tasks), std::to_string(row.timed), std::to_string(row.compiled), times(row.compile_speedup)});
  }
  return table;
}

wire::Json to_json(const BaselineRow& row) {
  return {{"name", row.name}, {"tasks", row.tasks}, {"eager_timed", row.timed}, {"compiled_timed", row.compiled},
          {"eager_over_compiled_geometric_mean", row.compile_speedup}};
}

}  // namespace kagent::batch
