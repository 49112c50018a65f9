// SPDX-License-Identifier: Apache-2.0
#include "batch/job.h"

#include <cmath>

#include "base/text.h"
#include "wire/members.h"

#include <fmt/format.h>

namespace kagent::batch {
namespace {

using wire::Json;

std::string text_of(const Json& json, const char* name) { return base::one_line(wire::text_member(json, name)); }

double number_of(const Json& json, const char* name) {
  const Json& value = wire::member(json, name);
  if (!value.is_number()) return 0;
  const double number = value.get<double>();
  return std::isfinite(number) ? number : 0;
}

void read_evaluation(const Json& evaluation, JobEnd& end) {
  const Json& verdict = wire::member(evaluation, "verdict");
  end.correct = wire::flag_member(verdict, "correct");
  for (const auto& label : wire::member(verdict, "labels")) {
    if (label == "degenerate") end.degenerate = true;
  }
  const Json& score = wire::member(evaluation, "score");
  if (end.correct && score.is_object()) {
    end.grade = static_cast<int>(number_of(score, "grade"));
    end.speedup_over_eager = number_of(score, "speedup_over_eager");
    end.speedup_over_compiled = number_of(score, "speedup_over_compiled");
    end.success = wire::flag_member(score, "success");
  }
  const Json& fault = wire::member(verdict, "fault");
  if (!fault.is_object()) return;
  end.message = text_of(fault, "message");
  const Json& at = wire::member(fault, "at");
  const std::string file = text_of(at, "file");
  if (!file.empty()) end.at = fmt::format("{}:{:.0f}", file, number_of(at, "line"));
}

/// The last line that is a JSON object; kagent prints nothing else, but a killed one may print half.
Json last_object(const std::string& output) {
  const auto lines = base::split_lines(output);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    auto parsed = wire::parse_text(*line, "output");
    if (parsed && parsed->is_object()) return std::move(*parsed);
  }
  return Json();
}

}  // namespace

JobEnd read_end(int exit_code, double seconds, const std::string& output, const std::string& last_words) {
  JobEnd end;
  end.exit_code = exit_code;
  end.seconds = seconds;
  const Json record = last_object(output);
  end.outcome = text_of(record, "outcome");
  if (end.outcome.empty() || exit_code == 70 || exit_code > 128) {
    end.outcome = exit_code == 130 || exit_code == 143 ? "interrupted" : "crash";
    end.message = last_words.empty() ? fmt::format("ended with {} and said nothing", exit_code)
                                     : base::one_line(last_words);
    return end;
  }
  end.message = text_of(record, "message");
  for (const char* name : {"settings", "device", "versions", "numerics", "sandbox", "usage", "turns",
                           "candidates", "run_folder", "model", "stop_reason"}) {
    if (!wire::member(record, name).is_null()) end.facts[name] = record[name];
  }
  if (wire::member(record, "evaluation").is_object()) {           // kagent check
    read_evaluation(record["evaluation"], end);
  } else if (wire::member(record, "best").is_object()) {          // kagent optimize
    read_evaluation(wire::member(record["best"], "evaluation"), end);
  }
  if (end.message.empty()) end.message = text_of(record, "explanation");
  return end;
}

Json to_json(const Job& job, const JobEnd& end) {
  return {{"schema", kResultSchema},
          {"id", job.id},
          {"task", {{"name", job.task.name}, {"level", job.task.level}, {"path", job.task.path.string()}, {"hash", job.task_hash}}},
          {"sample", job.sample},
          {"outcome", end.outcome},
          {"exit_code", end.exit_code},
          {"seconds", end.seconds},
          {"correct", end.correct},
          {"degenerate", end.degenerate},
          {"grade", end.grade},
          {"speedup_over_eager", end.speedup_over_eager},
          {"speedup_over_compiled", end.speedup_over_compiled},
          {"success", end.success},
          {"message", end.message},
          {"at", end.at},
          {"facts", end.facts.is_null() ? Json::object() : end.facts}};
}

Result<JobResult> parse_result(const Json& json) {
  JobResult result;
  if (text_of(json, "schema") != kResultSchema) {
    return Error{ErrorKind::usage, fmt::format("not a line of schema {}", kResultSchema)};
  }
  result.id = text_of(json, "id");
  const Json& task = wire::member(json, "task");
  result.task = text_of(task, "name");
  result.level = text_of(task, "level");
  result.sample = static_cast<int>(number_of(json, "sample"));
  JobEnd& end = result.end;
  end.outcome = text_of(json, "outcome");
  end.exit_code = static_cast<int>(number_of(json, "exit_code"));
  end.seconds = number_of(json, "seconds");
  end.correct = wire::flag_member(json, "correct");
  end.degenerate = wire::flag_member(json, "degenerate");
  end.grade = static_cast<int>(number_of(json, "grade"));
  end.speedup_over_eager = number_of(json, "speedup_over_eager");
  end.speedup_over_compiled = number_of(json, "speedup_over_compiled");
  end.success = wire::flag_member(json, "success");
  end.message = text_of(json, "message");
  end.at = text_of(json, "at");
  end.facts = wire::member(json, "facts");
  if (result.id.empty() || result.task.empty() || end.outcome.empty()) {
    return Error{ErrorKind::usage, "a result without id, task or outcome"};
  }
  return result;
}

}  // namespace kagent::batch
