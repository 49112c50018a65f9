// SPDX-License-Identifier: Apache-2.0
#include "review/result_tables.h"

#include <array>
#include <cmath>
#include <map>

#include "base/text.h"
#include "wire/members.h"

#include <fmt/format.h>

namespace kagent::review {
namespace {

using batch::JobResult;
using wire::Json;

/// Upper ends of the bins of a distribution; the last bin has none.
constexpr std::array<double, 9> kBins{0.5, 0.8, 0.95, 1.05, 1.2, 1.5, 2, 3, 5};

/// The shortest text that reads back the same; empty where there is no figure.
std::string exact(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string measured(double value) { return value > 0 ? exact(value) : ""; }

std::string plain(const Json& json) { return json.is_string() ? json.get<std::string>() : json.is_null() ? "" : wire::dump(json); }

/// {"torch": "2.11", "cuda": "13.0"} as "cuda 13.0, torch 2.11".
std::string listed(const Json& object) {
  if (!object.is_object()) return plain(object);
  std::vector<std::string> parts;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_null() && value != "") parts.push_back(name + " " + plain(value));
  }
  return base::join(parts, ", ");
}

std::string device_text(const Json& device) {
  std::string text = wire::text_member(device, "name");
  for (const char* name : {"architecture", "driver"}) {
    const std::string more = wire::text_member(device, name);
    if (!more.empty()) text += std::string(", ") + (name[0] == 'd' ? "driver " : "") + more;
  }
  return text;
}

void add_fact(report::Facts& facts, const std::string& name, const std::map<std::string, int>& values) {
  if (values.empty()) return;
  std::vector<std::string> parts;
  for (const auto& [value, count] : values) parts.push_back(values.size() == 1 ? value : fmt::format("{} ({} results)", value, count));
  facts.rows.emplace_back(name, base::join(parts, "; "));
}

}  // namespace

std::string gain_text(double speedup, const base::Interval& interval) {
  if (speedup <= 0) return "-";
  if (interval.low <= 0) return fmt::format("{:.3f}x", speedup);
  return fmt::format("{:.3f}x [{:.3f}, {:.3f}]", speedup, interval.low, interval.high);
}

report::ChartValue gain_value(double speedup, const base::Interval& interval) {
  if (speedup <= 0) return {};
  if (interval.low <= 0) return {speedup, report::kNothing, report::kNothing};
  return {speedup, interval.low, interval.high};
}

double fact_number(const batch::JobEnd& end, const char* name) {
  const Json& here = wire::member(end.facts, name);
  const Json& value = here.is_number() ? here : wire::member(wire::member(end.facts, "usage"), name);
  return value.is_number() ? value.get<double>() : report::kNothing;
}

report::Table figures_table(const std::vector<JobResult>& results) {
  report::Table table;
  for (const char* name : {"id", "task", "level", "outcome", "at", "message", "labels", "task_hash", "candidate", "device", "versions", "numerics"}) {
    table.columns.push_back({name, false});
  }
  for (const char* name : {"sample", "exit_code", "correct", "degenerate", "success", "grade", "speedup_over_eager", "over_eager_low",
                           "over_eager_high", "speedup_over_compiled", "over_compiled_low", "over_compiled_high", "candidate_us",
                           "eager_us", "compiled_us", "paper_correct", "paper_grade", "paper_speedup_over_eager",
                           "paper_speedup_over_compiled", "turns", "candidates", "input_tokens", "output_tokens", "cost_usd", "seconds",
                           "queue_seconds"}) {
    table.columns.push_back({name, true});
  }
  const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
  for (const auto& result : results) {
    const auto& end = result.end;
    std::vector<std::string> row{result.id, result.task, result.level, end.outcome, end.at, end.message, base::join(end.labels, " "),
                                 result.task_hash, end.candidate, device_text(wire::member(end.facts, "device")),
                                 listed(wire::member(end.facts, "versions")), listed(wire::member(end.facts, "numerics"))};
    const bool told = end.paper && end.paper->correct;
    row.insert(row.end(), {std::to_string(result.sample), std::to_string(end.exit_code), flag(end.correct), flag(end.degenerate),
                           flag(end.success), std::to_string(end.grade), measured(end.speedup_over_eager), measured(end.over_eager.low),
                           measured(end.over_eager.high), measured(end.speedup_over_compiled), measured(end.over_compiled.low),
                           measured(end.over_compiled.high), measured(end.candidate_us), measured(end.eager_us), measured(end.compiled_us),
                           told ? flag(*end.paper->correct) : "", told ? std::to_string(static_cast<int>(end.paper->grade)) : "",
                           end.paper ? measured(end.paper->speedup_over_eager) : "", end.paper ? measured(end.paper->speedup_over_compiled) : ""});
    for (const char* name : {"turns", "candidates", "input_tokens", "output_tokens", "cost_usd"}) row.push_back(exact(fact_number(end, name)));
    row.push_back(exact(end.seconds));
    row.push_back(exact(end.queue_seconds));
    table.rows.push_back(std::move(row));
  }
  return table;
}

report::Facts machine_facts(const std::vector<JobResult>& results) {
  std::map<std::string, int> devices, versions, numerics, settings;
  for (const auto& result : results) {
    const auto& facts = result.end.facts;
    const auto count = [](std::map<std::string, int>& values, const std::string& value) {
      if (!value.empty()) ++values[value];
    };
    count(devices, device_text(wire::member(facts, "device")));
    count(versions, listed(wire::member(facts, "versions")));
    count(numerics, listed(wire::member(facts, "numerics")));
    count(settings, listed(wire::member(facts, "settings")));
  }
  report::Facts facts;
  add_fact(facts, "Device", devices);
  add_fact(facts, "Versions", versions);
  add_fact(facts, "Numerics in force", numerics);
  add_fact(facts, "Settings", settings);
  return facts;
}

report::Chart gain_distribution(const std::vector<const JobResult*>& results) {
  report::Chart chart;
  chart.kind = report::ChartKind::columns;
  chart.title = "Distribution of gains";
  chart.unit = "tasks";
  chart.labels.push_back("not correct");
  for (std::size_t i = 0; i <= kBins.size(); ++i) {
    chart.labels.push_back(i == 0 ? fmt::format("< {}x", kBins[0])
                                  : i == kBins.size() ? fmt::format(">= {}x", kBins.back()) : fmt::format("{} .. {}x", kBins[i - 1], kBins[i]));
  }
  for (const auto& [name, speedup] : {std::pair{"over eager", &batch::JobEnd::speedup_over_eager},
                                      std::pair{"over torch.compile", &batch::JobEnd::speedup_over_compiled}}) {
    report::ChartSeries series{name, std::vector<report::ChartValue>(chart.labels.size(), report::ChartValue{0, report::kNothing, report::kNothing})};
    for (const JobResult* result : results) {
      const double gain = result->end.*speedup;
      if (!result->end.correct) {
        series.values[0].value += 1;
      } else if (gain > 0) {
        std::size_t bin = 0;
        while (bin < kBins.size() && gain >= kBins[bin]) ++bin;
        series.values[bin + 1].value += 1;
      }
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace kagent::review
