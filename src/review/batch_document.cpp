// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "batch/summary.h"
#include "report/evaluation_text.h"
#include "review/documents.h"
#include "review/result_tables.h"

#include <fmt/format.h>

namespace kagent::review {
namespace {

using batch::JobResult;

std::string count_text(double value) { return std::isfinite(value) ? fmt::format("{:.0f}", value) : "-"; }

std::string cost_text(double value) { return std::isfinite(value) && value > 0 ? fmt::format("{:.4f}", value) : "-"; }

report::Chart gains(const std::vector<const JobResult*>& tasks) {
  report::Chart chart;
  chart.title = "Gain of each task, with its interval";
  chart.unit = "times as fast as the baseline";
  chart.logarithmic = true;
  chart.base = 1;
  chart.series = {{"over eager", {}}, {"over torch.compile", {}}};
  for (const JobResult* task : tasks) {
    if (!task->end.correct) continue;   // they stand in the table
    chart.labels.push_back(task->id);
    chart.series[0].values.push_back(gain_value(task->end.speedup_over_eager, task->end.over_eager));
    chart.series[1].values.push_back(gain_value(task->end.speedup_over_compiled, task->end.over_compiled));
  }
  return chart;
}

report::Chart amounts(const std::vector<const JobResult*>& tasks, const char* fact, const char* title, const char* unit) {
  report::Chart chart;
  chart.title = title;
  chart.unit = unit;
  chart.series = {{unit, {}}};
  for (const JobResult* task : tasks) {
    const double amount = fact_number(task->end, fact);
    if (!std::isfinite(amount) || amount <= 0) continue;
    chart.labels.push_back(task->id);
    chart.series[0].values.push_back({amount, report::kNothing, report::kNothing});
  }
  return chart;
}

report::Table task_table(const std::vector<JobResult>& results) {
  report::Table table;
  table.columns = {{"task", false}, {"outcome", false}, {"over eager", true}, {"over torch.compile", true}, {"grade", true},
                   {"turns", true}, {"USD", true}, {"seconds", true}, {"queue s", true}, {"labels", false}, {"why", false}};
  for (const auto& result : results) {
    const auto& end = result.end;
    const std::string why = end.correct ? "" : (end.at.empty() ? "" : end.at + ": ") + base::one_line(end.message, 160);
    table.rows.push_back({result.id, end.outcome, gain_text(end.speedup_over_eager, end.over_eager),
                          gain_text(end.speedup_over_compiled, end.over_compiled), std::to_string(end.grade),
                          count_text(fact_number(end, "turns")), cost_text(fact_number(end, "cost_usd")), fmt::format("{:.1f}", end.seconds),
                          fmt::format("{:.1f}", end.queue_seconds), base::join(end.labels, " "), why});
  }
  return table;
}

report::Table baseline_tasks(const std::vector<JobResult>& results) {
  report::Table table;
  table.columns = {{"task", false}, {"outcome", false}, {"eager", true}, {"torch.compile", true}, {"eager / compile", true}, {"seconds", true},
                   {"queue s", true}, {"why", false}};
  for (const auto& result : results) {
    const auto& end = result.end;
    const auto time = [](double microseconds) { return microseconds > 0 ? report::duration(microseconds) : std::string("-"); };
    table.rows.push_back({result.id, end.outcome, time(end.eager_us), time(end.compiled_us),
                          end.eager_us > 0 && end.compiled_us > 0 ? fmt::format("{:.2f}x", end.eager_us / end.compiled_us) : "-",
                          fmt::format("{:.1f}", end.seconds), fmt::format("{:.1f}", end.queue_seconds), base::one_line(end.message, 160)});
  }
  return table;
}

report::Facts batch_facts(const BatchRecord& batch) {
  double cost = 0, seconds = 0, tokens = 0;
  for (const auto& result : batch.results) {
    const auto add = [&](double& sum, double value) { sum += std::isfinite(value) ? value : 0; };
    add(cost, fact_number(result.end, "cost_usd"));
    add(tokens, fact_number(result.end, "input_tokens"));
    add(tokens, fact_number(result.end, "output_tokens"));
    add(seconds, result.end.seconds);
  }
  report::Facts facts;
  facts.rows = {{"Batch", batch.folder.string()},
                {"What", batch.what},
                {"Flags", base::join(batch.arguments, " ")},
                {"Jobs", fmt::format("{} of {} ended", batch.results.size(), batch.jobs)},
                {"Time of all jobs", fmt::format("{:.0f} s, waits for a device left out", seconds)}};
  if (tokens > 0) facts.rows.emplace_back("Tokens", fmt::format("{:.0f}", tokens));
  if (cost > 0) facts.rows.emplace_back("Cost", fmt::format("{:.4f} USD", cost));
  const auto machine = machine_facts(batch.results);
  facts.rows.insert(facts.rows.end(), machine.rows.begin(), machine.rows.end());
  return facts;
}

}  // namespace

report::Document batch_document(const BatchRecord& batch) {
  const auto tasks = batch::best_of_samples(batch.results);
  report::Document document;
  document.title = "kagent batch " + batch.folder.filename().string();
  document.blocks.emplace_back(batch_facts(batch));
  document.figures = figures_table(batch.results);
  document.blocks.emplace_back(report::Heading{2, "Summary"});
  if (batch.baseline) {
    document.blocks.emplace_back(batch::baseline_table(batch::summarise_baselines(batch.results)));
    document.blocks.emplace_back(report::Heading{2, "Tasks"});
    document.blocks.emplace_back(baseline_tasks(batch.results));
    return document;
  }
  document.blocks.emplace_back(batch::summary_table(batch::summarise(batch.results)));
  document.blocks.emplace_back(report::Paragraph{batch::summary_legend()});
  document.blocks.emplace_back(report::Heading{2, "Gains"});
  document.blocks.emplace_back(gain_distribution(tasks));
  const auto add_chart = [&](report::Chart chart) {
    if (!chart.labels.empty()) document.blocks.emplace_back(std::move(chart));
  };
  add_chart(gains(tasks));
  add_chart(amounts(tasks, "turns", "Turns of each task", "replies of the model"));
  add_chart(amounts(tasks, "cost_usd", "Cost of each task", "USD"));
  document.blocks.emplace_back(report::Heading{2, "Tasks"});
  document.blocks.emplace_back(task_table(batch.results));
  return document;
}

}  // namespace kagent::review
