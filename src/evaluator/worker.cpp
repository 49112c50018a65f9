// SPDX-License-Identifier: Apache-2.0
#include "evaluator/worker.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "sys/stop.h"
#include "wire/json.h"
#include "wire/members.h"

#include <fmt/format.h>

namespace kagent::evaluator {
namespace {

constexpr std::size_t kLogHead = 8 << 10;
constexpr std::size_t kLogTail = 64 << 10;
constexpr auto kGrace = std::chrono::milliseconds(500);

Error task_invalid(const nlohmann::json& body) {
  const auto line = body.find("line");
  const bool has_line = line != body.end() && line->is_number_integer() && line->get<long>() > 0;
  return Error{ErrorKind::task_invalid,
               fmt::format("{}: {}", has_line ? fmt::format(":{}", line->get<long>()) : "",
                           base::one_line(wire::text_member(body, "message")))};
}

}  // namespace

double number_field(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return 0;
  if (found->is_number()) return found->get<double>();
  return *found == "inf" ? std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
}

void collect_notes(const nlohmann::json& object, const char* name, std::vector<std::string>& into) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return;
  for (const auto& note : *found) {
    if (!note.is_string()) continue;
    std::string text = base::one_line(note.get<std::string>());
    if (std::find(into.begin(), into.end(), text) == into.end()) into.push_back(std::move(text));
  }
}

Outcome read_outcome(const std::string& who, wire::Frame frame) {
  const auto& body = frame.body;
  if (const auto ok = body.find("ok"); ok != body.end() && ok->is_object()) {
    return Answer{std::move(frame.body["ok"]), std::move(frame.descriptors)};
  }
  if (const auto fault = body.find("fault"); fault != body.end()) {
    auto parsed = wire::parse<Fault>(*fault);
    if (parsed) return std::move(*parsed);
    return Breakdown{BreakdownKind::malformed, who + ": " + parsed.error().message};
  }
  if (const auto invalid = body.find("task_invalid"); invalid != body.end() && invalid->is_object()) {
    return task_invalid(*invalid);
  }
  if (const auto error = body.find("error"); error != body.end() && error->is_object()) {
    return Error{ErrorKind::environment, who + ": " + base::one_line(wire::text_member(*error, "message"))};
  }
  return Breakdown{BreakdownKind::malformed, who + ": answered nothing that is known"};
}

Outcome converse(wire::Channel& channel, const std::string& who, const nlohmann::json& request,
                 const std::vector<int>& descriptors, std::chrono::milliseconds timeout) {
  if (sys::stop_requested() != 0) return Error{ErrorKind::interrupted, "stopped"};
  if (auto sent = channel.send(request, descriptors); !sent) {
    return Breakdown{BreakdownKind::died, who + ": " + sent.error().message};
  }
  auto received = channel.receive(wire::Channel::Clock::now() + timeout, sys::stop_fd());
  if (auto* frame = std::get_if<wire::Frame>(&received)) return read_outcome(who, std::move(*frame));
  switch (std::get<wire::ReceiveFailure>(received)) {
    case wire::ReceiveFailure::stopped:
      return Error{ErrorKind::interrupted, "stopped"};
    case wire::ReceiveFailure::timeout:
      return Breakdown{BreakdownKind::timeout,
                       fmt::format("{}: no answer to {} within {} s", who,
                                   request.value("type", "?"), timeout.count() / 1000.0)};
    case wire::ReceiveFailure::closed:
      return Breakdown{BreakdownKind::died, who + ": ended during " + request.value("type", "?")};
    case wire::ReceiveFailure::malformed:
      break;
  }
  return Breakdown{BreakdownKind::malformed, who + ": sent a malformed frame"};
}

Result<std::unique_ptr<Worker>> Worker::start(WorkerStart start) {
  KAGENT_TRY(auto ends, wire::Channel::pair());
  KAGENT_TRY(auto output, sys::OutputCapture::start(kLogHead, kLogTail));
  sys::SpawnRequest request;
  request.arguments = std::move(start.arguments);
  request.environment = std::move(start.environment);
  request.descriptors = {{ends.second.fd(), wire::kChannelDescriptor}};
  request.output = output->writer();
  auto process = sandbox::Child::start(std::move(request), std::move(start.policy), start.tier);
  if (!process) return std::move(process).error().with_context(start.name);
  output->close_writer();
  return std::unique_ptr<Worker>(new Worker(std::move(start.name), std::move(*process),
                                            std::move(ends.first), std::move(output)));
}

Outcome Worker::ask(const nlohmann::json& request, const std::vector<int>& descriptors,
                    std::chrono::milliseconds timeout) {
  Outcome outcome = converse(channel_, name_, request, descriptors, timeout);
  auto* breakdown = std::get_if<Breakdown>(&outcome);
  if (breakdown == nullptr) return outcome;
  if (breakdown->kind == BreakdownKind::died) {
    const auto status = process_.wait(sys::Process::Clock::now() + kGrace);
    output_->finish(static_cast<int>(kGrace.count()));
    if (status) breakdown->message += ", " + status->describe();
    const std::string words = last_words();
    if (!words.empty()) breakdown->message += "; it last said: " + words;
  }
  kill();
  return outcome;
}

std::string Worker::last_words() const {
  const std::string text(base::trim(output_->text()));
  const auto line = text.rfind('\n');
  return base::one_line(line == std::string::npos ? text : text.substr(line + 1));
}

Result<Answer> expect_answer(Outcome outcome) {
  if (auto* answer = std::get_if<Answer>(&outcome)) return std::move(*answer);
  if (auto* error = std::get_if<Error>(&outcome)) return std::move(*error);
  if (auto* breakdown = std::get_if<Breakdown>(&outcome)) {
    return Error{ErrorKind::environment, breakdown->message};
  }
  return Error{ErrorKind::internal, "unexpected fault: " + std::get<Fault>(outcome).message};
}

}  // namespace kagent::evaluator
