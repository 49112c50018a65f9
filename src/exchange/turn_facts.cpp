// SPDX-License-Identifier: Apache-2.0
#include "exchange/turn_facts.h"

#include "sys/files.h"

namespace kagent::exchange {

Result<RunFacts> read_facts(const store::RunFolder& folder) {
  RunFacts facts;
  facts.name = folder.path().filename().string();
  KAGENT_TRY(const std::string run, sys::read_file(folder.run_file(), 1u << 20));
  KAGENT_TRY(facts.run, wire::parse_text(run, folder.run_file().string()));
  const auto version = facts.run.is_object() ? facts.run.find("kagent") : facts.run.end();
  if (version != facts.run.end() && version->is_string())
    facts.version = version->get<std::string>();
  if (const auto result = sys::read_file(folder.result_file(), 8u << 20)) {
    if (auto parsed = wire::parse_text(*result, "result.json")) facts.result = *std::move(parsed);
  }
  return facts;
}

std::string reasoning_of(const Reply& reply) {
  const auto raw = wire::parse_text(reply.raw, "reply");
  if (!raw || !raw->is_object()) return "";
  for (const char* name : {"reasoning_content", "reasoning"}) {
    const auto at = raw->find(name);
    if (at != raw->end() && at->is_string() && !at->get_ref<const std::string&>().empty()) {
      return at->get<std::string>();
    }
  }
  std::string text;
  const auto content = raw->find("content");
  if (content == raw->end() || !content->is_array()) return text;
  for (const wire::Json& block : *content) {
    if (!block.is_object()) continue;
    const auto thinking = block.find("thinking");
    if (thinking != block.end() && thinking->is_string()) text += thinking->get<std::string>();
  }
  return text;
}

wire::Json tokens_of(const Reply& reply) {
  if (reply.tokens.empty()) return nullptr;
  const auto told = wire::parse_text(reply.tokens, "tokens");
  if (!told || !told->is_object()) return nullptr;
  wire::Json json;
  const auto integers = [&](const char* theirs, const char* ours) {
    const auto list = told->find(theirs);
    if (list == told->end() || !list->is_array()) return;
    for (const wire::Json& item : *list) {
      if (!item.is_number_integer()) return;
    }
    json[ours] = *list;
  };
  integers("prompt_token_ids", "prompt_token_ids");
  integers("token_ids", "completion_token_ids");
  const auto list = told->find("logprobs");
  if (list == told->end() || !list->is_array()) return json;
  wire::Json numbers = wire::Json::array();
  for (const wire::Json& item : *list) {
    const auto number = item.is_object() ? item.find("logprob") : item.end();
    if (!item.is_object() || number == item.end() || !number->is_number()) return json;
    numbers.push_back(*number);
  }
  json["logprobs"] = std::move(numbers);
  return json;
}

wire::Json tool_definitions(const std::vector<ToolSpec>& tools) {
  wire::Json all = wire::Json::array();
  for (const ToolSpec& tool : tools) {
    const auto schema = wire::parse_text(tool.schema, "schema");
    all.push_back({{"type", "function"},
                   {"function",
                    {{"name", tool.name},
                     {"description", tool.description},
                     {"parameters", schema ? *schema : wire::Json::object()}}}});
  }
  return all;
}

wire::Json arguments_object(const ToolCall& call) {
  auto arguments = wire::parse_text(call.arguments, "arguments");
  return arguments && arguments->is_object() ? *std::move(arguments) : wire::Json();
}

}  // namespace kagent::exchange
