// SPDX-License-Identifier: Apache-2.0
// kagent baseline TASK...: eager and torch.compile, measured and stored per device.
#include <algorithm>
#include <memory>

#include "baseline_file.h"
#include "commands.h"
#include "exit_codes.h"
#include "judge_options.h"
#include "report/evaluation_text.h"
#include "tasks/load.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::cli {
namespace {

struct BaselineOptions {
  JudgeOptions judge;
  std::vector<std::string> tasks;
};

Result<wire::Json> measure_one(const BaselineOptions& options, const std::string& path) {
  KAGENT_TRY(const Task task, tasks::load(path));
  KAGENT_TRY(const auto nothing, sys::TemporaryDirectory::create("kagent-candidate"));
  KAGENT_TRY(auto session_options, options.judge.session(nothing.path()));
  KAGENT_TRY(auto session, evaluator::Session::open(task, std::move(session_options)));
  KAGENT_TRY(const Measurement measurement, session->measure_baselines());
  end_progress();
  const auto& settings = session->options().settings;
  wire::Json record{{"schema", "kagent.baseline/1"},
                    {"task", {{"name", task.name}, {"hash", task.hash}}},
                    {"settings", wire::to_json(settings)},
                    {"device", wire::to_json(session->facts().device)},
                    {"versions", session->facts().versions},
                    {"numerics", session->facts().numerics},
                    {"measurement", wire::to_json(measurement)}};
  KAGENT_TRY(const auto stored, store_baseline(cache_directory(), task, settings, session->facts().device,
                                               session->facts().versions, record));
  if (!options.judge.json) {
    fmt::print("{}\n{}", task.name, report::score_table(measurement, settings));
    for (const auto& note : measurement.notes) fmt::print("  note: {}\n", note);
    fmt::print("  stored in {}\n", stored.string());
    std::fflush(stdout);
  }
  record["stored"] = stored.string();
  return record;
}

int baseline(const BaselineOptions& options) {
  int worst = kSuccess;
  wire::Json records = wire::Json::array();
  for (const auto& path : options.tasks) {
    auto record = measure_one(options, path);
    end_progress();
    if (record) {
      records.push_back(std::move(*record));
      continue;
    }
    print_error(record.error());
    records.push_back({{"task", {{"name", path}}},
                       {"outcome", outcome_word(record.error())},
                       {"message", record.error().message}});
    worst = higher_exit_code(worst, exit_code(record.error()));
    if (record.error().kind == ErrorKind::interrupted) break;
  }
  if (options.judge.json) {
    fmt::print("{}\n", wire::dump({{"schema", "kagent.baselines/1"},
                                   {"outcome", worst == kSuccess ? "success" : "failed"},
                                   {"baselines", std::move(records)}}));
  }
  return worst;
}

}  // namespace

void add_baseline(CLI::App& app, int& exit_code_out) {
  auto options = std::make_shared<BaselineOptions>();
  auto* command = app.add_subcommand("baseline", "time eager and torch.compile");
  command->add_option("tasks", options->tasks, "KernelBench-format files")->required();
  options->judge.add_to(*command);
  command->callback([options, &exit_code_out] { exit_code_out = baseline(*options); });
}

}  // namespace kagent::cli
