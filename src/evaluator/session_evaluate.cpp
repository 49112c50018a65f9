// SPDX-License-Identifier: Apache-2.0
// One candidate from its source to its score.
#include <algorithm>
#include <utility>

#include "evaluator/secret.h"
#include "evaluator/session.h"
#include "policy/bindings.h"
#include "policy/launches.h"
#include "policy/operators.h"
#include "policy/outputs.h"
#include "scoring/score.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::evaluator {
namespace {

constexpr auto kRecordTimeout = std::chrono::seconds(60);
constexpr auto kBuildTimeout = std::chrono::seconds(180);
constexpr auto kLoadTimeout = std::chrono::seconds(60);
constexpr auto kTrialTimeout = std::chrono::seconds(120);
constexpr auto kRunTimeout = std::chrono::seconds(30);
constexpr int kFirstPattern = 0xff;   // NaN in every floating type, -1 in integers
constexpr int kSecondPattern = 0x4b;  // large and finite

using Moment = std::chrono::steady_clock::time_point;

double milliseconds_since(Moment start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

/// Adds the time since the last mark to a stage.
class Session::Clock {
 public:
  explicit Clock(std::map<std::string, double>& stages) : stages_(stages) {}
  void mark(const std::string& stage) {
    stages_[stage] += milliseconds_since(last_);
    last_ = std::chrono::steady_clock::now();
  }
  /// What was since the last mark belongs to no stage.
  void skip() { last_ = std::chrono::steady_clock::now(); }

 private:
  std::map<std::string, double>& stages_;
  Moment last_ = std::chrono::steady_clock::now();
};

namespace {

Evaluation failed(Evaluation evaluation, Fault fault) {
  evaluation.verdict.correct = false;
  evaluation.verdict.fault = std::move(fault);
  return evaluation;
}

}  // namespace

Result<Recorded> Session::record(const Candidate& candidate) {
  tell("record");
  const auto seen = candidates_mount(options_.candidates, options_.tier).theirs /
                    candidate.folder.lexically_relative(options_.candidates);
  auto outcome = recorder_->ask({{"type", "record"},
                                 {"candidate", seen.string()},
                                 {"signature", wire::to_json(facts_.signature)},
                                 {"backend", wire::word(options_.settings.backend)},
                                 {"device", wire::to_json(facts_.device)},
                                 {"mode", wire::word(options_.settings.mode)}},
                                {}, kRecordTimeout);
  if (auto* breakdown = std::get_if<Breakdown>(&outcome)) {
    KAGENT_TRY_VOID(start_recorder());
    Fault fault;
    fault.kind = breakdown->kind == BreakdownKind::timeout ? FaultKind::timeout : FaultKind::crash;
    fault.message = "model_new.py could not be recorded: " + breakdown->message;
    fault.at = {"model_new.py", 0};
    return Recorded(std::move(fault));
  }
  if (auto* fault = std::get_if<Fault>(&outcome)) return Recorded(std::move(*fault));
  KAGENT_TRY(const Answer answer, expect_answer(std::move(outcome)));
  auto plan = wire::parse<Plan>(answer.ok.value("plan", wire::Json()));
  if (!plan) {
    // The recorder ran hostile Python: a plan that makes no sense is the candidate's doing.
    Fault fault;
    fault.kind = FaultKind::tampering;
    fault.message = "the recorded plan is not well formed: " + plan.error().message;
    fault.at = {"model_new.py", 0};
    return Recorded(std::move(fault));
  }
  if (plan->backend != options_.settings.backend) {
    Fault fault;
    fault.kind = FaultKind::tampering;
    fault.message = "the recorded plan is for another backend";
    return Recorded(std::move(fault));
  }
  if (options_.artifacts == Artifacts::keep) {
    KAGENT_TRY_VOID(sys::write_file_atomically(candidate.folder.parent_path() / "plan.json",
                                               wire::dump(answer.ok.at("plan"), 1)));
  }
  return Recorded(std::move(*plan));
}

Result<Built> Session::build(const Candidate& candidate, const Plan& plan,
                             std::vector<sys::Fd>& images) {
  tell("build");
  wire::Json sources = wire::Json::object();
  for (const auto& [path, text] : candidate.files) {
    if (path.rfind("kernels/", 0) == 0) sources[path] = text;
  }
  wire::Json kernels = wire::Json::array();
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const auto& kernel = plan.kernels[i];
    kernels.push_back({{"kernel", i},
                       {"source", kernel.source},
                       {"name", kernel.name},
                       {"options", kernel.options},
                       {"at", {{"file", kernel.at.file}, {"line", kernel.at.line}}}});
  }
  auto outcome = builder_->ask({{"type", "build"},
                                {"backend", wire::word(plan.backend)},
                                {"architecture", facts_.device.architecture},
                                {"compiler", wire::word(options_.settings.compiler)},
                                {"sources", std::move(sources)},
                                {"kernels", std::move(kernels)}},
                               {}, kBuildTimeout);
  const auto keep_log = [&](const std::string& log) -> Result<void> {
    if (options_.artifacts == Artifacts::forget) return {};
    return sys::write_file_atomically(candidate.folder.parent_path() / "build.log", log);
  };
  if (auto* breakdown = std::get_if<Breakdown>(&outcome)) {
    KAGENT_TRY_VOID(start_builder());
    Fault fault;
    fault.kind = FaultKind::build_failed;
    fault.message = "the compiler did not survive the kernels: " + breakdown->message;
    return Built(std::move(fault));
  }
  if (auto* fault = std::get_if<Fault>(&outcome)) {
    KAGENT_TRY_VOID(keep_log(fault->detail));
    return Built(std::move(*fault));
  }
  KAGENT_TRY(Answer answer, expect_answer(std::move(outcome)));
  KAGENT_TRY(BuildResult result, wire::parse<BuildResult>(answer.ok.value("build", wire::Json())));
  if (answer.descriptors.size() != result.units.size()) {
    return Error{ErrorKind::internal, "builder: images and units differ in number"};
  }
  std::string log;
  for (const auto& unit : result.units) log += unit.source + "\n" + unit.log + "\n";
  KAGENT_TRY_VOID(keep_log(log));
  images = std::move(answer.descriptors);
  return Built(std::move(result));
}

Result<std::optional<Fault>> Session::load(RunnerChild& child, const Plan& plan,
                                           const BuildResult& build,
                                           const std::vector<sys::Fd>& images, bool diagnostic) {
  wire::Json inputs = wire::Json::array();
  for (const auto& layout : memory_->inputs) inputs.push_back(wire::to_json(layout));
  const wire::Json request{{"type", "load"},
                           {"plan", wire::to_json(plan)},
                           {"build", wire::to_json(build)},
                           {"weights", wire::to_json(memory_->weights)},
                           {"inputs", std::move(inputs)},
                           {"outputs", wire::to_json(memory_->outputs)},
                           {"numerics", wire::word(options_.settings.numerics)},
                           {"diagnostic", diagnostic},
                           {"device_index", 0}};
  std::vector<int> descriptors;
  for (const auto& fd : memory_->descriptors) descriptors.push_back(fd.get());
  for (const auto& image : images) descriptors.push_back(image.get());
  if (instruments_) descriptors.push_back(instruments_.get());
  for (const auto* step : {"load", "prepare"}) {
    const bool first = std::string_view(step) == "load";
    auto outcome = first ? child.ask(request, descriptors, kLoadTimeout)
                         : child.ask({{"type", "prepare"}}, {}, kRunTimeout);
    if (auto* fault = std::get_if<Fault>(&outcome)) return std::optional(std::move(*fault));
    if (auto* error = std::get_if<Error>(&outcome)) return std::move(*error);
    if (!first) prepare_us_ = number_field(std::get<Answer>(outcome).ok, "prepare_us");
  }
  return std::optional<Fault>();
}

Result<std::optional<Fault>> Session::run_trial(RunnerChild& child, int number, Trial& trial) {
  trial.seed = secret_number();
  last_set_ = number % static_cast<int>(memory_->inputs.size());
  auto made = expect_answer(reference_->ask(
      {{"type", "trial"}, {"seed", trial.seed}, {"set", last_set_}}, {}, kTrialTimeout));
  if (!made) return in_task(std::move(made).error());
  collect_notes(made->ok, "notes", facts_.notes);
  const int pattern = number % 2 == 0 ? kFirstPattern : kSecondPattern;
  auto ran = child.ask({{"type", "run"}, {"set", last_set_}, {"poison", pattern}}, {}, kRunTimeout);
  if (auto* fault = std::get_if<Fault>(&ran)) return std::optional(std::move(*fault));
  if (auto* error = std::get_if<Error>(&ran)) return std::move(*error);
  KAGENT_TRY(const Answer compared, expect_answer(reference_->ask(
                                        {{"type", "compare"}, {"set", last_set_}, {"poison", pattern}}, {}, kTrialTimeout)));
  trial.passed = compared.ok.value("passed", false);
  trial.max_error = number_field(compared.ok, "max_error");
  trial.error_ratio = number_field(compared.ok, "error_ratio");
  if (trial.passed) return std::optional<Fault>();
  KAGENT_TRY(Fault fault, wire::parse<Fault>(compared.ok.value("fault", wire::Json())));
  return std::optional(std::move(fault));
}

Result<std::optional<Fault>> Session::run_trials(RunnerChild& child, Verdict& verdict) {
  for (int number = 0; number < options_.settings.trials; ++number) {
    tell(fmt::format("trial {}/{}", number + 1, options_.settings.trials));
    Trial trial;
    KAGENT_TRY(auto fault, run_trial(child, number, trial));
    verdict.trials.push_back(trial);
    if (fault) return fault;
  }
  return std::optional<Fault>();
}

Result<Fault> Session::diagnose(const Plan& plan, const BuildResult& build,
                                const std::vector<sys::Fd>& images, Fault fault, int set) {
  // The card says "illegal address" of a write to an input, past the end, and of a wild pointer
  // alike (pitfall 15); on the CPU it is a signal. A slow, watchful run tells them apart.
  tell("diagnose");
  KAGENT_TRY(RunnerChild child, runner_->fork());
  KAGENT_TRY(auto found, load(child, plan, build, images, true));
  if (!found) {
    auto outcome = child.ask({{"type", "run"}, {"set", set}, {"poison", kFirstPattern}}, {}, kRunTimeout);
    if (auto* error = std::get_if<Error>(&outcome)) return std::move(*error);
    if (auto* second = std::get_if<Fault>(&outcome)) found = std::move(*second);
  }
  return found && found->kind != FaultKind::timeout ? std::move(*found) : std::move(fault);
}

Result<Evaluation> Session::evaluate(const Candidate& candidate) {
  const Moment start = std::chrono::steady_clock::now();
  auto evaluation = judge(candidate);
  if (!evaluation) return evaluation;
  // Waiting for the device is nobody's doing: it has a stage of its own, and no part in the total.
  const double queue = std::exchange(judge_queue_ms_, 0.0);
  evaluation->stage_ms["total"] = milliseconds_since(start) - queue;
  evaluation->stage_ms["queue"] = take_queue_ms();
  KAGENT_TRY_VOID(renew_servers());
  return evaluation;
}

Result<Evaluation> Session::judge(const Candidate& candidate) {
  Evaluation evaluation;
  evaluation.candidate = candidate.hash;
  Clock clock(evaluation.stage_ms);

  KAGENT_TRY(auto recorded, record(candidate));
  clock.mark("record");
  if (auto* fault = std::get_if<Fault>(&recorded)) return failed(std::move(evaluation), *fault);
  const Plan plan = std::get<Plan>(std::move(recorded));
  if (auto fault = policy::check_operators(plan, options_.settings)) {
    return failed(std::move(evaluation), *fault);
  }
  if (auto fault = policy::check_bindings(plan, facts_.signature)) {
    return failed(std::move(evaluation), *fault);
  }
  if (auto fault = policy::check_outputs(plan, memory_->output_tree, memory_->outputs)) {
    return failed(std::move(evaluation), *fault);
  }
  evaluation.verdict.labels = policy::labels(plan, options_.settings);

  std::vector<sys::Fd> images;
  KAGENT_TRY(auto built, build(candidate, plan, images));
  clock.mark("build");
  if (auto* fault = std::get_if<Fault>(&built)) return failed(std::move(evaluation), *fault);
  evaluation.build = std::get<BuildResult>(std::move(built));
  if (auto fault = policy::check_launches(plan, *evaluation.build, facts_.device)) {
    return failed(std::move(evaluation), *fault);
  }

  const double queue_before = queue_ms_;
  KAGENT_TRY(const Lease lease, take_lease());
  judge_queue_ms_ = queue_ms_ - queue_before;
  clock.skip();
  tell("load");
  KAGENT_TRY(RunnerChild child, runner_->fork());
  KAGENT_TRY(auto fault, load(child, plan, *evaluation.build, images, false));
  clock.mark("load");
  if (!fault) {
    KAGENT_TRY(fault, run_trials(child, evaluation.verdict));
    clock.mark("trials");
    if (!fault) {
      KAGENT_TRY(fault, run_variants(child, evaluation.verdict));
      clock.mark("variants");
    }
    if (!fault) {
      KAGENT_TRY(const TaskAudit audit, audit_task());
      if (audit.degenerate) evaluation.verdict.labels.emplace_back("degenerate");
      clock.mark("audit");
    }
  }
  if (fault && fault->kind == FaultKind::crash) {
    KAGENT_TRY(fault, diagnose(plan, *evaluation.build, images, *fault, last_set_));
    clock.mark("diagnose");
  }
  if (fault) return failed(std::move(evaluation), *fault);

  KAGENT_TRY(auto measured, measure(&child));
  clock.mark("timing");
  if (auto* late = std::get_if<Fault>(&measured)) return failed(std::move(evaluation), *late);
  evaluation.verdict.correct = true;
  evaluation.measurement = std::get<Measurement>(std::move(measured));
  evaluation.measurement->prepare_us = prepare_us_;
  evaluation.score = scoring::score(evaluation.verdict, evaluation.measurement, options_.settings);
  if (evaluation.score->noisy) evaluation.verdict.labels.emplace_back("noisy");
  return evaluation;
}

}  // namespace kagent::evaluator
