// SPDX-License-Identifier: Apache-2.0
// kagent check TASK CANDIDATE...: one verdict for each. No model, no key.
#include <memory>
#include <vector>

#include "candidate_argument.h"
#include "commands.h"
#include "exit_codes.h"
#include "judge_options.h"
#include "report/evaluation_text.h"
#include "tasks/load.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::cli {
namespace {

struct CheckOptions {
  JudgeOptions judge;
  std::string task;
  std::vector<std::string> candidates;
  int repeat = 1;
};

wire::Json record(const Task& task, const std::string& path, const Evaluation& evaluation,
                  const evaluator::Session& session) {
  const auto& options = session.options();
  return {{"schema", "kagent.check/1"},
          {"outcome", report::outcome(evaluation)},
          {"task", {{"name", task.name}, {"hash", task.hash}}},
          {"candidate", path},
          {"settings", wire::to_json(options.settings)},
          {"device", wire::to_json(session.facts().device)},
          {"versions", session.facts().versions},
          {"numerics", session.facts().numerics},
          {"sandbox", options.tier == sys::SandboxTier::none ? "none" : "bubblewrap"},
          {"evaluation", wire::to_json(evaluation)}};
}

void show(const CheckOptions& options, const Task& task, const std::string& path,
          const Evaluation& evaluation, const evaluator::Session& session) {
  if (options.judge.json) {
    fmt::print("{}\n", wire::dump(record(task, path, evaluation, session)));
  } else {
    if (options.candidates.size() > 1) fmt::print("{}\n", path);
    fmt::print("{}", report::evaluation_text(evaluation, session.options().settings));
  }
  if (evaluation.verdict.fault && !options.judge.json) {
    Error error;
    error.message = fmt::format("{}: {}", report::outcome(evaluation),
                                report::fault_line(*evaluation.verdict.fault));
    print_error(error);
  }
  std::fflush(stdout);
}

Result<int> check(const CheckOptions& options) {
  KAGENT_TRY(const Task task, tasks::load(options.task));
  KAGENT_TRY(auto frozen, freeze_arguments(options.candidates));
  KAGENT_TRY(auto session_options, options.judge.session(frozen.folder.path()));
  KAGENT_TRY(auto session, evaluator::Session::open(task, std::move(session_options)));
  int code = kSuccess;
  for (std::size_t i = 0; i < frozen.contents.size(); ++i) {
    for (int number = 0; number < options.repeat; ++number) {
      KAGENT_TRY(const Evaluation evaluation,
                 session->evaluate(std::get<Candidate>(frozen.contents[i])));
      end_progress();
      code = higher_exit_code(code, exit_code(evaluation));
      show(options, task, options.candidates[i], evaluation, *session);
    }
  }
  return code;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code_out) {
  auto options = std::make_shared<CheckOptions>();
  auto* command = app.add_subcommand("check", "judge a candidate: correct, faster, honest");
  command->add_option("task", options->task, "the operator: a KernelBench-format file")->required();
  command->add_option("candidates", options->candidates, "folders with model_new.py, or that file")
      ->required();
  command->add_option("--repeat", options->repeat, "evaluate this often in one session")
      ->check(CLI::Range(1, 1000));
  options->judge.add_to(*command);
  command->callback([options, &exit_code_out] {
    auto code = check(*options);
    end_progress();
    exit_code_out = code ? *code : report_failure(code.error(), options->judge.json);
  });
}

}  // namespace kagent::cli
