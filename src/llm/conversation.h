// SPDX-License-Identifier: Apache-2.0
// A recorded conversation: what a model said, and what its calls came to at that time. Read from a
// hand-written file or from the trajectory of an earlier run (docs/replay-format.md).
#pragma once

#include <kagent/chat.h>
#include <kagent/result.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kagent::llm {

inline constexpr const char* kConversationSchema = "kagent.conversation/1";

/// What the recording says that one call came to; empty where it says nothing.
struct RecordedOutcome {
  std::optional<bool> is_error;
  std::string word;  // of a result that begins with "outcome: <word>"
  bool operator==(const RecordedOutcome&) const = default;
};

struct RecordedTurn {
  Reply reply;
  std::vector<RecordedOutcome> outcomes;  // one per call
  bool operator==(const RecordedTurn&) const = default;
};

using Conversation = std::vector<RecordedTurn>;

/// Errors are of kind usage and name file and line.
Result<Conversation> read_conversation(const std::filesystem::path& path);

/// What a result really came to, in the recording's terms.
RecordedOutcome outcome_of(const ToolResult& result);

}  // namespace kagent::llm
