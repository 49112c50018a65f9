// SPDX-License-Identifier: Apache-2.0
// The loop: ask the model, run its calls, tell it what came of them, until something ends the run.
// History is linear. docs/agent.md tells the rules.
#pragma once

#include <kagent/chat.h>
#include <kagent/result.h>
#include <kagent/tool.h>
#include <kagent/trajectory.h>

#include "agent/candidate_book.h"
#include "agent/context.h"
#include "agent/run_status.h"
#include "agent/stuck_detector.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kagent::agent {

enum class AfterSuccess { stop, keep_going };

struct LoopSettings {
  int max_turns = 200;
  std::optional<std::int64_t> max_tokens;  // input and output, over all turns
  std::optional<std::chrono::seconds> max_wall_clock;
  std::int64_t context_tokens = 128'000;  // what a request and its reply may have
  std::optional<double> max_usd;          // by the price table
  std::optional<double> max_gpu_seconds;  // of trials and measurements
  AfterSuccess after_success = AfterSuccess::stop;
};

/// Told about each step in a line; for people.
using StepListener = std::function<void(const std::string& step)>;

/// Told where the run stands whenever that may have changed, and what is done next ("ask the
/// model").
using StatusListener = std::function<void(const RunStatus& status, const std::string& next)>;

struct LoopParts {
  ChatClient& chat;
  std::vector<Tool*> tools;
  CandidateBook& book;
  Journal& journal;
  std::function<bool()> stop_requested;                        // Ctrl-C; looked at between calls
  std::function<std::chrono::steady_clock::time_point()> now;  // the clock of budgets
  StepListener on_step;                                        // may be empty
  StatusListener on_status = {};                               // may be empty
};

struct LoopEnd {
  StopReason reason = StopReason::finished;
  std::string explanation;     // one line
  std::optional<Error> error;  // where something could not be done
  int turns = 0;
  Usage usage;  // over all turns
  double seconds = 0;
  std::vector<ToolResult> last_results;
};

class Loop {
 public:
  Loop(LoopParts parts, LoopSettings settings, std::string system, const std::string& opening);

  /// Turns of an earlier part of this run; call before run().
  /// cut_off: a turn whose calls are not all through; run() begins with the rest of them.
  void take_over(const std::vector<Turn>& earlier, const ContextEdit& edit,
                 std::optional<Turn> cut_off);

  /// Plays turns until one ends the run, and journals the end.
  LoopEnd run();

  /// Instead of run(): the turns that were taken over ended the run for that reason.
  LoopEnd ended(StopReason reason, const std::string& explanation);

 private:
  using Stop = std::optional<std::pair<StopReason, std::string>>;

  Stop play_turn();
  Stop settle_context(Fit fit);
  Result<Reply> ask();
  Stop success() const;
  Stop budget_spent() const;
  Stop finish_turn(Turn turn, std::chrono::steady_clock::time_point start);
  Stop run_calls(Turn& turn);
  Stop after_call(const ToolCall& call, ToolOutcome& outcome);
  Stop judge_failed();
  Stop plateau(ToolOutcome& outcome);
  Stop no_calls(Turn& turn);
  Stop could_not(const Error& error, StopReason otherwise);
  ToolOutcome run_call(const ToolCall& call, ReplyEnd end);
  Stop interrupted() const;
  std::string status_line(int turn) const;
  RunStatus status() const;
  double seconds_since(std::chrono::steady_clock::time_point start) const;
  /// Wall clock of the whole run, earlier parts included, without what was waited for a device.
  double charged_seconds() const;
  void count(const Turn& turn);
  void tell(const std::string& step) const;

  LoopParts parts_;
  LoopSettings settings_;
  ChatRequest request_;
  Context context_;
  std::chrono::steady_clock::time_point started_;
  StuckDetector stuck_;
  int turns_ = 0;
  std::optional<Turn> cut_off_;  // by a kill
  int judged_ = 0;               // different candidates, as of the last evaluate
  int bad_turns_ = 0;            // in a row
  int silent_turns_ = 0;         // without calls, in a row
  double earlier_seconds_ = 0;
  Usage usage_;
  std::vector<ToolResult> last_results_;
  std::optional<Error> error_;
};

}  // namespace kagent::agent
