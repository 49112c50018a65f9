// SPDX-License-Identifier: Apache-2.0
// The runner: a warm server that forks one child for each evaluation. A child that crashes, hangs
// or breaks the card's context costs that evaluation alone; how it ended becomes a Fault.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "evaluator/worker.h"

namespace kagent::evaluator {

/// What one request to a child came to. Breakdowns are already told as Faults.
using RunOutcome = std::variant<Answer, Fault, Error>;

class RunnerServer;

/// One forked child; lives for one evaluation. Ends when it is destroyed.
class RunnerChild {
 public:
  RunOutcome ask(const nlohmann::json& request, const std::vector<int>& descriptors,
                 std::chrono::milliseconds timeout);
  wire::Channel& channel() { return channel_; }

  /// What a conversation that broke off means for the candidate.
  Fault explain(const Breakdown& breakdown, const std::string& phase);

 private:
  friend class RunnerServer;
  RunnerChild(RunnerServer& server, wire::Channel channel, int id)
      : server_(&server), channel_(std::move(channel)), id_(id) {}
  RunnerServer* server_;
  wire::Channel channel_;
  int id_;
};

class RunnerServer {
 public:
  explicit RunnerServer(WorkerStart start) : start_(std::move(start)) {}

  /// Starts the process; fork() does it too where it is not running (it was killed with a hung child).
  Result<void> warm_up();
  Result<RunnerChild> fork();
  /// Ends the process and all its children.
  void stop() { worker_.reset(); }

 private:
  friend class RunnerChild;
  WorkerStart start_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace kagent::evaluator
