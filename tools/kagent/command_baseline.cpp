// SPDX-License-Identifier: Apache-2.0
// kagent baseline TASK...: eager and torch.compile, measured and stored per device.
#include <memory>

#include "baseline_file.h"
#include "candidate_argument.h"
#include "commands.h"
#include "each_task.h"
#include "exit_codes.h"
#include "gate_file.h"
#include "judge_options.h"
#include "report/evaluation_text.h"
#include "sys/files.h"
#include "tasks/load.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::cli {
namespace {

struct BaselineOptions {
  JudgeOptions judge;
  std::vector<std::string> tasks;
  std::string candidate;    // with save
  std::string save;
};

Result<TaskRecord> measure(const BaselineOptions& options, const Task& task, evaluator::Session& session) {
  KAGENT_TRY(const Measurement measurement, session.measure_baselines());
  end_progress();
  const auto& settings = session.options().settings;
  wire::Json record{{"schema", "kagent.baseline/1"},
                    {"task", {{"name", task.name}, {"hash", task.hash}}},
                    {"settings", wire::to_json(settings)},
                    {"sandbox", sandbox::word(session.options().tier)},
                    {"device", wire::to_json(session.facts().device)},
                    {"versions", session.facts().versions},
                    {"numerics", session.facts().numerics},
                    {"measurement", wire::to_json(measurement)}};
  KAGENT_TRY(const auto stored, store_baseline(session.options().cache, task, settings, session.facts().device,
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

/// A candidate that is correct here, with its sources and times, for kagent check --against.
Result<int> save_candidate(const BaselineOptions& options) {
  if (options.candidate.empty() || options.save.empty()) {
    return Error{ErrorKind::usage, "--save FILE and --candidate CANDIDATE go together: the file holds what check --against compares with"};
  }
  if (options.tasks.size() != 1) return Error{ErrorKind::usage, "--save: one task, one candidate, one file"};
  KAGENT_TRY(const Task task, tasks::load(options.tasks[0]));
  KAGENT_TRY(auto frozen, freeze_arguments({options.candidate}));
  KAGENT_TRY(auto session_options, options.judge.session(frozen.folder.path()));
  KAGENT_TRY(auto session, evaluator::Session::open(task, std::move(session_options)));
  const auto& candidate = std::get<Candidate>(frozen.contents[0]);
  KAGENT_TRY(const Evaluation evaluation, session->evaluate(candidate));
  end_progress();
  if (!options.judge.json) fmt::print("{}", report::evaluation_text(evaluation, session->options().settings));
  if (!evaluation.verdict.correct) {
    print_error({ErrorKind::usage, options.candidate + ": not correct, nothing was saved"});
    return exit_code(evaluation);
  }
  const wire::Json record = gate_record(task, candidate, evaluation, *session);
  KAGENT_TRY_VOID(sys::write_file_atomically(options.save, wire::dump(record, 1) + "\n"));
  if (options.judge.json) {
    fmt::print("{}\n", wire::dump({{"schema", "kagent.saved/1"}, {"outcome", "success"}, {"saved", options.save}, {"candidate", candidate.hash}}));
  } else {
    fmt::print("  saved in {}\n", options.save);
  }
  return kSuccess;
}

}  // namespace

void add_baseline(CLI::App& app, int& exit_code_out) {
  auto options = std::make_shared<BaselineOptions>();
  auto* command = app.add_subcommand("baseline", "time eager and torch.compile");
  command->add_option("tasks", options->tasks, "KernelBench-format files")->required();
  command->add_option("--candidate", options->candidate, "with --save: the candidate to compare with from now on");
  command->add_option("--save", options->save, "write candidate and times to this file, for check --against");
  options->judge.add_to(*command);
  command->callback([options, &exit_code_out] {
    if (!options->save.empty() || !options->candidate.empty()) {
      auto code = save_candidate(*options);
      end_progress();
      exit_code_out = code ? *code : report_failure(code.error(), options->judge.json);
      return;
    }
    exit_code_out = for_each_task(options->tasks, options->judge, "kagent.baselines/1", "baselines",
                                  [&](const Task& task, evaluator::Session& session) { return measure(*options, task, session); });
  });
}

}  // namespace kagent::cli
