// SPDX-License-Identifier: Apache-2.0
// kagent check TASK CANDIDATE...: one verdict for each. No model, no key.
#include <algorithm>
#include <memory>
#include <vector>

#include "batch/job.h"
#include "candidate_argument.h"
#include "ci_output.h"
#include "commands.h"
#include "exit_codes.h"
#include "judge_options.h"
#include "regression_gate.h"
#include "report/evaluation_text.h"
#include "report/render.h"
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
  std::string junit;
  GateOptions gate;
};

/// Everything but success, in JUnit and annotations: what makes the exit code other than 0.
std::set<batch::EndKind> every_failure() {
  using enum batch::EndKind;
  return {wrong, slower, inconclusive, invalid, crash, cheat, environment, network, budget};
}

/// Verdicts so far, for CI systems.
class Results {
 public:
  explicit Results(const CheckOptions& options) : options_(options) {}

  void add(const std::string& candidate, int code, const wire::Json& record) {
    batch::JobResult result;
    result.task = std::filesystem::path(options_.task).stem().string();
    result.id = result.task + " " + candidate;
    const auto now = Clock::now();
    result.end = batch::read_end(code, std::chrono::duration<double>(now - last_).count(), wire::dump(record), "");
    last_ = now;
    results_.push_back(std::move(result));
  }

  Result<void> publish() const {
    report::Table table;
    table.columns = {{"check", false}, {"outcome", false}, {"over eager", true}, {"over torch.compile", true}, {"why", false}};
    for (const auto& [id, task, level, hash, sample, end] : results_) {
      const auto gain = [](double speedup) { return speedup > 0 ? fmt::format("{:.2f}x", speedup) : std::string("-"); };
      table.rows.push_back({id, end.outcome, gain(end.speedup_over_eager), gain(end.speedup_over_compiled),
                            (end.at.empty() ? "" : end.at + ": ") + end.message});
    }
    return publish_to_ci(results_, every_failure(), options_.junit, "### kagent check\n\n" + report::markdown_of(table) + "\n");
  }

 private:
  using Clock = std::chrono::steady_clock;
  const CheckOptions& options_;
  Clock::time_point last_ = Clock::now();
  std::vector<batch::JobResult> results_;
};

wire::Json record(const Task& task, const std::string& path, const Evaluation& evaluation,
                  const evaluator::Session& session, const std::optional<GateOutcome>& gate) {
  const auto& options = session.options();
  wire::Json json{{"schema", "kagent.check/1"},
                  {"outcome", gate ? gate->outcome : report::outcome(evaluation)},
                  {"task", {{"name", task.name}, {"hash", task.hash}}},
                  {"candidate", path},
                  {"settings", wire::to_json(options.settings)},
                  {"device", wire::to_json(session.facts().device)},
                  {"versions", session.facts().versions},
                  {"numerics", session.facts().numerics},
                  {"sandbox", sandbox::word(options.tier)},
                  {"evaluation", wire::to_json(evaluation)}};
  if (gate) {
    json["gate"] = gate->json;
    json["message"] = "gate: " + std::string(gate->text.begin() + 2, gate->text.end() - 1);
  }
  return json;
}

void show(const CheckOptions& options, const std::string& path, const Evaluation& evaluation, const wire::Json& json,
          const evaluator::Session& session, const std::optional<GateOutcome>& gate) {
  if (options.judge.json) {
    fmt::print("{}\n", wire::dump(json));
  } else {
    if (options.candidates.size() > 1) fmt::print("{}\n", path);
    fmt::print("{}", report::evaluation_text(evaluation, session.options().settings));
    if (gate) fmt::print("{}", gate->text);
  }
  if (evaluation.verdict.fault && !options.judge.json) {
    Error error;
    error.message = fmt::format("{}: {}", report::outcome(evaluation),
                                report::fault_line(*evaluation.verdict.fault));
    print_error(error);
  }
  std::fflush(stdout);
}

/// What stands beside the candidate: the one it must not be slower than.
struct Against {
  GateFile file;
  sys::TemporaryDirectory sources;
};

Result<std::optional<Against>> load_against(const CheckOptions& options, const Task& task) {
  if (options.gate.against.empty()) return std::optional<Against>();
  if (options.candidates.size() != 1 || options.repeat != 1) {
    return Error{ErrorKind::usage, "--against: one candidate, and without --repeat"};
  }
  KAGENT_TRY(GateFile file, load_gate(options.gate.against, task));
  KAGENT_TRY(auto sources, sys::TemporaryDirectory::create("kagent-gate"));
  KAGENT_TRY_VOID(unpack(file, sources.path()));
  return std::optional(Against{std::move(file), std::move(sources)});
}

Result<int> check(const CheckOptions& options, Results& results) {
  KAGENT_TRY(const Task task, tasks::load(options.task));
  KAGENT_TRY(const auto against, load_against(options, task));
  auto paths = options.candidates;
  if (against) paths.push_back(against->sources.path().string());
  KAGENT_TRY(auto frozen, freeze_arguments(paths));
  KAGENT_TRY(auto session_options, options.judge.session(frozen.folder.path()));
  KAGENT_TRY(auto session, evaluator::Session::open(task, std::move(session_options)));
  int code = kSuccess;
  for (std::size_t i = 0; i < options.candidates.size(); ++i) {
    const auto& candidate = std::get<Candidate>(frozen.contents[i]);
    for (int number = 0; number < options.repeat; ++number) {
      KAGENT_TRY(const Evaluation evaluation, session->evaluate(candidate));
      int own = exit_code(evaluation);
      std::optional<GateOutcome> gate;
      if (against && evaluation.verdict.correct) {
        KAGENT_TRY(gate, run_gate(*session, against->file, std::get<Candidate>(frozen.contents.back()), candidate, options.gate));
        own = gate->exit_code;   // the gate's question is another: not "fast enough?" but "slower than before?"
      }
      end_progress();
      code = higher_exit_code(code, own);
      const wire::Json json = record(task, options.candidates[i], evaluation, *session, gate);
      results.add(options.candidates[i], own, json);
      show(options, options.candidates[i], evaluation, json, *session, gate);
    }
  }
  return code;
}

int run(const CheckOptions& options) {
  Results results(options);
  auto code = check(options, results);
  end_progress();
  const int ended = code ? *code : report_failure(code.error(), options.judge.json);
  if (!code) {
    results.add(options.candidates.size() == 1 ? options.candidates[0] : "", ended,
                {{"outcome", outcome_word(code.error())}, {"message", code.error().message}});
  }
  if (auto published = results.publish(); !published) {
    print_error(published.error());
    return higher_exit_code(ended, exit_code(published.error()));
  }
  return ended;
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
  command->add_option("--against", options->gate.against,
                      "fail where the candidate is slower than the one in this file of kagent baseline --save");
  command->add_option("--max-slowdown", options->gate.max_slowdown, "with --against: this part more time is borne (default 0.05)")
      ->check(CLI::Range(0.0, 10.0));
  command->add_option("--pairs", options->gate.pairs, "with --against: evaluations of either candidate (default 9)")
      ->check(CLI::Range(6, 1000));
  command->add_option("--junit", options->junit, "write the verdicts as JUnit XML to this file");
  options->judge.add_to(*command);
  command->callback([options, &exit_code_out] { exit_code_out = run(*options); });
}

}  // namespace kagent::cli
