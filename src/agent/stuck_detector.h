// SPDX-License-Identifier: Apache-2.0
// Sees when a model makes the same call with the same outcome again and again. Pure.
#pragma once

#include <kagent/chat.h>

#include <cstddef>
#include <deque>
#include <string>

namespace kagent::agent {

enum class Repetition { none, nudge, stuck };

class StuckDetector {
 public:
  /// The same call and outcome for the third time: nudge; for the sixth within twelve calls: stuck.
  Repetition observe(const ToolCall& call, const std::string& outcome);

 private:
  static constexpr std::size_t kWindow = 12;
  static constexpr int kNudgeAt = 3;
  static constexpr int kStuckAt = 6;

  std::deque<std::string> recent_;  // hashes of calls and outcomes
};

/// The outcome without what differs between equal ones: numbers with a fraction, addresses,
/// #numbers.
std::string without_measurements(const std::string& outcome);

}  // namespace kagent::agent
