// SPDX-License-Identifier: Apache-2.0
// kagent vet TASK...: is a task worth anyone's time? Null models, hidden families, notes.
#include <memory>

#include "commands.h"
#include "each_task.h"
#include "exit_codes.h"
#include "judge_options.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::cli {
namespace {

struct VetOptions {
  JudgeOptions judge;
  std::vector<std::string> tasks;
};

wire::Json record_of(const Task& task, const evaluator::Session& session,
                     const evaluator::TaskAudit& audit) {
  wire::Json models = wire::Json::array();
  for (const auto& model : audit.null_models) {
    models.push_back({{"name", model.name}, {"passed", model.passed},
                      {"error_ratio", model.error_ratio}, {"refuted_by", model.refuted_by}});
  }
  return {{"task", {{"name", task.name}, {"hash", task.hash}}},
          {"outcome", audit.degenerate ? "degenerate" : "sound"},
          {"null_models", std::move(models)},
          {"variants", session.variants()},
          {"notes", session.facts().notes},
          {"numerics", session.facts().numerics}};
}

void print_record(const wire::Json& record) {
  fmt::print("{}: {}\n", record["task"]["name"].get<std::string>(),
             record["outcome"].get<std::string>());
  for (const auto& model : record["null_models"]) {
    const auto refuted = model["refuted_by"].get<std::string>();
    fmt::print("  {:<22} {:.2g} of the allowed error{}{}\n", model["name"].get<std::string>(),
               model["error_ratio"].get<double>(),
               model["passed"].get<bool>() ? ": passes on the task's own inputs" : "",
               refuted.empty() ? "" : ", fails on the hidden family '" + refuted + "'");
  }
  for (const auto& note : record["notes"]) fmt::print("  note: {}\n", note.get<std::string>());
  std::fflush(stdout);
}

Result<TaskRecord> vet(const VetOptions& options, const Task& task, evaluator::Session& session) {
  KAGENT_TRY(const evaluator::TaskAudit audit, session.audit_task());
  end_progress();
  TaskRecord record{record_of(task, session, audit), audit.degenerate ? kVerdictNegative : kSuccess};
  if (!options.judge.json) print_record(record.json);
  return record;
}

}  // namespace

void add_vet(CLI::App& app, int& exit_code_out) {
  auto options = std::make_shared<VetOptions>();
  auto* command = app.add_subcommand("vet", "find out whether a task can tell right from wrong");
  command->add_option("tasks", options->tasks, "KernelBench-format files")->required();
  options->judge.add_to(*command);
  command->callback([options, &exit_code_out] {
    exit_code_out = for_each_task(options->tasks, options->judge, "kagent.vets/1", "tasks",
                                  [&](const Task& task, evaluator::Session& session) { return vet(*options, task, session); });
  });
}

}  // namespace kagent::cli
