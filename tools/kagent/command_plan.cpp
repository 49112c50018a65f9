// SPDX-License-Identifier: Apache-2.0
// kagent plan CANDIDATE: what its forward does, step by step. Needs no GPU.
#include <memory>

#include "candidate_argument.h"
#include "commands.h"
#include "exit_codes.h"
#include "judge_options.h"
#include "policy/operators.h"
#include "report/evaluation_text.h"
#include "report/plan_text.h"
#include "tasks/load.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::cli {
namespace {

namespace fs = std::filesystem;

struct PlanOptions {
  JudgeOptions judge;
  std::string candidate;
  std::string task;
  std::string device;
  std::string audit;   // folder to write for the runner's audit mode; empty: none
};

Result<fs::path> task_of(const PlanOptions& options) {
  if (!options.task.empty()) return fs::path(options.task);
  std::error_code code;
  fs::path folder = options.candidate;
  if (!fs::is_directory(folder, code)) folder = folder.parent_path();
  if (fs::exists(folder / "task.py", code)) return folder / "task.py";
  return Error{ErrorKind::usage, options.candidate +
                                     ": which operator is it for? add --task TASK.py (there is no "
                                     "task.py beside it)"};
}

Result<DeviceRecord> device_of(const PlanOptions& options) {
  fs::path path = options.device;
  if (path.empty()) {
    KAGENT_TRY(const auto installation, evaluator::Installation::find());
    path = installation.share / "devices/h200.json";
  }
  KAGENT_TRY(const std::string text, sys::read_file(path, 1 << 16));
  KAGENT_TRY(const auto json, wire::parse_text(text, path.string()));
  auto device = wire::parse<DeviceRecord>(json);
  if (!device) return std::move(device).error().with_context(path.string());
  return device;
}

Result<void> refuse_full_folder(const fs::path& folder) {
  std::error_code code;
  if (!fs::exists(folder, code) || (fs::is_directory(folder, code) && fs::is_empty(folder, code))) return {};
  return Error{ErrorKind::usage, folder.string() + ": is there already; name a new or an empty folder"};
}

Result<int> plan(const PlanOptions& options) {
  KAGENT_TRY(const fs::path task_path, task_of(options));
  KAGENT_TRY(const Task task, tasks::load(task_path));
  KAGENT_TRY(auto frozen, freeze_argument(options.candidate));
  if (const auto* fault = std::get_if<Fault>(&frozen.content)) {
    return Error{ErrorKind::usage, options.candidate + ": " + fault->message};
  }
  KAGENT_TRY(auto session_options, options.judge.session(frozen.folder.path()));
  KAGENT_TRY(const DeviceRecord device, device_of(options));
  KAGENT_TRY(auto session, evaluator::Session::open_for_recording(task, std::move(session_options), device));
  KAGENT_TRY(auto recorded, session->record(std::get<Candidate>(frozen.content)));
  end_progress();
  std::optional<Fault> fault;
  if (const auto* made = std::get_if<Plan>(&recorded); made != nullptr && !options.audit.empty()) {
    KAGENT_TRY_VOID(refuse_full_folder(options.audit));
    KAGENT_TRY(fault, session->write_plan_folder(std::get<Candidate>(frozen.content), *made, options.audit));
    end_progress();
  }
  if (auto* found = std::get_if<Fault>(&recorded)) fault = *found;
  if (const auto* made = std::get_if<Plan>(&recorded)) {
    if (!fault) fault = policy::check_operators(*made, session->options().settings);
    if (options.judge.json) {
      fmt::print("{}\n", wire::dump({{"schema", "kagent.plan-command/1"},
                                     {"outcome", fault ? wire::word(fault->kind) : "success"},
                                     {"fault", fault ? wire::to_json(*fault) : wire::Json()},
                                     {"plan", wire::to_json(*made)}}));
    } else {
      fmt::print("{}", report::plan_text(*made));
    }
  } else if (options.judge.json) {
    fmt::print("{}\n", wire::dump({{"schema", "kagent.plan-command/1"},
                                   {"outcome", wire::word(fault->kind)},
                                   {"fault", wire::to_json(*fault)}}));
  }
  if (!fault) return kSuccess;
  if (!options.judge.json) {
    print_error(Error{ErrorKind::usage, fmt::format("{}: {}", wire::word(fault->kind),
                                                    report::fault_line(*fault))});
  }
  return kVerdictNegative;
}

}  // namespace

void add_plan(CLI::App& app, int& exit_code_out) {
  auto options = std::make_shared<PlanOptions>();
  auto* command = app.add_subcommand("plan", "print what a candidate's forward does (no GPU needed)");
  command->add_option("candidate", options->candidate, "folder with model_new.py, or that file")
      ->required();
  command->add_option("--task", options->task, "its operator; default: task.py beside it");
  command->add_option("--device", options->device,
                      "device record (JSON) to record for; default: H200");
  command->add_option("--audit", options->audit,
                      "build it too, and write a folder for kagent-runner audit FOLDER (docs/audit-mode.md)");
  options->judge.add_to(*command);
  command->callback([options, &exit_code_out] {
    auto code = plan(*options);
    end_progress();
    exit_code_out = code ? *code : report_failure(code.error(), options->judge.json);
  });
}

}  // namespace kagent::cli
