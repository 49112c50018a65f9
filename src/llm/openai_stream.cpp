// SPDX-License-Identifier: Apache-2.0
#include "llm/openai_stream.h"

#include "base/text.h"

#include <fmt/format.h>

#include <utility>

namespace kagent::llm {
namespace {

constexpr std::size_t kMaxCalls = 256;
constexpr std::size_t kMaxTokenBytes = 8u << 20;
constexpr std::size_t kShownOfTooMuch = 8u << 10;

/// Takes a text member over; returns how much it was.
std::size_t append(const OrderedJson& delta, const char* name, std::string& text) {
  const std::string more = wire::text_member(delta, name);
  text += more;
  return more.size();
}

/// Content is a text, or a list of parts with a text each.
std::string content_of(const OrderedJson& delta) {
  const OrderedJson& content = wire::member(delta, "content");
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (content.is_array()) {
    for (const OrderedJson& part : content) text += wire::text_member(part, "text");
  }
  return text;
}

}  // namespace

Heard OpenAiStream::take(const ServerEvent& event) {
  if (base::trim(event.data) == "[DONE]") {
    done_ = true;
    return Heard::progress;
  }
  auto json = parse_ordered(event.data, "event");
  if (!json) return fail({TroubleKind::connection, "the stream holds what is not JSON", {}, true});
  if (event.name == "error" || json->is_array() ||
      (json->is_object() && !wire::member(*json, "error").is_null())) {
    return fail(trouble_in_stream(event.data));
  }
  return take_chunk(*json);
}

Heard OpenAiStream::take_whole(const std::string& body) {
  auto json = parse_ordered(body, "answer");
  if (!json || !json->is_object()) {
    return fail({TroubleKind::connection, "the answer is not a JSON object", {}, true});
  }
  if (!wire::member(*json, "error").is_null()) return fail(trouble_in_stream(body));
  const Heard heard = take_chunk(*json);
  if (heard == Heard::nothing) {
    return fail({TroubleKind::connection, "the answer holds no message", {}, true});
  }
  done_ = true;
  return heard;
}

Heard OpenAiStream::take_chunk(const OrderedJson& chunk) {
  take_usage(wire::member(chunk, "usage"));
  if (const std::string model = wire::text_member(chunk, "model"); !model.empty()) model_ = model;
  const OrderedJson& choices = wire::member(chunk, "choices");
  if (!choices.is_array() || choices.empty()) return Heard::nothing;
  const OrderedJson& choice = choices.front();
  take_tokens(chunk, choice);
  std::size_t bytes = 0;
  for (const char* name : {"delta", "message"}) {
    const OrderedJson& delta = wire::member(choice, name);
    if (delta.is_object()) bytes += take_message(delta);
  }
  if (const std::string reason = wire::text_member(choice, "finish_reason"); !reason.empty()) {
    finish_reason_ = reason;
  }
  const Heard heard = count(bytes);
  too_much_ = too_much_ || heard == Heard::too_much;
  return heard;
}

std::size_t OpenAiStream::take_message(const OrderedJson& delta) {
  const std::string content = content_of(delta);
  text_ += content;
  std::size_t bytes = content.size();
  bytes += append(delta, "refusal", refusal_);
  bytes += append(delta, "reasoning", reasoning_);
  bytes += append(delta, "reasoning_content", reasoning_content_);
  has_reasoning_ = has_reasoning_ || wire::member(delta, "reasoning").is_string();
  has_reasoning_content_ = has_reasoning_content_ || wire::member(delta, "reasoning_content").is_string();
  const OrderedJson& details = wire::member(delta, "reasoning_details");
  if (details.is_array()) {
    for (const OrderedJson& detail : details) {
      bytes += dump(detail).size();
      reasoning_details_.push_back(detail);
    }
  }
  const OrderedJson& calls = wire::member(delta, "tool_calls");
  if (calls.is_array()) {
    for (std::size_t i = 0; i < calls.size(); ++i) bytes += take_call(calls[i], i);
  }
  return bytes;
}

/// Servers leave out the index, or say 0 for every call: a new id that differs from the slot's
/// opens a new call; without an index the id decides, and else the place in the list.
OpenAiStream::Call& OpenAiStream::call_for(const OrderedJson& delta, std::size_t position) {
  const std::string id = wire::text_member(delta, "id");
  const OrderedJson& index_member = wire::member(delta, "index");
  const std::int64_t index =
      index_member.is_number_integer() ? index_member.get<std::int64_t>() : -1;
  if (!id.empty()) {
    for (Call& call : calls_) {
      if (call.id == id) return call;
    }
  }
  if (index >= 0) {
    for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
      if (call->index == index && (id.empty() || call->id.empty())) return *call;
    }
  } else if (id.empty() && !calls_.empty()) {
    const bool opens = !wire::text_member(wire::member(delta, "function"), "name").empty();
    if (!opens) return position < calls_.size() && position > 0 ? calls_[position] : calls_.back();
  }
  Call call;
  call.index = index;
  call.id = id;
  calls_.push_back(std::move(call));
  return calls_.back();
}

