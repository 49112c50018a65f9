// SPDX-License-Identifier: Apache-2.0
// kagent baseline TASK...: eager and torch.compile, measured and stored per device.
#include <memory>

#include "baseline_file.h"
#include "commands.h"
#include "each_task.h"
#include "exit_codes.h"
#include "judge_options.h"
#include "report/evaluation_text.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::cli {
namespace {

struct BaselineOptions {
  JudgeOptions judge;
  std::vector<std::string> tasks;
};

Result<TaskRecord> measure(const BaselineOptions& options, const Task& task, evaluator::Session& session) {
  KAGENT_TRY(const Measurement measurement, session.measure_baselines());
  end_progress();
  const auto& settings = session.options().settings;
  wire::Json record{{"schema", "kagent.baseline/1"},
                    {"task", {{"name", task.name}, {"hash", task.hash}}},
                    {"settings", wire::to_json(settings)},
                    {"device", wire::to_json(session.facts().device)},
                    {"versions", session.facts().versions},
                    {"numerics", session.facts().numerics},
                    {"measurement", wire::to_json(measurement)}};
  KAGENT_TRY(const auto stored, store_baseline(cache_directory(), task, settings, session.facts().device,
                                               session.facts().versions, record));
  if (!options.judge.json) {
    fmt::print("{}\n{}", task.name, report::score_table(measurement, settings));
    for (const auto& note : measurement.notes) fmt::print("  note: {}\n", note);
    fmt::print("  stored in {}\n", stored.string());
    std::fflush(stdout);
  }
  record["stored"] = stored.string();
  return TaskRecord{std::move(record), kSuccess};
}

}  // namespace

void add_baseline(CLI::App& app, int& exit_code_out) {
  auto options = std::make_shared<BaselineOptions>();
  auto* command = app.add_subcommand("baseline", "time eager and torch.compile");
  command->add_option("tasks", options->tasks, "KernelBench-format files")->required();
  options->judge.add_to(*command);
  command->callback([options, &exit_code_out] {
    exit_code_out = for_each_task(options->tasks, options->judge, "kagent.baselines/1", "baselines",
                                  [&](const Task& task, evaluator::Session& session) { return measure(*options, task, session); });
  });
}

}  // namespace kagent::cli
