// SPDX-License-Identifier: Apache-2.0
// Palindromic rounds over the processes: E C K K C E, then C E K K E C, so that drift cancels
// (research: timing.md §5). Only one process works at a time.
#include <algorithm>

#include "evaluator/cpu_clock.h"
#include "evaluator/secret.h"
#include "evaluator/session.h"
#include "scoring/rounds.h"
#include "wire/json.h"

#include <fmt/format.h>

namespace kagent::evaluator {
namespace {

constexpr auto kSampleTimeout = std::chrono::seconds(60);
constexpr int kWarmRounds = 2;
constexpr std::int64_t kTouchBytes = 48 << 20;   // pushes earlier data out of the CPU's caches
constexpr const char* kCandidate = "candidate";

using Samples = std::variant<std::vector<Sample>, Fault, Error>;

/// Order of the arms in one round; odd rounds swap the baselines.
std::vector<std::string> round_order(std::vector<std::string> baselines, bool with_candidate,
                                     int round) {
  if (round % 2 == 1) std::reverse(baselines.begin(), baselines.end());
  std::vector<std::string> order = baselines;
  if (with_candidate) order.insert(order.end(), {kCandidate, kCandidate});
  order.insert(order.end(), baselines.rbegin(), baselines.rend());
  return order;
}

Samples parse_samples(const nlohmann::json& ok, std::size_t count, std::vector<std::string>& notes) {
  std::vector<Sample> samples;
  for (const auto& json : ok.value("samples", wire::Json::array())) {
    auto sample = wire::parse<Sample>(json);
    if (!sample) return std::move(sample).error();
    samples.push_back(*sample);
  }
  if (samples.size() != count) return Error{ErrorKind::environment, "a worker timed too few calls"};
  collect_notes(ok, "notes", notes);
  return samples;
}

}  // namespace

/// One slot of a round.
static Samples time_arm(Worker& reference, RunnerChild* child, Backend backend,
                        const std::string& arm, int set, std::vector<std::string>& notes) {
  const bool candidate = arm == kCandidate;
  if (backend == Backend::cpu) {
    nlohmann::json request{{"type", "loop"}, {"set", set}, {"touch", kTouchBytes}};
    if (!candidate) request["arm"] = arm;
    auto timed = time_calls(candidate ? child->channel() : reference.channel(),
                            candidate ? "runner" : "reference", std::move(request), 1, kSampleTimeout);
    if (auto* samples = std::get_if<std::vector<Sample>>(&timed)) return std::move(*samples);
    if (auto* fault = std::get_if<Fault>(&timed)) return std::move(*fault);
    if (auto* error = std::get_if<Error>(&timed)) return std::move(*error);
    auto& breakdown = std::get<Breakdown>(timed);
    if (candidate) return child->explain(breakdown, "timing");
    return Error{ErrorKind::environment, breakdown.message};
  }
  nlohmann::json request{{"type", "time"}, {"set", set}, {"samples", 1}};
  if (!candidate) request["arm"] = arm;
  RunOutcome outcome = Error{};
  if (candidate) {
    outcome = child->ask(request, {}, kSampleTimeout);
  } else {
    auto answer = expect_answer(reference.ask(request, {}, kSampleTimeout));
    if (!answer) return std::move(answer).error();
    outcome = std::move(*answer);
  }
  if (auto* fault = std::get_if<Fault>(&outcome)) return std::move(*fault);
  if (auto* error = std::get_if<Error>(&outcome)) return std::move(*error);
  return parse_samples(std::get<Answer>(outcome).ok, 1, notes);
}

Result<Measured> Session::measure(RunnerChild* child) {
  KAGENT_TRY_VOID(compile_baselines());
  const Backend backend = options_.settings.backend;
  const int sets = static_cast<int>(memory_->inputs.size());
  std::vector<scoring::Round> rounds;
  std::vector<std::string> notes = facts_.notes;
  notes.insert(notes.end(), baseline_notes_.begin(), baseline_notes_.end());
  for (int number = -kWarmRounds; number < options_.settings.timing_rounds; ++number) {
    tell(number < 0 ? "warm up" : fmt::format("time round {}/{}", number + 1, options_.settings.timing_rounds));
    scoring::Round round;
    for (const auto& arm : round_order(arms_, child != nullptr, std::max(number, 0))) {
      auto timed = time_arm(*reference_, child, backend, arm, (number + kWarmRounds) % sets, notes);
      if (auto* error = std::get_if<Error>(&timed)) return std::move(*error);
      if (auto* fault = std::get_if<Fault>(&timed)) return Measured(std::move(*fault));
      auto& into = arm == kCandidate ? round.candidate : arm == "eager" ? round.eager : round.compiled;
      const auto& samples = std::get<std::vector<Sample>>(timed);
      into.insert(into.end(), samples.begin(), samples.end());
      last_set_ = (number + kWarmRounds) % sets;
    }
    if (number >= 0) rounds.push_back(std::move(round));
  }
  if (child != nullptr) {
    // What was timed must be right as well: the last timed call's outputs are compared.
    tell("compare timed outputs");
    KAGENT_TRY(const Answer compared,
               expect_answer(reference_->ask({{"type", "compare"}, {"set", last_set_}}, {}, kSampleTimeout)));
    if (!compared.ok.value("passed", false)) {
      KAGENT_TRY(Fault fault, wire::parse<Fault>(compared.ok.value("fault", wire::Json())));
      fault.message = "right in the trials, wrong while timed: " + fault.message;
      return Measured(std::move(fault));
    }
  }
  Measurement measurement = scoring::summarise(rounds);
  measurement.clock = backend == Backend::cpu ? "wall clock from outside" : "cupti gpu_span";
  measurement.notes = std::move(notes);
  return Measured(std::move(measurement));
}

Result<Measurement> Session::measure_baselines() {
  KAGENT_TRY(const Lease lease, take_lease());
  // The trials' inputs are what the rounds run on.
  for (int set = 0; set < static_cast<int>(memory_->inputs.size()); ++set) {
    auto made = expect_answer(reference_->ask(
        {{"type", "trial"}, {"seed", secret_number()}, {"set", set}}, {}, kSampleTimeout));
    if (!made) return in_task(std::move(made).error());
  }
  KAGENT_TRY(auto measured, measure(nullptr));
  if (auto* fault = std::get_if<Fault>(&measured)) {
    return Error{ErrorKind::internal, "baselines: " + fault->message};
  }
  return std::get<Measurement>(std::move(measured));
}

}  // namespace kagent::evaluator
