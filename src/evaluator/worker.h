// SPDX-License-Identifier: Apache-2.0
// One worker process and the conversation with it. Whatever goes wrong on the other side ends in a
// value: a fault of the candidate, an Error, or a Breakdown that says how the process ended.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <kagent/evaluation.h>
#include <kagent/result.h>

#include "sandbox/child.h"
#include "sys/capture.h"
#include "sys/subprocess.h"
#include "wire/channel.h"

#include <nlohmann/json.hpp>

namespace kagent::evaluator {

struct Answer {
  nlohmann::json ok;
  std::vector<sys::Fd> descriptors;
};

enum class BreakdownKind { died, timeout, malformed };

/// The conversation is over; the process must be replaced.
struct Breakdown {
  BreakdownKind kind = BreakdownKind::died;
  std::string message;   // "runner: killed by signal 11 (Segmentation fault)"
};

using Outcome = std::variant<Answer, Fault, Error, Breakdown>;

/// A number that a worker sent, spelled as docs/protocol.md has it ("inf" and "nan" are text);
/// 0 where there is none.
double number_field(const nlohmann::json& object, const char* name);

/// Adds the texts of a list field to `into`, each once and fit for a terminal.
void collect_notes(const nlohmann::json& object, const char* name, std::vector<std::string>& into);

/// What a frame from a worker means; hostile.
Outcome read_outcome(const std::string& who, wire::Frame frame);

/// Sends one request and waits for its answer. Error{interrupted} when a stop was requested.
Outcome converse(wire::Channel& channel, const std::string& who, const nlohmann::json& request,
                 const std::vector<int>& descriptors, std::chrono::milliseconds timeout);

struct WorkerStart {
  std::string name;                       // for messages: "recorder"
  std::vector<std::string> arguments;     // program and its arguments, as seen inside
  std::vector<std::string> environment;
  sandbox::Policy policy;
  sandbox::Tier tier = sandbox::Tier::bubblewrap;
};

class Worker {
 public:
  /// Returns once the process runs; it is not yet ready. Start from the main thread: the child
  /// dies with the thread that started it.
  static Result<std::unique_ptr<Worker>> start(WorkerStart start);

  /// As converse(); a dead process is described by how it ended and its last words.
  Outcome ask(const nlohmann::json& request, const std::vector<int>& descriptors,
              std::chrono::milliseconds timeout);

  void kill() { process_.kill(); }
  int id() const { return process_.id(); }
  const std::string& name() const { return name_; }
  wire::Channel& channel() { return channel_; }

  /// Last lines of what it wrote to stdout and stderr, for error messages.
  std::string last_words() const;

 private:
  Worker(std::string name, sandbox::Child process, wire::Channel channel,
         std::unique_ptr<sys::OutputCapture> output)
      : name_(std::move(name)), output_(std::move(output)), channel_(std::move(channel)),
        process_(std::move(process)) {}

  std::string name_;
  std::unique_ptr<sys::OutputCapture> output_;
  wire::Channel channel_;
  sandbox::Child process_;
};

/// The answer, or what else happened as an Error. A Fault where none is possible is a bug of the
/// worker and becomes an Error too.
Result<Answer> expect_answer(Outcome outcome);

}  // namespace kagent::evaluator
