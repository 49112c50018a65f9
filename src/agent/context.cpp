// SPDX-License-Identifier: Apache-2.0
#include "agent/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kagent::agent {
namespace {

constexpr std::size_t kShortResult = 400;
constexpr int kTurnsKept = 8;
constexpr int kMostRebuildsInARow = 2;
constexpr int kCloseTogether = 5;

/// The first line of an old output says what came of the call; the rest is left out.
ToolResult pruned(ToolResult result) {
  if (result.text.size() <= kShortResult) return result;
  std::size_t end = std::min(result.text.find('\n'), kShortResult);
  while (end > 0 && (static_cast<unsigned char>(result.text[end]) & 0xC0) == 0x80) --end;
  result.text = fmt::format("{}\n[{} bytes of old output left out]", result.text.substr(0, end),
                            result.text.size() - end);
  return result;
}

std::size_t bytes_of(const Message& message) {
  if (const auto* user = std::get_if<UserMessage>(&message)) return user->text.size();
  if (const auto* reply = std::get_if<Reply>(&message)) return reply->raw.size();
  std::size_t bytes = 0;
  for (const ToolResult& each : std::get<ToolMessage>(message).results)
    bytes += each.text.size() + 40;
  return bytes;
}

}  // namespace

std::vector<Turn> shown_turns(const std::vector<Turn>& turns, const ContextEdit& edit) {
  std::vector<Turn> shown;
  for (const Turn& turn : turns) {
    if (turn.number < edit.turns_from) continue;
    shown.push_back(turn);
    if (turn.number >= edit.results_from) continue;
    for (ToolResult& result : shown.back().results) result = pruned(std::move(result));
  }
  return shown;
}

std::string shown_opening(const std::string& opening, const ContextEdit& edit) {
  return edit.record.empty() ? opening : opening + "\n" + edit.record;
}

std::vector<Message> history(const std::string& opening, const std::vector<Turn>& turns,
                             const ContextEdit& edit) {
  std::vector<Message> messages;
  messages.emplace_back(UserMessage{shown_opening(opening, edit)});
  for (Turn& turn : shown_turns(turns, edit)) {
    messages.emplace_back(std::move(turn.reply));
    if (!turn.results.empty()) messages.emplace_back(ToolMessage{std::move(turn.results)});
    if (!turn.nudge.empty()) messages.emplace_back(UserMessage{std::move(turn.nudge)});
  }
  return messages;
}

Context::Context(std::string opening, std::size_t fixed_bytes, std::int64_t limit)
    : opening_(std::move(opening)), fixed_bytes_(fixed_bytes), limit_(limit) {}

void Context::take_over(std::vector<Turn> turns, ContextEdit edit) {
  turns_ = std::move(turns);
  edit_ = std::move(edit);
}

void Context::add(const Turn& turn) { turns_.push_back(turn); }

void Context::learn(std::int64_t input_tokens) {
  if (input_tokens < 500) return;  // no report, or too little to learn from
  const double ratio = static_cast<double>(bytes(edit_)) / static_cast<double>(input_tokens);
  bytes_per_token_ = std::clamp(ratio, 1.5, 8.0);
}

std::vector<Message> Context::messages() const { return history(opening_, turns_, edit_); }

std::size_t Context::bytes(const ContextEdit& edit) const {
  std::size_t bytes = fixed_bytes_;
  for (const Message& message : history(opening_, turns_, edit)) bytes += bytes_of(message);
  return bytes;
}

std::int64_t Context::tokens(const ContextEdit& edit) const {
  return static_cast<std::int64_t>(static_cast<double>(bytes(edit)) / bytes_per_token_);
}

std::int64_t Context::tokens() const { return tokens(edit_); }

/// Old outputs only, and only where much comes free: each edit makes the provider read all anew.
bool Context::prune(std::int64_t room) {
  ContextEdit edit = edit_;
  edit.turn = next_turn();
  double newest = 0;
  edit.results_from = next_turn();
  while (edit.results_from > 1) {
    const Turn& turn = turns_[static_cast<std::size_t>(edit.results_from) - 2];
    for (const ToolResult& result : turn.results) newest += static_cast<double>(result.text.size());
    if (newest / bytes_per_token_ > static_cast<double>(room) / 4) break;
    --edit.results_from;
  }
  if (tokens(edit_) - tokens(edit) < room / 8) return false;
  edit_ = std::move(edit);
  return true;
}

Fit Context::rebuild(std::int64_t room, const std::string& record) {
  const std::int64_t before = tokens(edit_);
  const bool close = edit_.turns_from > 1 && next_turn() - edit_.turn <= kCloseTogether;
  rebuilds_in_a_row_ = close ? rebuilds_in_a_row_ + 1 : 1;
  if (rebuilds_in_a_row_ > kMostRebuildsInARow) return Fit::exhausted;
  for (int kept = close ? 2 : kTurnsKept; kept >= 0; kept /= 2) {
    ContextEdit edit;
    edit.turn = next_turn();
    edit.turns_from = std::max(edit_.turns_from, next_turn() - kept);
    edit.results_from = edit.turns_from;
    edit.record = record;
    const std::int64_t after = tokens(edit);
    if (after < before * 6 / 10 && after < room * 6 / 10) {
      edit_ = std::move(edit);
      return Fit::edited;
    }
    if (kept == 0) break;
  }
  return Fit::exhausted;
}

Fit Context::fit(const std::function<std::string()>& record) {
  const std::int64_t room = limit_ - std::min<std::int64_t>(16'000, limit_ / 4);
  const std::int64_t now = tokens();
  if (now < room * 6 / 10) return Fit::fits;
  if (prune(room) && tokens() < room * 8 / 10) return Fit::edited;
  if (tokens() < room * 8 / 10) return Fit::fits;
  return rebuild(room, record());
}

Fit Context::shrink(const std::function<std::string()>& record) {
  limit_ = std::min(limit_, tokens() * 8 / 10);
  return rebuild(tokens(), record());
}

}  // namespace kagent::agent
