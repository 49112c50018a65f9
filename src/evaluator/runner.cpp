// SPDX-License-Identifier: Apache-2.0
#include "evaluator/runner.h"

#include "base/text.h"

#include <fmt/format.h>

namespace kagent::evaluator {
namespace {

constexpr auto kStartTimeout = std::chrono::seconds(120);  // libraries from a cold disk
constexpr auto kWaitTimeout = std::chrono::seconds(10);

/// Where the child was when it ended, if the server knows: {file, line, kernel}; hostile.
SourceLine last_step(const nlohmann::json& ok, std::string& kernel) {
  SourceLine at;
  const auto step = ok.find("last_step");
  if (step == ok.end() || !step->is_object()) return at;
  if (const auto file = step->find("file"); file != step->end() && file->is_string()) {
    at.file = base::one_line(file->get<std::string>());
  }
  if (const auto line = step->find("line"); line != step->end() && line->is_number_integer()) {
    at.line = line->get<int>();
  }
  if (const auto name = step->find("kernel"); name != step->end() && name->is_string()) {
    kernel = base::one_line(name->get<std::string>());
  }
  return at;
}

}  // namespace

Result<void> RunnerServer::warm_up() {
  if (worker_) return {};
  KAGENT_TRY(worker_, Worker::start(start_));
  return {};
}

Result<RunnerChild> RunnerServer::fork() {
  KAGENT_TRY_VOID(warm_up());
  KAGENT_TRY(auto ends, wire::Channel::pair());
  auto answer = expect_answer(worker_->ask({{"type", "fork"}}, {ends.second.fd()}, kStartTimeout));
  if (!answer) {
    worker_.reset();
    return std::move(answer).error();
  }
  const auto id = answer->ok.find("pid");
  if (id == answer->ok.end() || !id->is_number_integer()) {
    return Error{ErrorKind::environment, "runner: fork answered without a pid"};
  }
  return RunnerChild(*this, std::move(ends.first), id->get<int>());
}

RunOutcome RunnerChild::ask(const nlohmann::json& request, const std::vector<int>& descriptors,
                            std::chrono::milliseconds timeout) {
  Outcome outcome = converse(channel_, "runner", request, descriptors, timeout);
  if (auto* answer = std::get_if<Answer>(&outcome)) return std::move(*answer);
  if (auto* fault = std::get_if<Fault>(&outcome)) return std::move(*fault);
  if (auto* error = std::get_if<Error>(&outcome)) return std::move(*error);
  return explain(std::get<Breakdown>(outcome), request.value("type", "?"));
}

Fault RunnerChild::explain(const Breakdown& breakdown, const std::string& phase) {
  Fault fault;
  if (breakdown.kind == BreakdownKind::timeout) {
    // The child may be stuck in the card's driver: only the whole tree is sure to go.
    server_->worker_.reset();
    fault.kind = FaultKind::timeout;
    fault.message = "the candidate did not come back from " + phase + " (" + breakdown.message + ")";
    fault.hint = "look for a loop that does not end or threads that wait for each other";
    return fault;
  }
  if (breakdown.kind == BreakdownKind::malformed || !server_->worker_) {
    server_->worker_.reset();
    fault.kind = FaultKind::tampering;
    fault.message = "the runner's answer made no sense: " + breakdown.message;
    return fault;
  }
  fault.kind = FaultKind::crash;
  fault.message = "the candidate's process ended during " + phase;
  auto waited = expect_answer(server_->worker_->ask({{"type", "wait"}, {"pid", id_}}, {}, kWaitTimeout));
  if (!waited) {
    server_->worker_.reset();
    return fault;
  }
  sys::ExitStatus status;
  if (const auto it = waited->ok.find("signal"); it != waited->ok.end() && it->is_number_integer()) {
    status.signal = it->get<int>();
  }
  if (const auto it = waited->ok.find("exited"); it != waited->ok.end() && it->is_number_integer()) {
    status.code = it->get<int>();
  }
  std::string kernel;
  fault.at = last_step(waited->ok, kernel);
  fault.message = fmt::format("the candidate's process was ended during {} by {}{}", phase,
                              status.describe(), kernel.empty() ? "" : " in " + kernel);
  fault.hint = "check the index arithmetic: reads and writes must stay inside the tensors, and inputs "
               "are read-only";
  return fault;
}

}  // namespace kagent::evaluator
