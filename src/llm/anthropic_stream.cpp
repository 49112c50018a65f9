// SPDX-License-Identifier: Apache-2.0
#include "llm/anthropic_stream.h"

#include "base/text.h"

#include <utility>

namespace kagent::llm {
namespace {

constexpr std::size_t kMaxBlocks = 256;
constexpr std::size_t kShownOfTooMuch = 8u << 10;

void append_text(OrderedJson& block, const char* name, const std::string& more) {
  block[name] = wire::text_member(block, name) + more;
}

}  // namespace

Heard AnthropicStream::take(const ServerEvent& event) {
  auto json = parse_ordered(event.data, "event");
  if (!json || !json->is_object()) {
    return fail({TroubleKind::connection, "the stream holds what is not JSON", {}, true});
  }
  const std::string type = wire::text_member(*json, "type");
  if (type == "error" || (type.empty() && json->contains("error"))) {
    return fail(trouble_in_stream(event.data));
  }
  if (type == "message_start") {
    const OrderedJson& message = wire::member(*json, "message");
    model_ = wire::text_member(message, "model");
    take_usage(wire::member(message, "usage"));
    return Heard::progress;
  }
  if (type == "content_block_start") return start_block(*json);
  if (type == "content_block_delta") return take_delta(*json);
  if (type == "content_block_stop") {
    if (Block* block = block_at(*json)) block->stopped = true;
    return Heard::progress;
  }
  if (type == "message_delta") {
    const OrderedJson& delta = wire::member(*json, "delta");
    if (const std::string reason = wire::text_member(delta, "stop_reason"); !reason.empty()) {
      stop_reason_ = reason;
    }
    refusal_ = wire::text_member(wire::member(delta, "stop_details"), "explanation");
    if (refusal_.empty()) refusal_ = wire::text_member(wire::member(delta, "stop_details"), "category");
    take_usage(wire::member(*json, "usage"));
    return Heard::progress;
  }
  if (type == "message_stop") {
    ended_ = true;
    return Heard::progress;
  }
  return Heard::nothing;
}

Heard AnthropicStream::take_whole(const std::string& body) {
  auto message = parse_ordered(body, "answer");
  if (!message || !message->is_object()) {
    return fail({TroubleKind::connection, "the answer is not JSON", {}, true});
  }
  if (message->contains("error")) return fail(trouble_in_stream(body));
  model_ = wire::text_member(*message, "model");
  stop_reason_ = wire::text_member(*message, "stop_reason");
  take_usage(wire::member(*message, "usage"));
  const OrderedJson& content = wire::member(*message, "content");
  if (!content.is_array() || content.size() > kMaxBlocks) {
    return fail({TroubleKind::connection, "the answer has no content", {}, true});
  }
  for (const OrderedJson& json : content) {
    if (!json.is_object()) continue;
    Block block{json, "", true};
    if (json.contains("input")) block.input = dump(json["input"]);
    blocks_.push_back(std::move(block));
  }
  ended_ = true;
  return count(body.size());
}

Heard AnthropicStream::start_block(const OrderedJson& event) {
  const OrderedJson& block = wire::member(event, "content_block");
  if (!block.is_object() || blocks_.size() >= kMaxBlocks) {
    return fail(
        {TroubleKind::connection, "the stream holds a block that cannot be read", {}, true});
  }
  blocks_.push_back({block, "", false});
  const Heard heard = count(dump(block).size());
  too_much_ = too_much_ || heard == Heard::too_much;
  return heard;
}

/// By the index that the event names; servers that leave it out mean the last block.
AnthropicStream::Block* AnthropicStream::block_at(const OrderedJson& event) {
  if (blocks_.empty()) return nullptr;
  const OrderedJson& index = wire::member(event, "index");
  if (!index.is_number_integer()) return &blocks_.back();
  const auto at = index.get<std::int64_t>();
  if (at < 0 || at >= static_cast<std::int64_t>(blocks_.size())) return nullptr;
  return &blocks_[static_cast<std::size_t>(at)];
}

Heard AnthropicStream::take_delta(const OrderedJson& event) {
  Block* block = block_at(event);
  if (block == nullptr) {
    return fail({TroubleKind::connection, "the stream adds to a block that never began", {}, true});
  }
  const OrderedJson& delta = wire::member(event, "delta");
  const std::string type = wire::text_member(delta, "type");
  std::string more;
  if (type == "text_delta") {
    more = wire::text_member(delta, "text");
    append_text(block->json, "text", more);
  } else if (type == "input_json_delta") {
    more = wire::text_member(delta, "partial_json");
    block->input += more;
  } else if (type == "thinking_delta") {
    more = wire::text_member(delta, "thinking");
    append_text(block->json, "thinking", more);
  } else if (type == "signature_delta") {
    block->json["signature"] = wire::text_member(delta, "signature");
  } else {
    return Heard::nothing;
  }
  const Heard heard = count(more.size());
  too_much_ = too_much_ || heard == Heard::too_much;
  return heard;
}

/// Figures are cumulative: later ones replace earlier ones.
void AnthropicStream::take_usage(const OrderedJson& usage) {
  if (!usage.is_object()) return;
  if (usage.contains("input_tokens")) plain_input_ = count_in(usage, "input_tokens");
  if (usage.contains("cache_read_input_tokens")) {
    usage_.cached_tokens = count_in(usage, "cache_read_input_tokens");
  }
  if (usage.contains("cache_creation_input_tokens")) {
    usage_.cache_written_tokens = count_in(usage, "cache_creation_input_tokens");
  }
  if (usage.contains("output_tokens")) usage_.output_tokens = count_in(usage, "output_tokens");
  usage_.input_tokens = plain_input_ + usage_.cached_tokens + usage_.cache_written_tokens;
}

Reply AnthropicStream::reply() const {
  Reply reply;
  reply.model = model_;
  reply.usage = usage_;
  OrderedJson content = OrderedJson::array();
  for (const Block& block : blocks_) {
    OrderedJson json = block.json;
    const std::string type = wire::text_member(json, "type");
    if (type == "text") {
      const std::string text = wire::text_member(json, "text");
      if (text.empty()) continue;  // the server refuses to be told nothing
      reply.text += text;
    }
    if (too_much_) continue;
    if (type == "tool_use") {
      const std::string arguments = block.input.empty() ? "{}" : block.input;
      const auto input = parse_ordered(arguments, "input");
      const bool fits = input && input->is_object();
      json["input"] = fits ? *input : OrderedJson{{"_invalid", base::cap(arguments, 4096)}};
      reply.calls.push_back({wire::text_member(json, "id"), wire::text_member(json, "name"), arguments});
    }
    content.push_back(std::move(json));
  }
  if (too_much_) {
    reply.text = base::cap(reply.text, kShownOfTooMuch);
    content.push_back({{"type", "text"}, {"text", reply.text.empty() ? "(too long)" : reply.text}});
  }
  reply.raw = dump({{"role", "assistant"}, {"content", std::move(content)}});
  if (stop_reason_ == "refusal") {
    reply.end = ReplyEnd::refusal;
    if (reply.text.empty()) reply.text = refusal_;
  } else if (too_much_ || stop_reason_ == "max_tokens" ||
             stop_reason_ == "model_context_window_exceeded") {
    reply.end = ReplyEnd::length;
  } else {
    reply.end = reply.calls.empty() ? ReplyEnd::finished : ReplyEnd::tool_calls;
  }
  return reply;
}

}  // namespace kagent::llm
