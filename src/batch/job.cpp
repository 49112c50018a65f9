// SPDX-License-Identifier: Apache-2.0
#include "batch/job.h"

#include <cmath>

#include "base/text.h"
#include "store/read_trajectory.h"
#include "sys/files.h"
#include "wire/members.h"

#include <fmt/format.h>

namespace kagent::batch {
namespace {

using wire::Json;

constexpr std::size_t kMaxRecordBytes = 64u << 20;

std::string text_of(const Json& json, const char* name) { return base::one_line(wire::text_member(json, name)); }

double number_of(const Json& json, const char* name) {
  const Json& value = wire::member(json, name);
  if (!value.is_number()) return 0;
  const double number = value.get<double>();
  return std::isfinite(number) ? number : 0;
}

base::Interval interval_of(const Json& speedup) { return {number_of(speedup, "low"), number_of(speedup, "high")}; }

void read_times(const Json& measurement, JobEnd& end) {
  end.over_eager = interval_of(wire::member(measurement, "over_eager"));
  end.over_compiled = interval_of(wire::member(measurement, "over_compiled"));
  end.candidate_us = number_of(wire::member(measurement, "candidate"), "median_us");
  end.eager_us = number_of(wire::member(measurement, "eager"), "median_us");
  end.compiled_us = number_of(wire::member(measurement, "compiled"), "median_us");
}

void read_evaluation(const Json& evaluation, JobEnd& end) {
  end.candidate = text_of(evaluation, "candidate");
  end.labels.clear();
  const Json& verdict = wire::member(evaluation, "verdict");
  end.correct = wire::flag_member(verdict, "correct");
  for (const auto& label : wire::member(verdict, "labels")) {
    if (!label.is_string()) continue;
    end.labels.push_back(base::one_line(label.get<std::string>()));
    if (label == "degenerate") end.degenerate = true;
  }
  read_times(wire::member(evaluation, "measurement"), end);
  end.queue_seconds += number_of(wire::member(evaluation, "stage_ms"), "queue") / 1000;
  if (const auto whole = wire::parse<Evaluation>(evaluation)) end.paper = scoring::paper_score(*whole);
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
                           "candidates", "run_folder", "model", "stop_reason", "candidate", "gate"}) {
    if (!wire::member(record, name).is_null()) end.facts[name] = record[name];
  }
  const Json& baselines = wire::member(record, "baselines");      // kagent baseline, of one task
  if (baselines.is_array() && baselines.size() == 1) {
    for (const char* name : {"settings", "device", "versions", "numerics"}) {
      if (!wire::member(baselines[0], name).is_null()) end.facts[name] = baselines[0][name];
    }
    read_times(wire::member(baselines[0], "measurement"), end);
    const std::string outcome = text_of(baselines[0], "outcome");
    if (!outcome.empty()) end.outcome = outcome;
    end.message = text_of(baselines[0], "message");
  } else if (wire::member(record, "evaluation").is_object()) {    // kagent check
    read_evaluation(record["evaluation"], end);
  } else if (wire::member(record, "best").is_object()) {          // kagent optimize
    read_evaluation(wire::member(record["best"], "evaluation"), end);
  }
  if (end.message.empty()) end.message = text_of(record, "explanation");
  return end;
}

void add_run_folder(JobEnd& end, const std::filesystem::path& run_folder) {
  const auto object = [&](const char* name) {
    const auto text = sys::read_file(run_folder / name, kMaxRecordBytes);
    auto parsed = wire::parse_text(text ? *text : "", name);
    return parsed ? std::move(*parsed) : Json();
  };
  const Json run = object("run.json");
  for (const char* name : {"settings", "device", "versions", "numerics", "sandbox"}) {
    if (!wire::member(run, name).is_null()) end.facts[name] = run[name];
  }
  const Json kept = object("best/evaluation.json");
  const Json& evaluation = wire::member(kept, "evaluation").is_object() ? kept["evaluation"] : kept;
  if (const auto whole = wire::parse<Evaluation>(evaluation)) end.paper = scoring::paper_score(*whole);
  const auto trajectory = store::read_trajectory(run_folder / "trajectory.jsonl");
  if (!trajectory) return;
  end.queue_seconds = 0;
  for (const auto& record : trajectory->candidates) {
    const auto queue = record.evaluation.stage_ms.find("queue");
    if (queue != record.evaluation.stage_ms.end()) end.queue_seconds += queue->second / 1000;
  }
}

namespace {

Json to_json(const base::Interval& interval) { return {{"low", interval.low}, {"high", interval.high}}; }

Json to_json(const std::optional<scoring::PaperScore>& score) {
  if (!score) return nullptr;
  return {{"correct", score->correct ? Json(*score->correct) : Json(nullptr)},
          {"grade", static_cast<int>(score->grade)},
          {"speedup_over_eager", score->speedup_over_eager},
          {"speedup_over_compiled", score->speedup_over_compiled}};
}

std::optional<scoring::PaperScore> parse_paper(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  scoring::PaperScore score;
  const Json& correct = wire::member(json, "correct");
  if (correct.is_boolean()) score.correct = correct.get<bool>();
  score.grade = static_cast<Grade>(static_cast<int>(number_of(json, "grade")));
  score.speedup_over_eager = number_of(json, "speedup_over_eager");
  score.speedup_over_compiled = number_of(json, "speedup_over_compiled");
  return score;
}

}  // namespace

Json to_json(const Job& job, const JobEnd& end) {
  return {{"schema", kResultSchema},
          {"id", job.id},
          {"task", {{"name", job.task.name}, {"level", job.task.level}, {"path", job.task.path.string()}, {"hash", job.task_hash}}},
          {"sample", job.sample},
          {"outcome", end.outcome},
          {"exit_code", end.exit_code},
          {"seconds", end.seconds},
          {"queue_seconds", end.queue_seconds},
          {"correct", end.correct},
          {"degenerate", end.degenerate},
          {"grade", end.grade},
          {"speedup_over_eager", end.speedup_over_eager},
          {"speedup_over_compiled", end.speedup_over_compiled},
          {"over_eager", to_json(end.over_eager)},
          {"over_compiled", to_json(end.over_compiled)},
          {"median_us", {{"candidate", end.candidate_us}, {"eager", end.eager_us}, {"compiled", end.compiled_us}}},
          {"candidate", end.candidate},
          {"labels", end.labels},
          {"rules", {{"paper", to_json(end.paper)}}},
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
  result.task_hash = text_of(task, "hash");
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
  end.queue_seconds = number_of(json, "queue_seconds");
  end.over_eager = interval_of(wire::member(json, "over_eager"));
  end.over_compiled = interval_of(wire::member(json, "over_compiled"));
  const Json& medians = wire::member(json, "median_us");
  end.candidate_us = number_of(medians, "candidate");
  end.eager_us = number_of(medians, "eager");
  end.compiled_us = number_of(medians, "compiled");
  end.candidate = text_of(json, "candidate");
  for (const auto& label : wire::member(json, "labels")) {
    if (label.is_string()) end.labels.push_back(base::one_line(label.get<std::string>()));
  }
  end.paper = parse_paper(wire::member(wire::member(json, "rules"), "paper"));
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
