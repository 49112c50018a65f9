// SPDX-License-Identifier: Apache-2.0
#include "llm/conversation.h"

#include "base/text.h"
#include "sys/files.h"
#include "wire/trajectory_json.h"

#include <fmt/format.h>

#include <utility>

namespace kagent::llm {
namespace {

using wire::Json;

constexpr std::size_t kMaxFileBytes = 256u << 20;

Error wrong(const std::string& why) { return Error{ErrorKind::usage, why}; }

Result<std::string> text_of(const Json& object, const char* name, const std::string& otherwise) {
  const auto at = object.find(name);
  if (at == object.end()) return otherwise;
  if (!at->is_string()) return wrong(std::string(name) + ": expected a string");
  return at->get<std::string>();
}

Result<void> check_members(const Json& object, std::initializer_list<const char*> known) {
  for (const auto& [name, value] : object.items()) {
    bool found = false;
    for (const char* member : known) found = found || name == member;
    if (!found) return wrong("unknown member \"" + base::one_line(name, 60) + "\"");
  }
  return {};
}

/// "ok" and "error" speak of is_error; any other word is that of an evaluation.
RecordedOutcome expected(const std::string& word) {
  RecordedOutcome outcome;
  if (word == "ok") outcome.is_error = false;
  if (word == "error") outcome.is_error = true;
  if (word != "ok" && word != "error") outcome.word = word;
  return outcome;
}

/// One line of a hand-written conversation.
Result<RecordedTurn> parse_turn(const Json& line, const std::string& raw, std::size_t number) {
  if (!line.is_object()) return wrong("expected a JSON object");
  KAGENT_TRY_VOID(check_members(line, {"text", "calls"}));
  RecordedTurn turn;
  turn.reply.raw = raw;
  turn.reply.model = "replay";
  KAGENT_TRY(turn.reply.text, text_of(line, "text", ""));
  const Json calls = line.value("calls", Json::array());
  if (!calls.is_array()) return wrong("calls: expected a list");
  for (const Json& item : calls) {
    if (!item.is_object()) return wrong("calls: expected objects");
    KAGENT_TRY_VOID(check_members(item, {"tool", "arguments", "expect"}));
    ToolCall call;
    call.id = fmt::format("call_{}_{}", number, turn.reply.calls.size() + 1);
    KAGENT_TRY(call.tool, text_of(item, "tool", ""));
    if (call.tool.empty()) return wrong("calls: \"tool\" is missing");
    const auto arguments = item.find("arguments");
    // A text stands for itself, so that a recording can hold what is not even JSON.
    if (arguments == item.end()) {
      call.arguments = "{}";
    } else if (arguments->is_string()) {
      call.arguments = arguments->get<std::string>();
    } else {
      call.arguments = wire::dump(*arguments);
    }
    KAGENT_TRY(const std::string word, text_of(item, "expect", ""));
    turn.outcomes.push_back(word.empty() ? RecordedOutcome{} : expected(word));
    turn.reply.calls.push_back(std::move(call));
  }
  turn.reply.end = turn.reply.calls.empty() ? ReplyEnd::finished : ReplyEnd::tool_calls;
  return turn;
}

/// One line of a trajectory, whose first line was seen.
Result<void> take_trajectory_line(const Json& line, Conversation& conversation) {
  if (!line.is_object()) return wrong("expected a JSON object");
  KAGENT_TRY(const std::string type, text_of(line, "type", ""));
  if (type == "reply") {
    const auto reply = line.find("reply");
    if (reply == line.end()) return wrong("reply: missing");
    RecordedTurn turn;
    KAGENT_TRY(turn.reply, wire::parse_reply(*reply));
    turn.outcomes.resize(turn.reply.calls.size());
    conversation.push_back(std::move(turn));
  } else if (type == "turn" && !conversation.empty()) {
    const Json results = line.value("results", Json::array());
    RecordedTurn& turn = conversation.back();
    if (!results.is_array() || results.size() != turn.outcomes.size()) {
      return wrong("results: expected one for each call");
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      KAGENT_TRY(const ToolResult result, wire::parse_tool_result(results[i]));
      turn.outcomes[i] = outcome_of(result);
    }
  }
  return {};
}

enum class Form { hand_written, trajectory };

Result<Form> form_of(const Json& first) {
  const std::string schema =
      first.is_object() && first.contains("schema") && first["schema"].is_string()
          ? first["schema"].get<std::string>()
          : "";
  if (schema == kConversationSchema) return Form::hand_written;
  if (schema == wire::kTrajectorySchema) return Form::trajectory;
  return wrong(fmt::format("the first line must have \"schema\": \"{}\" or \"{}\"",
                           kConversationSchema, wire::kTrajectorySchema));
}

}  // namespace

RecordedOutcome outcome_of(const ToolResult& result) {
  constexpr std::string_view kPrefix = "outcome: ";
  RecordedOutcome outcome;
  outcome.is_error = result.is_error;
  if (result.text.rfind(kPrefix, 0) == 0) {
    const std::size_t end = result.text.find('\n');
    outcome.word = result.text.substr(
        kPrefix.size(), end == std::string::npos ? std::string::npos : end - kPrefix.size());
  }
  if (!outcome.word.empty()) return outcome;
  // What bash ends its output with; the harness's status line may follow.
  const std::size_t exit = result.text.rfind("[exit code ");
  if (exit != std::string::npos && (exit == 0 || result.text[exit - 1] == '\n')) {
    outcome.word = result.text.substr(exit + 1, result.text.find(']', exit) - exit - 1);
  }
  return outcome;
}

Result<Conversation> read_conversation(const std::filesystem::path& path) {
  KAGENT_TRY(const std::string text, sys::read_file(path, kMaxFileBytes));
  // Of a killed run, the last line may be torn; a hand-written file may lack the last newline.
  const bool whole = text.empty() || text.back() == '\n';
  const std::vector<std::string> lines = base::split_lines(text);
  Conversation conversation;
  std::optional<Form> form;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (base::trim(lines[i]).empty()) continue;
    const std::string where = path.string() + ":" + std::to_string(i + 1);
    if (form == Form::trajectory && i + 1 == lines.size() && !whole) break;
    auto line = wire::parse_text(lines[i], where);
    if (!line) return Error{ErrorKind::usage, std::move(line).error().message};
    Result<void> taken;
    if (!form) {
      const auto first = form_of(*line);
      if (!first) return Error(first.error()).with_context(where);
      form = *first;
    } else if (form == Form::trajectory) {
      taken = take_trajectory_line(*line, conversation);
    } else {
      auto turn = parse_turn(*line, lines[i], conversation.size() + 1);
      if (turn) conversation.push_back(*std::move(turn));
      if (!turn) taken = std::move(turn).error();
    }
    if (!taken) return std::move(taken).error().with_context(where);
  }
  if (conversation.empty()) return wrong(path.string() + ": holds no reply");
  return conversation;
}

}  // namespace kagent::llm
