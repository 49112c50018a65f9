// SPDX-License-Identifier: Apache-2.0
// kagent vet TASK...: is a task worth anyone's time? Null models, hidden families, notes.
#include <algorithm>
#include <memory>

#include "commands.h"
#include "exit_codes.h"
#include "judge_options.h"
#include "tasks/load.h"
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

Result<wire::Json> vet_one(const VetOptions& options, const std::string& path) {
  KAGENT_TRY(const Task task, tasks::load(path));
  KAGENT_TRY(const auto nothing, sys::TemporaryDirectory::create("kagent-candidate"));
  KAGENT_TRY(auto session_options, options.judge.session(nothing.path()));
  KAGENT_TRY(auto session, evaluator::Session::open(task, std::move(session_options)));
  KAGENT_TRY(const evaluator::TaskAudit audit, session->audit_task());
  end_progress();
  return record_of(task, *session, audit);
}

int vet(const VetOptions& options) {
  int worst = kSuccess;
  wire::Json records = wire::Json::array();
  for (const auto& path : options.tasks) {
    auto record = vet_one(options, path);
    end_progress();
    if (record) {
      if (!options.judge.json) print_record(*record);
      if ((*record)["outcome"] == "degenerate") worst = higher_exit_code(worst, kVerdictNegative);
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
    fmt::print("{}\n", wire::dump({{"schema", "kagent.vets/1"},
                                   {"outcome", worst == kSuccess ? "success" : "failed"},
                                   {"tasks", std::move(records)}}));
  }
  return worst;
}

}  // namespace

void add_vet(CLI::App& app, int& exit_code_out) {
  auto options = std::make_shared<VetOptions>();
  auto* command = app.add_subcommand("vet", "find out whether a task can tell right from wrong");
  command->add_option("tasks", options->tasks, "KernelBench-format files")->required();
  options->judge.add_to(*command);
  command->callback([options, &exit_code_out] { exit_code_out = vet(*options); });
}

}  // namespace kagent::cli
