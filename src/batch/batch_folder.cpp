// SPDX-License-Identifier: Apache-2.0
#include "batch/batch_folder.h"

#include <chrono>
#include <random>
#include <utility>

#include "batch/summary.h"
#include "store/run_folder.h"
#include "sys/files.h"
#include "tasks/load.h"

#include <fmt/format.h>

namespace kagent::batch {
namespace {

namespace fs = std::filesystem;
using wire::Json;

constexpr std::size_t kMaxBatchBytes = 64u << 20;

Json to_json(const Job& job) {
  return {{"id", job.id},          {"path", job.task.path.string()}, {"level", job.task.level},
          {"number", job.task.number}, {"name", job.task.name},      {"task", job.task.id},
          {"hash", job.task_hash}, {"sample", job.sample}};
}

Job parse_job(const Json& json) {
  Job job;
  job.id = json.at("id").get<std::string>();
  job.task.path = json.at("path").get<std::string>();
  job.task.level = json.at("level").get<std::string>();
  job.task.number = json.at("number").get<long>();
  job.task.name = json.at("name").get<std::string>();
  job.task.id = json.at("task").get<std::string>();
  job.task_hash = json.at("hash").get<std::string>();
  job.sample = json.at("sample").get<int>();
  return job;
}

Json to_json(const BatchSettings& settings) {
  Json jobs = Json::array();
  for (const auto& job : settings.jobs) jobs.push_back(to_json(job));
  return {{"schema", kBatchSchema},
          {"arguments", settings.arguments},
          {"backend", settings.backend},
          {"model", settings.model},
          {"candidates", settings.candidates},
          {"baseline", settings.baseline},
          {"samples", settings.samples},
          {"jobs", std::move(jobs)}};
}

Result<BatchSettings> parse_settings(const Json& json, const std::string& where) {
  try {
    if (json.at("schema") != kBatchSchema) return Error{ErrorKind::usage, where + ": not of schema " + kBatchSchema};
    BatchSettings settings;
    settings.arguments = json.at("arguments").get<std::vector<std::string>>();
    settings.backend = json.at("backend").get<std::string>();
    settings.model = json.at("model").get<std::string>();
    settings.candidates = json.at("candidates").get<std::string>();
    settings.baseline = json.value("baseline", false);
    settings.samples = json.at("samples").get<int>();
    for (const auto& job : json.at("jobs")) settings.jobs.push_back(parse_job(job));
    return settings;
  } catch (const Json::exception& error) {
    return Error{ErrorKind::usage, where + ": " + error.what()};
  }
}

}  // namespace

Result<std::vector<Job>> make_jobs(const std::vector<TaskFile>& tasks, int samples) {
  std::vector<Job> jobs;
  for (int sample = 1; sample <= samples; ++sample) {
    for (const auto& task : tasks) {
      // A file that is no task is a result of that task, not the end of the batch.
      const auto loaded = tasks::load(task.path);
      Job job;
      job.task = task;
      std::error_code code;
      job.task.path = fs::absolute(task.path, code);
      job.task_hash = loaded ? loaded->hash : "";
      job.sample = sample;
      job.id = samples == 1 ? task.id : fmt::format("{}.{}", task.id, sample);
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

Result<BatchFolder> BatchFolder::create(const fs::path& parent, const std::string& name,
                                        const BatchSettings& settings) {
  std::random_device random;
  const fs::path path = fs::absolute(parent) / fmt::format("{}-{}-{:06x}", store::utc_name(std::chrono::system_clock::now()),
                                                           name, random() & 0xffffffu);
  for (const char* part : {"output", "logs", "runs"}) KAGENT_TRY_VOID(sys::make_directories(path / part));
  KAGENT_TRY_VOID(sys::write_file_atomically(path / "batch.json", wire::dump(to_json(settings), 1) + "\n"));
  return BatchFolder(path, settings);
}

Result<BatchFolder> BatchFolder::open(const fs::path& path) {
  const fs::path file = path / "batch.json";
  auto text = sys::read_file(file, kMaxBatchBytes);
  if (!text) return Error{ErrorKind::usage, path.string() + ": no batch to resume there (" + text.error().message + ")"};
  KAGENT_TRY(const Json json, wire::parse_text(*text, file.string()));
  KAGENT_TRY(BatchSettings settings, parse_settings(json, file.string()));
  for (const auto& job : settings.jobs) {
    const auto task = tasks::load(job.task.path);
    if ((task ? task->hash : "") != job.task_hash) {
      return Error{ErrorKind::usage, job.task.path.string() + ": has changed since the batch began; begin a new one"};
    }
  }
  return BatchFolder(fs::absolute(path), std::move(settings));
}

Result<std::vector<JobResult>> BatchFolder::write_results(const std::map<std::string, Json>& results) const {
  std::vector<JobResult> ordered;
  std::string lines;
  for (const auto& job : settings_.jobs) {
    const auto found = results.find(job.id);
    if (found == results.end()) continue;
    lines += wire::dump(found->second) + "\n";
    KAGENT_TRY(JobResult result, parse_result(found->second));
    ordered.push_back(std::move(result));
  }
  KAGENT_TRY_VOID(sys::write_file_atomically(path_ / "results.jsonl", lines));
  Json rows = Json::array();
  if (settings_.baseline) {
    for (const auto& row : summarise_baselines(ordered)) rows.push_back(batch::to_json(row));
  } else {
    for (const auto& row : summarise(ordered)) rows.push_back(batch::to_json(row));
  }
  const Json summary{{"schema", "kagent.batch-summary/1"}, {"jobs", settings_.jobs.size()}, {"ended", ordered.size()}, {"rows", std::move(rows)}};
  KAGENT_TRY_VOID(sys::write_file_atomically(path_ / "summary.json", wire::dump(summary, 1) + "\n"));
  return ordered;
}

}  // namespace kagent::batch
