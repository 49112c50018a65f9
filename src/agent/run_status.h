// SPDX-License-Identifier: Apache-2.0
// Where a run stands against its budgets, for the one line that people watch. Pure.
#pragma once

#include "toolbox/candidate_judge.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kagent::agent {

struct RunStatus {
  bool between_turns = false;  // the model is asked next
  int turns = 0;               // that have begun
  int max_turns = 0;
  std::int64_t tokens = 0;  // in and out, over all turns
  std::optional<std::int64_t> max_tokens;
  double usd = 0;
  std::optional<double> max_usd;
  double seconds = 0;  // wall clock, earlier parts of a resumed run included
  std::optional<double> max_seconds;
  double device_seconds = 0;
  std::optional<double> max_device_seconds;
  int candidates = 0;
  std::optional<toolbox::BestFigures> best;
};

/// "turn 12/200 · 61k tokens · $0.34 of $5.00 · 4.2 of 60 min · device 12 s · 7 candidates, best
/// #5: 1.83x eager". What is nothing and has no budget is left out.
std::string status_text(const RunStatus& status);

}  // namespace kagent::agent
