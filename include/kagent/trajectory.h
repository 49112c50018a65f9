// SPDX-License-Identifier: Apache-2.0
// Everything that happened in a run, turn by turn. docs/run-folder.md is the JSON Lines form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <kagent/chat.h>
#include <kagent/evaluation.h>

namespace kagent {

enum class StopReason {
  target_reached, finished, turns, tokens, money, wall_clock, gpu_seconds, plateau, stuck,
  bad_calls, context_exhausted, refusal, replay_ended, network, interrupted, environment,
};

/// One evaluation that a turn's tool call asked for.
struct CandidateRecord {
  int turn = 0;
  Evaluation evaluation;
  bool operator==(const CandidateRecord&) const = default;
};

struct Turn {
  int number = 0;                         // from 1
  Reply reply;
  std::vector<ToolResult> results;        // one per call, in order
  std::string nudge;                      // what the harness said next as the user; mostly empty
  double seconds = 0;                     // wall clock of the whole turn
  bool operator==(const Turn&) const = default;
};

/// From one turn on the model is shown less of what was before. docs/agent.md tells when.
struct ContextEdit {
  int turn = 0;           // the first that is asked for this way; 0: nothing is left out
  int results_from = 1;   // of earlier turns, only the first line of long results is shown
  int turns_from = 1;     // earlier turns are not shown; `record` follows the opening instead
  std::string record;
  bool operator==(const ContextEdit&) const = default;
};

/// Append-only; what was appended survives a kill when the append returns, and but for single results
/// a machine that goes down.
class Journal {
 public:
  virtual ~Journal() = default;
  /// The reply of a turn that begins, before its calls run: a kill in between must not lose it.
  virtual Result<void> begin(int turn, const Reply& reply) = 0;
  /// One call's result as soon as it is there: a kill must not lose what the call did.
  virtual Result<void> append(int turn, const ToolResult& result) = 0;
  virtual Result<void> append(const Turn& turn) = 0;
  virtual Result<void> append(const CandidateRecord& record) = 0;
  virtual Result<void> append(const ContextEdit& edit) = 0;
  virtual Result<void> append(StopReason reason, const std::string& explanation) = 0;
};

}  // namespace kagent
