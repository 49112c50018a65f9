// SPDX-License-Identifier: Apache-2.0
#include "llm/replay_client.h"

#include <fmt/format.h>

#include <algorithm>

namespace kagent::llm {
namespace {

const char* said(bool is_error) { return is_error ? "an error" : "no error"; }

/// Empty where nothing differs.
std::string difference(const RecordedOutcome& recorded, const RecordedOutcome& real) {
  if (!recorded.word.empty() && recorded.word != real.word) {
    return fmt::format("recorded {}, came to {}", recorded.word,
                       real.word.empty() ? said(*real.is_error) : real.word);
  }
  if (recorded.is_error && *recorded.is_error != *real.is_error) {
    return fmt::format("recorded {}, came to {}", said(*recorded.is_error), said(*real.is_error));
  }
  return "";
}

}  // namespace

Result<Reply> ReplayClient::complete(const ChatRequest& request) {
  // By the request, not by a count of our own: a resumed run begins in the middle.
  next_ = static_cast<std::size_t>(request.turn) - 1;
  if (!request.messages.empty()) {
    if (const auto* tools = std::get_if<ToolMessage>(&request.messages.back())) {
      compare(tools->results);
    }
  }
  if (next_ >= conversation_.size()) {
    Reply reply;
    reply.raw = "null";
    reply.end = ReplyEnd::replay_ended;
    reply.model = "replay";
    return reply;
  }
  Reply reply = conversation_[next_++].reply;
  reply.usage.cost_usd = 0;  // was paid for when it was recorded
  return reply;
}

void ReplayClient::compare(const std::vector<ToolResult>& results) {
  if (next_ == 0 || compared_ == next_ || next_ > conversation_.size()) return;
  compared_ = next_;
  const RecordedTurn& turn = conversation_[next_ - 1];
  for (std::size_t i = 0; i < std::min(results.size(), turn.outcomes.size()); ++i) {
    const std::string what = difference(turn.outcomes[i], outcome_of(results[i]));
    if (what.empty()) continue;
    ++differences_;
    if (on_difference_) {
      on_difference_(
          fmt::format("turn {}, call {} ({}): {}", next_, i + 1, turn.reply.calls[i].tool, what));
    }
  }
}

}  // namespace kagent::llm
