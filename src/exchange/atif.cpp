// SPDX-License-Identifier: Apache-2.0
#include "exchange/atif.h"

#include "exchange/grades.h"
#include "exchange/segments.h"

#include <fmt/format.h>

#include <utility>

namespace kagent::exchange {
namespace {

using wire::Json;

Json metrics(const Reply& reply) {
  Json json{{"prompt_tokens", reply.usage.input_tokens},
            {"completion_tokens", reply.usage.output_tokens},
            {"cached_tokens", reply.usage.cached_tokens},
            {"cost_usd", reply.usage.cost_usd},
            {"extra", {{"cache_written_tokens", reply.usage.cache_written_tokens}}}};
  if (const Json tokens = tokens_of(reply); tokens.is_object()) json.update(tokens);
  return json;
}

Json tool_calls(const Reply& reply) {
  Json calls = Json::array();
  for (const ToolCall& call : reply.calls) {
    Json arguments = arguments_object(call);
    Json json{{"tool_call_id", call.id}, {"function_name", call.tool}};
    // ATIF wants an object; what the model wrote stands beside it where it was none.
    if (arguments.is_null()) json["extra"] = {{"raw_arguments", call.arguments}};
    json["arguments"] = arguments.is_null() ? Json::object() : std::move(arguments);
    calls.push_back(std::move(json));
  }
  return calls;
}

Json observation(const Turn& turn, const Grades& grades) {
  Json results = Json::array();
  for (std::size_t i = 0; i < turn.results.size(); ++i) {
    const ToolResult& result = turn.results[i];
    Json extra{{"is_error", result.is_error}};
    if (Json grade = grades.of(turn.number, i); !grade.is_null()) extra["evaluation"] = grade;
    results.push_back({{"source_call_id", result.call_id},
                       {"content", result.text},
                       {"extra", std::move(extra)}});
  }
  return {{"results", std::move(results)}};
}

class Document {
 public:
  Document(const Segment& segment, const Grades& grades) : segment_(segment), grades_(grades) {}

  Json steps(const std::string& system) {
    const bool later = segment_.number > 1;
    add("system", system, later);
    add("user", segment_.opening, later && !segment_.has_record);
    if (segment_.has_record) steps_.back()["extra"] = {{"stands_for_older_turns", true}};
    for (const Turn& turn : segment_.turns) add_turn(turn);
    return std::move(steps_);
  }

  Json final_metrics() const {
    return {{"total_prompt_tokens", total_.input_tokens},
            {"total_completion_tokens", total_.output_tokens},
            {"total_cached_tokens", total_.cached_tokens},
            {"total_cost_usd", total_.cost_usd},
            {"total_steps", count_}};
  }

 private:
  Json& add(const char* source, const std::string& message, bool copied) {
    Json step{{"step_id", ++count_}, {"source", source}, {"message", message}};
    if (copied) step["is_copied_context"] = true;
    return steps_.emplace_back(std::move(step));
  }

  void add_turn(const Turn& turn) {
    const bool copied = segment_.copied(turn);
    Json& step = add("agent", turn.reply.text, copied);
    if (!turn.reply.model.empty()) step["model_name"] = turn.reply.model;
    if (const std::string reasoning = reasoning_of(turn.reply); !reasoning.empty()) {
      step["reasoning_content"] = reasoning;
    }
    if (!turn.reply.calls.empty()) step["tool_calls"] = tool_calls(turn.reply);
    if (!turn.results.empty()) step["observation"] = observation(turn, grades_);
    step["extra"] = {{"turn", turn.number}, {"end", wire::word(turn.reply.end)}};
    step["llm_call_count"] = 1;
    if (!copied) {  // what was spent is told once
      step["metrics"] = metrics(turn.reply);
      step["extra"]["seconds"] = turn.seconds;
      total_.input_tokens += turn.reply.usage.input_tokens;
      total_.output_tokens += turn.reply.usage.output_tokens;
      total_.cached_tokens += turn.reply.usage.cached_tokens;
      total_.cost_usd += turn.reply.usage.cost_usd;
    }
    if (!turn.nudge.empty()) add("user", turn.nudge, copied);
  }

  const Segment& segment_;
  const Grades& grades_;
  Json steps_ = Json::array();
  int count_ = 0;
  Usage total_;
};

Json result_facts(const Json& result) {
  Json facts = Json::object();
  for (const char* name :
       {"outcome", "stop_reason", "explanation", "turns", "candidates", "usage", "seconds"}) {
    if (result.contains(name)) facts[name] = result[name];
  }
  return facts;
}

}  // namespace

std::vector<Json> atif_documents(const store::Trajectory& trajectory, const RunFacts& facts,
                                 const std::vector<std::string>& file_names) {
  const std::vector<Segment> all = segments(trajectory);
  const Grades grades(trajectory);
  KAGENT_CHECK(file_names.size() == all.size());
  std::vector<Json> documents;
  for (const Segment& segment : all) {
    Document document(segment, grades);
    Json json{{"schema_version", "ATIF-v1.8"},
              {"session_id", facts.name},
              {"trajectory_id", fmt::format("{}-{}", facts.name, segment.number)},
              {"agent",
               {{"name", "kagent"},
                {"version", facts.version},
                {"model_name", trajectory.start.model},
                {"tool_definitions", tool_definitions(trajectory.start.tools)},
                {"extra", {{"settings", trajectory.start.settings}}}}},
              {"steps", document.steps(trajectory.start.system)}};
    json["final_metrics"] = document.final_metrics();
    json["extra"] = {{"segment", segment.number}, {"segments", all.size()}};
    if (segment.number < static_cast<int>(all.size())) {
      json["continued_trajectory_ref"] = file_names[static_cast<std::size_t>(segment.number)];
    } else if (facts.result.is_object()) {
      json["extra"]["result"] = result_facts(facts.result);
    }
    if (trajectory.unfinished) {
      json["notes"] = "A kill cut off the last turn; its reply is left out.";
    }
    documents.push_back(std::move(json));
  }
  return documents;
}

}  // namespace kagent::exchange