std::size_t OpenAiStream::take_call(const OrderedJson& delta, std::size_t position) {
  if (!delta.is_object() || calls_.size() >= kMaxCalls) return kMaxReplyBytes;
  Call& call = call_for(delta, position);
  const OrderedJson& function = wire::member(delta, "function");
  // A name comes once; a server that repeats it with every piece means the same call.
  if (call.name.empty()) call.name = wire::text_member(function, "name");
  std::size_t bytes = append(function, "arguments", call.arguments);
  if (wire::member(function, "arguments").is_object()) call.arguments = dump(function["arguments"]);
  for (const auto& [name, value] : delta.items()) {
    if (name == "index" || name == "id" || name == "function" || name == "type") continue;
    call.others[name] = value;
    bytes += dump(value).size();
  }
  return bytes;
}

/// For those who train on a trajectory. No part of the message: it does not go back.
void OpenAiStream::take_tokens(const OrderedJson& chunk, const OrderedJson& choice) {
  const auto add = [this](const char* name, const OrderedJson& list) {
    if (!list.is_array() || list.empty() || token_bytes_ > kMaxTokenBytes) return;
    token_bytes_ += dump(list).size();
    if (token_bytes_ > kMaxTokenBytes) {
      tokens_ = {{"too_long", true}};
      return;
    }
    for (const OrderedJson& item : list) tokens_[name].push_back(item);
  };
  add("prompt_token_ids", wire::member(chunk, "prompt_token_ids"));
  add("token_ids", wire::member(choice, "token_ids"));
  add("logprobs", wire::member(wire::member(choice, "logprobs"), "content"));
}

void OpenAiStream::take_usage(const OrderedJson& usage) {
  if (!usage.is_object()) return;
  usage_.input_tokens = count_in(usage, "prompt_tokens");
  usage_.output_tokens = count_in(usage, "completion_tokens");
  const OrderedJson& details = wire::member(usage, "prompt_tokens_details");
  usage_.cached_tokens = details.is_object() ? count_in(details, "cached_tokens")
                                             : count_in(usage, "prompt_cache_hit_tokens");
  usage_.cached_tokens = std::min(usage_.cached_tokens, usage_.input_tokens);
}

Reply OpenAiStream::reply() const {
  Reply reply;
  reply.model = model_;
  reply.usage = usage_;
  reply.text = too_much_ ? base::cap(text_, kShownOfTooMuch) : text_;
  OrderedJson raw{{"role", "assistant"}};
  raw["content"] = reply.text.empty() ? OrderedJson(nullptr) : OrderedJson(reply.text);
  if (!too_much_) {
    if (has_reasoning_content_) raw["reasoning_content"] = reasoning_content_;
    if (has_reasoning_) raw["reasoning"] = reasoning_;
    if (!reasoning_details_.empty()) raw["reasoning_details"] = reasoning_details_;
    for (const Call& call : calls_) {
      ToolCall made{call.id, call.name, call.arguments.empty() ? "{}" : call.arguments};
      if (made.id.empty()) made.id = fmt::format("call_{}_{}", turn_, reply.calls.size() + 1);
      OrderedJson json{{"id", made.id},
                       {"type", "function"},
                       {"function", {{"name", made.tool}, {"arguments", made.arguments}}}};
      for (const auto& [name, value] : call.others.items()) json[name] = value;
      raw["tool_calls"].push_back(std::move(json));
      reply.calls.push_back(std::move(made));
    }
  }
  reply.raw = dump(raw);
  if (!tokens_.empty()) reply.tokens = dump(tokens_);
  const bool refused = !refusal_.empty() || finish_reason_ == "content_filter";
  if (refused && reply.calls.empty()) {
    reply.end = ReplyEnd::refusal;
    if (reply.text.empty()) reply.text = refusal_;
  } else if (too_much_ || finish_reason_ == "length") {
    reply.end = ReplyEnd::length;
  } else {
    // Calls make it a turn of calls, whatever the reason says.
    reply.end = reply.calls.empty() ? ReplyEnd::finished : ReplyEnd::tool_calls;
  }
  return reply;
}

}  // namespace kagent::llm
