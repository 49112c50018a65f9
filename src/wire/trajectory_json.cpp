// SPDX-License-Identifier: Apache-2.0
#include "wire/trajectory_json.h"

#include "wire/forms.h"
#include "wire/reader.h"

namespace kagent::wire {
namespace {

constexpr std::size_t kMaxText = 8u << 20;
constexpr std::size_t kMaxCalls = 256;

std::string text_or_empty(const Reader& reader, const char* name) {
  const Reader field = reader.optional(name);
  return field.present() ? field.text(kMaxText) : "";
}

void read(const Reader& reader, ToolCall& call) {
  call.id = text_or_empty(reader, "id");
  call.tool = reader.field("tool").text(kMaxNameBytes);
  call.arguments = reader.field("arguments").text(kMaxText);
}

void read(const Reader& reader, ToolResult& result) {
  result.call_id = text_or_empty(reader, "call_id");
  result.text = reader.field("text").text(kMaxText);
  result.is_error = reader.field("is_error").boolean();
}

void read(const Reader& reader, ToolSpec& spec) {
  spec.name = reader.field("name").text(kMaxNameBytes);
  spec.description = reader.field("description").text(kMaxText);
  spec.schema = reader.field("schema").text(kMaxText);
}

void read(const Reader& reader, Usage& usage) {
  usage.input_tokens = reader.field("input_tokens").integer(0);
  usage.cached_tokens = reader.field("cached_tokens").integer(0);
  usage.output_tokens = reader.field("output_tokens").integer(0);
  if (const Reader written = reader.optional("cache_written_tokens"); written.present()) {
    usage.cache_written_tokens = written.integer(0);
  }
  if (const Reader cost = reader.optional("cost_usd"); cost.present()) {
    usage.cost_usd = cost.number();
  }
}

void read(const Reader& reader, Reply& reply) {
  reply.raw = reader.field("raw").text(kMaxText);
  reply.text = text_or_empty(reader, "text");
  const Reader calls = reader.field("calls");
  const std::size_t count = calls.list_size(kMaxCalls);
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    read(calls.item(i), reply.calls.emplace_back());
  }
  reply.end = read_word<ReplyEnd>(reader.field("end"));
  read(reader.field("usage"), reply.usage);
  reply.model = text_or_empty(reader, "model");
  reply.tokens = text_or_empty(reader, "tokens");
}

template <typename T>
Result<T> parse_here(const Json& json) {
  Document document;
  T value;
  read(Reader(json, document), value);
  if (!document.error.empty()) return Error{ErrorKind::usage, std::move(document.error)};
  return value;
}

}  // namespace

Json to_json(const ToolCall& call) {
  return {{"id", call.id}, {"tool", call.tool}, {"arguments", call.arguments}};
}

Json to_json(const ToolResult& result) {
  return {{"call_id", result.call_id}, {"text", result.text}, {"is_error", result.is_error}};
}

Json to_json(const Usage& usage) {
  return {{"input_tokens", usage.input_tokens},
          {"cached_tokens", usage.cached_tokens},
          {"output_tokens", usage.output_tokens},
          {"cache_written_tokens", usage.cache_written_tokens},
          {"cost_usd", usage.cost_usd}};
}

Json to_json(const ToolSpec& spec) {
  return {{"name", spec.name}, {"description", spec.description}, {"schema", spec.schema}};
}

Json to_json(const Reply& reply) {
  Json calls = Json::array();
  for (const ToolCall& call : reply.calls) calls.push_back(to_json(call));
  Json json{{"raw", reply.raw},
            {"text", reply.text},
            {"calls", std::move(calls)},
            {"end", word(reply.end)},
            {"usage", to_json(reply.usage)},
            {"model", reply.model}};
  if (!reply.tokens.empty()) json["tokens"] = reply.tokens;
  return json;
}

Result<ToolResult> parse_tool_result(const Json& json) { return parse_here<ToolResult>(json); }
Result<ToolSpec> parse_tool_spec(const Json& json) { return parse_here<ToolSpec>(json); }
Result<Reply> parse_reply(const Json& json) { return parse_here<Reply>(json); }

}  // namespace kagent::wire
