// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/evaluation_text.h"
#include "report/line_diff.h"
#include "review/documents.h"
#include "review/result_tables.h"
#include "wire/members.h"

#include <fmt/format.h>

namespace kagent::review {
namespace {

using wire::Json;

constexpr std::size_t kMaxText = 20'000;   // of one reply, argument or result in the transcript

std::string plain(const Json& json) { return json.is_string() ? json.get<std::string>() : json.is_null() ? "" : wire::dump(json); }

report::Facts run_facts(const RunRecord& run) {
  const Json& usage = wire::member(run.result, "usage");
  report::Facts facts;
  facts.rows = {{"Run", run.folder.string()}, {"Task", plain(wire::member(wire::member(run.run, "task"), "name"))},
                {"Model", run.trajectory.start.model}};
  if (run.result.is_object()) {
    facts.rows.emplace_back("Outcome", plain(wire::member(run.result, "outcome")) + ": " + plain(wire::member(run.result, "explanation")));
  } else {
    facts.rows.emplace_back("Outcome", "none yet: the run was killed, or goes on");
  }
  facts.rows.emplace_back("Turns", fmt::format("{}; {} candidates judged", run.trajectory.turns.size(), run.candidates.size()));
  if (usage.is_object()) {
    facts.rows.emplace_back("Tokens", plain(wire::member(usage, "input_tokens")) + " in, " + plain(wire::member(usage, "output_tokens")) + " out");
    facts.rows.emplace_back("Cost", plain(wire::member(usage, "cost_usd")) + " USD (0: no price is known)");
  }
  for (const auto& warning : wire::member(run.result, "warnings")) facts.rows.emplace_back("Note", plain(warning));
  const auto machine = machine_facts({as_result(run)});
  facts.rows.insert(facts.rows.end(), machine.rows.begin(), machine.rows.end());
  return facts;
}

report::Chart timeline(const RunRecord& run) {
  report::Chart chart;
  chart.kind = report::ChartKind::line;
  chart.title = "Candidates in the order in which they were judged";
  chart.unit = "times as fast as the baseline";
  chart.logarithmic = true;
  chart.base = 1;
  chart.series = {{"over eager", {}}, {"over torch.compile", {}}, {"best so far over eager", {}}};
  double best = report::kNothing;
  for (const auto& candidate : run.candidates) {
    const auto& evaluation = candidate.evaluation;
    chart.labels.push_back(fmt::format("#{} {}", candidate.number, report::outcome(evaluation)));
    const auto value = [&](const std::optional<Speedup>& speedup) {
      return speedup ? report::ChartValue{speedup->point, speedup->low, speedup->high} : report::ChartValue{};
    };
    const bool timed = evaluation.verdict.correct && evaluation.measurement;
    chart.series[0].values.push_back(timed ? value(evaluation.measurement->over_eager) : report::ChartValue{});
    chart.series[1].values.push_back(timed ? value(evaluation.measurement->over_compiled) : report::ChartValue{});
    const double gain = chart.series[0].values.back().value;
    if (std::isfinite(gain) && (!std::isfinite(best) || gain > best)) best = gain;
    chart.series[2].values.push_back({best, report::kNothing, report::kNothing});
  }
  return chart;
}

report::Table candidate_table(const RunRecord& run) {
  report::Table table;
  table.columns = {{"#", true}, {"turn", true}, {"candidate", false}, {"outcome", false}, {"time", true}, {"over eager", true},
                   {"over torch.compile", true}, {"why", false}};
  for (const auto& candidate : run.candidates) {
    const auto& evaluation = candidate.evaluation;
    const auto gain = [](const std::optional<Speedup>& speedup) {
      return speedup ? gain_text(speedup->point, {speedup->low, speedup->high}) : std::string("-");
    };
    const auto& times = evaluation.measurement;
    table.rows.push_back({fmt::format("{}{}", candidate.number, candidate.number == run.best ? " best" : ""), std::to_string(candidate.turn),
                          evaluation.candidate.substr(0, 12), report::outcome(evaluation),
                          times ? report::duration(times->candidate.median_us) : "-", times ? gain(times->over_eager) : "-",
                          times ? gain(times->over_compiled) : "-",
                          evaluation.verdict.fault ? base::one_line(report::fault_line(*evaluation.verdict.fault), 160) : ""});
  }
  return table;
}

report::Table figures(const RunRecord& run) {
  report::Table table;
  for (const char* name : {"candidate", "outcome", "message"}) table.columns.push_back({name, false});
  for (const char* name : {"number", "turn", "correct", "candidate_us", "eager_us", "compiled_us", "speedup_over_eager", "over_eager_low",
                           "over_eager_high", "speedup_over_compiled", "over_compiled_low", "over_compiled_high"}) {
    table.columns.push_back({name, true});
  }
  for (const auto& candidate : run.candidates) {
    const auto& evaluation = candidate.evaluation;
    std::vector<std::string> row{evaluation.candidate, report::outcome(evaluation),
                                 evaluation.verdict.fault ? report::fault_line(*evaluation.verdict.fault) : "",
                                 std::to_string(candidate.number), std::to_string(candidate.turn), evaluation.verdict.correct ? "1" : "0"};
    const Measurement times = evaluation.measurement.value_or(Measurement());
    const auto add = [&](double value) { row.push_back(value > 0 ? fmt::format("{}", value) : ""); };
    add(times.candidate.median_us);
    add(times.eager ? times.eager->median_us : 0);
    add(times.compiled ? times.compiled->median_us : 0);
    for (const auto& speedup : {times.over_eager, times.over_compiled}) {
      add(speedup ? speedup->point : 0);
      add(speedup ? speedup->low : 0);
      add(speedup ? speedup->high : 0);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string dimensions(const std::array<std::int64_t, 3>& sizes) { return fmt::format("{} x {} x {}", sizes[0], sizes[1], sizes[2]); }

/// Each launch of forward, in order, with what the compiler said of its kernel.
report::Table kernel_table(const Plan& plan, const Evaluation& evaluation) {
  report::Table table;
  table.columns = {{"line", false}, {"kernel", false}, {"source", false}, {"grid", true}, {"block", true}, {"shared, bytes", true},
                   {"registers", true}, {"spilled, bytes", true}};
  for (const auto& step : plan.forward) {
    const auto* launch = std::get_if<LaunchStep>(&step.action);
    if (launch == nullptr) continue;
    const auto& kernel = plan.kernels[static_cast<std::size_t>(launch->kernel)];
    const KernelBuild* build = nullptr;
    for (const auto& each : evaluation.build ? evaluation.build->kernels : std::vector<KernelBuild>()) {
      if (each.kernel == launch->kernel) build = &each;
    }
    table.rows.push_back({fmt::format("{}:{}", step.at.file, step.at.line), kernel.name, kernel.source, dimensions(launch->grid),
                          dimensions(launch->block), std::to_string(launch->shared_bytes + (build != nullptr ? build->shared_bytes : 0)),
                          build != nullptr && build->registers > 0 ? std::to_string(build->registers) : "-",
                          build != nullptr ? std::to_string(build->spill_store_bytes + build->spill_load_bytes) : "-"});
  }
  return table;
}

void add_best(const RunRecord& run, report::Document& document) {
  if (run.best == 0) return;
  const JudgedCandidate& best = run.candidates[static_cast<std::size_t>(run.best) - 1];
  document.blocks.emplace_back(report::Heading{2, fmt::format("Best candidate: #{}", run.best)});
  if (run.best_plan) document.blocks.emplace_back(kernel_table(*run.best_plan, best.evaluation));
  for (const auto& [path, text] : best.files) document.blocks.emplace_back(report::Fold{path, report::Fold::Kind::code, text});
}

void add_differences(const RunRecord& run, report::Document& document) {
  if (run.candidates.size() < 2) return;
  document.blocks.emplace_back(report::Heading{2, "What changed from candidate to candidate"});
  for (std::size_t i = 1; i < run.candidates.size(); ++i) {
    const auto& before = run.candidates[i - 1];
    const auto& after = run.candidates[i];
    if (before.files.empty() || after.files.empty()) continue;
    document.blocks.emplace_back(report::Fold{fmt::format("#{} to #{}: {}", before.number, after.number, report::outcome(after.evaluation)),
                                              report::Fold::Kind::difference, report::folder_diff(before.files, after.files)});
  }
}

/// A call as the model made it: its texts on lines of their own where the arguments are an object.
std::string call_text(const ToolCall& call) {
  std::string text = "> " + base::one_line(call.tool) + "\n";
  const auto arguments = wire::parse_text(call.arguments, "arguments");
  if (!arguments || !arguments->is_object()) return text + base::cap(call.arguments, kMaxText) + "\n";
  for (const auto& [name, value] : arguments->items()) text += name + ": " + base::cap(plain(value), kMaxText) + "\n";
  return text;
}

void add_transcript(const RunRecord& run, report::Document& document) {
  document.blocks.emplace_back(report::Heading{2, "Transcript"});
  document.blocks.emplace_back(report::Fold{"System prompt", report::Fold::Kind::prose, run.trajectory.start.system});
  document.blocks.emplace_back(report::Fold{"First message", report::Fold::Kind::prose, run.trajectory.start.opening});
  for (const auto& turn : run.trajectory.turns) {
    std::string body = base::cap(turn.reply.text, kMaxText);
    if (!body.empty()) body += "\n\n";
    std::vector<std::string> tools;
    for (std::size_t i = 0; i < turn.reply.calls.size(); ++i) {
      tools.push_back(turn.reply.calls[i].tool);
      body += call_text(turn.reply.calls[i]);
      if (i < turn.results.size()) body += (turn.results[i].is_error ? "< error\n" : "<\n") + base::cap(turn.results[i].text, kMaxText) + "\n\n";
    }
    if (!turn.nudge.empty()) body += "kagent: " + turn.nudge + "\n";
    document.blocks.emplace_back(report::Fold{fmt::format("Turn {}: {} ({:.1f} s)", turn.number, tools.empty() ? "no call" : base::join(tools, ", "), turn.seconds),
                                              report::Fold::Kind::prose, std::move(body)});
  }
}

}  // namespace

report::Document run_document(const RunRecord& run) {
  report::Document document;
  document.title = "kagent run " + run.folder.filename().string();
  document.blocks.emplace_back(run_facts(run));
  if (!run.candidates.empty()) {
    document.blocks.emplace_back(report::Heading{2, "Candidates"});
    document.blocks.emplace_back(timeline(run));
    document.blocks.emplace_back(candidate_table(run));
  }
  add_best(run, document);
  add_differences(run, document);
  add_transcript(run, document);
  document.figures = figures(run);
  return document;
}

}  // namespace kagent::review
