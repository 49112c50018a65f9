// SPDX-License-Identifier: Apache-2.0
#include "llm/request_body.h"

#include "base/text.h"
#include "llm/ordered_json.h"

#include <utility>
#include <vector>

namespace kagent::llm {
namespace {

constexpr std::int64_t kReplyTokens = 16384;

/// A call's arguments as an object; servers fail on a history that holds broken JSON.
OrderedJson object_of(const std::string& arguments) {
  auto json = parse_ordered(arguments, "arguments");
  if (json && json->is_object()) return *std::move(json);
  return {{"_invalid", base::cap(arguments, 4096)}};
}

OrderedJson schema_of(const ToolSpec& tool) { return object_of(tool.schema); }

bool is_message(const Result<OrderedJson>& raw) {
  return raw && raw->is_object() && wire::text_member(*raw, "role") == "assistant";
}

/// What stands for a reply that said nothing at all; no server takes an empty one.
std::string said(const Reply& reply) { return reply.text.empty() ? "(nothing)" : reply.text; }

std::string anthropic_reply(const Reply& reply) {
  const auto raw = parse_ordered(reply.raw, "reply");
  if (is_message(raw) && wire::member(*raw, "content").is_array() && !(*raw)["content"].empty()) {
    return reply.raw;
  }
  OrderedJson content = OrderedJson::array();
  if (!reply.text.empty() || reply.calls.empty()) {
    content.push_back({{"type", "text"}, {"text", said(reply)}});
  }
  for (const ToolCall& call : reply.calls) {
    content.push_back({{"type", "tool_use"},
                       {"id", call.id},
                       {"name", call.tool},
                       {"input", object_of(call.arguments)}});
  }
  return dump({{"role", "assistant"}, {"content", std::move(content)}});
}

std::string openai_reply(const Reply& reply, const std::string& always_send_reasoning) {
  auto raw = parse_ordered(reply.raw, "reply");
  const bool ours = is_message(raw) && !wire::member(*raw, "content").is_array();
  bool broken = false;
  for (const ToolCall& call : reply.calls) {
    const auto arguments = parse_ordered(call.arguments, "arguments");
    broken = broken || !arguments || !arguments->is_object();
  }
  const bool adds = !always_send_reasoning.empty() && ours && !raw->contains(always_send_reasoning);
  const bool empty = ours && wire::member(*raw, "content").is_null() && reply.calls.empty();
  if (ours && !broken && !adds && !empty) return reply.raw;
  OrderedJson message = ours ? *std::move(raw) : OrderedJson{{"role", "assistant"}};
  if (!ours) message["content"] = reply.text.empty() ? OrderedJson() : OrderedJson(reply.text);
  if (reply.calls.empty() && wire::member(message, "content").is_null()) message["content"] = said(reply);
  if (!always_send_reasoning.empty() && !message.contains(always_send_reasoning)) {
    message[always_send_reasoning] = "";
  }
  for (std::size_t i = 0; i < reply.calls.size(); ++i) {
    const ToolCall& call = reply.calls[i];
    if (!ours) message["tool_calls"].push_back({{"id", call.id}, {"type", "function"}});
    message["tool_calls"][i]["function"] = {{"name", call.tool},
                                            {"arguments", dump(object_of(call.arguments))}};
  }
  return dump(message);
}

OrderedJson anthropic_tools(const std::vector<ToolSpec>& tools) {
  OrderedJson list = OrderedJson::array();
  for (const ToolSpec& tool : tools) {
    list.push_back({{"name", tool.name},
                    {"description", tool.description},
                    {"input_schema", schema_of(tool)}});
  }
  return list;
}

/// Content of user turns; what follows one another goes into one message.
std::vector<std::string> anthropic_messages(const std::vector<Message>& history) {
  std::vector<std::string> messages;
  std::vector<OrderedJson> user_turns;
  std::vector<std::size_t> places;
  OrderedJson content = OrderedJson::array();
  const auto end_user_turn = [&] {
    if (content.empty()) return;
    places.push_back(messages.size());
    messages.emplace_back();
    user_turns.push_back(std::exchange(content, OrderedJson::array()));
  };
  for (const Message& message : history) {
    if (const auto* reply = std::get_if<Reply>(&message)) {
      end_user_turn();
      messages.push_back(anthropic_reply(*reply));
    } else if (const auto* user = std::get_if<UserMessage>(&message)) {
      content.push_back({{"type", "text"}, {"text", user->text}});
    } else {
      for (const ToolResult& result : std::get<ToolMessage>(message).results) {
        OrderedJson block{{"type", "tool_result"},
                          {"tool_use_id", result.call_id},
                          {"content", result.text.empty() ? "(no output)" : result.text}};
        if (result.is_error) block["is_error"] = true;
        content.push_back(std::move(block));
      }
    }
  }
  end_user_turn();
  for (std::size_t i = 0; i < user_turns.size(); ++i) {
    // The last two: a turn of many calls lies beyond the look-back from the end alone.
    if (i + 2 >= user_turns.size()) user_turns[i].back()["cache_control"] = {{"type", "ephemeral"}};
    messages[places[i]] = dump({{"role", "user"}, {"content", std::move(user_turns[i])}});
  }
  return messages;
}

/// `head` is an object; the messages go in as they are, byte for byte.
std::string with_messages(const OrderedJson& head, const std::vector<std::string>& messages) {
  std::string body = dump(head);
  body.pop_back();
  return body + ",\"messages\":[" + base::join(messages, ",") + "]}";
}

void add_sampling(OrderedJson& head, const Sampling& sampling) {
  if (sampling.temperature) head["temperature"] = *sampling.temperature;
  if (sampling.top_p) head["top_p"] = *sampling.top_p;
  if (sampling.extra.empty()) return;
  const auto extra = parse_ordered(sampling.extra, "extra");
  if (!extra || !extra->is_object()) return;
  for (const auto& [name, value] : extra->items()) head[name] = value;
}

}  // namespace

Result<void> check_extra(const std::string& extra) {
  if (extra.empty()) return {};
  const auto wrong = [](const std::string& why) { return Error{ErrorKind::usage, "--extra-body: " + why}; };
  const auto json = parse_ordered(extra, "extra");
  if (!json || !json->is_object()) return wrong("expected a JSON object, such as '{\"logprobs\": true}'");
  for (const auto& [name, value] : json->items()) {
    for (const char* ours : {"model", "messages", "system", "tools", "stream", "stream_options", "max_tokens", "max_completion_tokens"}) {
      if (name == ours) return wrong(name + " is set by kagent");
    }
  }
  return {};
}

std::string anthropic_body(const ChatRequest& request, const std::string& model,
                           const Sampling& sampling) {
  OrderedJson head{{"model", model},
                   {"max_tokens", sampling.max_reply_tokens.value_or(kReplyTokens)},
                   {"stream", true}};
  add_sampling(head, sampling);
  if (!sampling.effort.empty()) head["output_config"] = {{"effort", sampling.effort}};
  if (!request.tools.empty()) head["tools"] = anthropic_tools(request.tools);
  // Tools come before the system prompt in the cached prefix: one mark covers both, for an hour,
  // since a turn with a build and a measurement can take longer than five minutes.
  head["system"] =
      OrderedJson::array({{{"type", "text"},
                           {"text", request.system},
                           {"cache_control", {{"type", "ephemeral"}, {"ttl", "1h"}}}}});
  return with_messages(head, anthropic_messages(request.messages));
}

std::string openai_body(const ChatRequest& request, const std::string& model,
                        const Sampling& sampling, const Endpoint& endpoint) {
  OrderedJson head{
      {"model", model}, {"stream", true}, {"stream_options", {{"include_usage", true}}}};
  add_sampling(head, sampling);
  if (!sampling.effort.empty()) head["reasoning_effort"] = sampling.effort;
  if (sampling.max_reply_tokens) head[endpoint.max_tokens_member] = *sampling.max_reply_tokens;
  for (const ToolSpec& tool : request.tools) {
    head["tools"].push_back({{"type", "function"},
                             {"function",
                              {{"name", tool.name},
                               {"description", tool.description},
                               {"parameters", schema_of(tool)}}}});
  }
  std::vector<std::string> messages{dump({{"role", "system"}, {"content", request.system}})};
  for (const Message& message : request.messages) {
    if (const auto* reply = std::get_if<Reply>(&message)) {
      messages.push_back(openai_reply(*reply, endpoint.always_send_reasoning));
    } else if (const auto* user = std::get_if<UserMessage>(&message)) {
      messages.push_back(dump({{"role", "user"}, {"content", user->text}}));
    } else {
      for (const ToolResult& result : std::get<ToolMessage>(message).results) {
        messages.push_back(
            dump({{"role", "tool"}, {"tool_call_id", result.call_id}, {"content", result.text}}));
      }
    }
  }
  return with_messages(head, messages);
}

}  // namespace kagent::llm
