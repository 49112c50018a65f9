// SPDX-License-Identifier: Apache-2.0
#include "exchange/chat_messages.h"

#include "exchange/grades.h"
#include "exchange/segments.h"

#include <utility>

namespace kagent::exchange {
namespace {

using wire::Json;

constexpr const char* kSchema = "kagent.messages/1";

Json assistant(const Turn& turn, bool copied) {
  const Reply& reply = turn.reply;
  Json message{{"role", "assistant"}, {"content", reply.text}, {"weight", copied ? 0 : 1}};
  if (const std::string reasoning = reasoning_of(reply); !reasoning.empty()) {
    message["reasoning_content"] = reasoning;
  }
  Json calls = Json::array();
  for (const ToolCall& call : reply.calls) {
    calls.push_back({{"id", call.id},
                     {"type", "function"},
                     {"function", {{"name", call.tool}, {"arguments", call.arguments}}}});
  }
  if (!calls.empty()) message["tool_calls"] = std::move(calls);
  return message;
}

Json messages_of(const Segment& segment, const std::string& system) {
  Json messages = Json::array();
  messages.push_back({{"role", "system"}, {"content", system}});
  messages.push_back({{"role", "user"}, {"content", segment.opening}});
  for (const Turn& turn : segment.turns) {
    messages.push_back(assistant(turn, segment.copied(turn)));
    for (const ToolResult& result : turn.results) {
      messages.push_back(
          {{"role", "tool"}, {"tool_call_id", result.call_id}, {"content", result.text}});
    }
    if (!turn.nudge.empty()) messages.push_back({{"role", "user"}, {"content", turn.nudge}});
  }
  return messages;
}

Json turns_of(const Segment& segment, const Grades& grades) {
  Json turns = Json::array();
  for (const Turn& turn : segment.turns) {
    if (segment.copied(turn)) continue;
    const Usage& usage = turn.reply.usage;
    Json json{{"turn", turn.number},
              {"model", turn.reply.model},
              {"end", wire::word(turn.reply.end)},
              {"input_tokens", usage.input_tokens},
              {"output_tokens", usage.output_tokens}};
    if (const Json tokens = tokens_of(turn.reply); tokens.is_object()) json.update(tokens);
    for (std::size_t i = 0; i < turn.results.size(); ++i) {
      if (Json grade = grades.of(turn.number, i); !grade.is_null()) {
        grade["call_id"] = turn.results[i].call_id;
        json["evaluations"].push_back(std::move(grade));
      }
    }
    turns.push_back(std::move(json));
  }
  return turns;
}

}  // namespace

std::vector<Json> chat_messages(const store::Trajectory& trajectory, const RunFacts& facts) {
  const std::vector<Segment> all = segments(trajectory);
  const Grades grades(trajectory);
  const Json tools = tool_definitions(trajectory.start.tools);
  std::vector<Json> lines;
  for (const Segment& segment : all) {
    Json about{{"schema", kSchema},
               {"run", facts.name},
               {"model", trajectory.start.model},
               {"settings", trajectory.start.settings},
               {"segment", segment.number},
               {"segments", all.size()},
               {"turns", turns_of(segment, grades)}};
    for (const store::Resumption& resumption : trajectory.resumptions) {
      about["resumed"].push_back({{"turn", resumption.turn},
                                  {"model", resumption.model},
                                  {"settings", resumption.settings}});
    }
    if (facts.result.is_object()) {
      about["outcome"] = facts.result.value("outcome", Json());
      about["stop_reason"] = facts.result.value("stop_reason", Json());
    }
    Json line{{"messages", messages_of(segment, trajectory.start.system)},
              {"kagent", std::move(about)}};
    if (!tools.empty()) line["tools"] = tools;
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace kagent::exchange
