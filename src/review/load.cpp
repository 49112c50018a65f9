// SPDX-License-Identifier: Apache-2.0
#include "review/load.h"

#include <set>
#include <utility>

#include "base/text.h"
#include "batch/journal.h"
#include "sys/files.h"
#include "wire/members.h"

namespace kagent::review {
namespace {

namespace fs = std::filesystem;
using wire::Json;

constexpr std::size_t kMaxBytes = 64u << 20;
constexpr std::size_t kMaxSourceFiles = 64;
constexpr std::size_t kMaxSourceBytes = 1u << 20;

Result<Json> read_json(const fs::path& path) {
  KAGENT_TRY(const std::string text, sys::read_file(path, kMaxBytes));
  return wire::parse_text(text, path.string());
}

/// What is not there or does not parse counts as null.
Json read_json_or_null(const fs::path& path) {
  auto json = read_json(path);
  return json ? std::move(*json) : Json();
}

std::map<std::string, std::string> read_sources(const fs::path& folder) {
  std::map<std::string, std::string> files;
  std::error_code code;
  for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    // A link in a folder from elsewhere would show files of this machine.
    if (entry->symlink_status(code).type() != fs::file_type::regular || files.size() >= kMaxSourceFiles) continue;
    auto text = sys::read_file(entry->path(), kMaxSourceBytes);
    if (text) files[entry->path().lexically_relative(folder).string()] = std::move(*text);
  }
  return files;
}

/// A hash names a folder below candidates/: it comes from a file, so only hexadecimal digits are one.
bool is_hash(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string best_hash(const RunRecord& run) {
  const std::string kept = wire::text_member(read_json_or_null(run.folder / "best/evaluation.json"), "candidate");
  return kept.empty() ? wire::text_member(wire::member(run.result, "best"), "candidate") : kept;
}

void add_candidates(RunRecord& run) {
  std::map<std::string, std::size_t> places;
  for (const auto& record : run.trajectory.candidates) {
    const std::string& hash = record.evaluation.candidate;
    const auto [place, is_new] = places.emplace(hash, run.candidates.size());
    if (!is_new) {
      run.candidates[place->second].evaluation = record.evaluation;   // judged again
      continue;
    }
    JudgedCandidate candidate{static_cast<int>(run.candidates.size()) + 1, record.turn, record.evaluation, {}};
    if (is_hash(hash)) candidate.files = read_sources(run.folder / "candidates" / hash / "source");
    run.candidates.push_back(std::move(candidate));
  }
  const std::string best = best_hash(run);
  const auto found = places.find(best);
  if (found == places.end()) return;
  run.best = static_cast<int>(found->second) + 1;
  if (!is_hash(best)) return;
  const auto plan = wire::parse<Plan>(read_json_or_null(run.folder / "candidates" / best / "plan.json"));
  if (plan) run.best_plan = *plan;
}

}  // namespace

Result<FolderKind> kind_of_folder(const fs::path& folder) {
  std::error_code code;
  if (fs::exists(folder / "batch.json", code)) return FolderKind::batch;
  if (fs::exists(folder / "run.json", code) || fs::exists(folder / "trajectory.jsonl", code)) return FolderKind::run;
  return Error{ErrorKind::usage, folder.string() + ": neither a run folder (run.json) nor a batch folder (batch.json)"};
}

Result<BatchRecord> load_batch(const fs::path& folder) {
  KAGENT_TRY(const Json json, read_json(folder / "batch.json"));
  BatchRecord record;
  record.folder = folder;
  const std::string model = wire::text_member(json, "model");
  record.what = model.empty() ? "check of " + wire::text_member(json, "candidates") : "optimize with " + model;
  record.baseline = wire::flag_member(json, "baseline");
  if (record.baseline) record.what = "baselines";
  for (const auto& argument : wire::member(json, "arguments")) {
    if (argument.is_string()) record.arguments.push_back(argument.get<std::string>());
  }
  std::map<std::string, Json> ended;
  std::error_code code;
  if (fs::exists(folder / "journal.jsonl", code)) {
    KAGENT_TRY(ended, batch::read_journal(folder / "journal.jsonl"));
  }
  for (const auto& job : wire::member(json, "jobs")) {
    ++record.jobs;
    const auto found = ended.find(wire::text_member(job, "id"));
    if (found == ended.end()) continue;
    KAGENT_TRY(batch::JobResult result, batch::parse_result(found->second));
    record.results.push_back(std::move(result));
  }
  return record;
}

Result<BatchRecord> merge(std::vector<BatchRecord> parts) {
  KAGENT_CHECK(!parts.empty());
  BatchRecord whole = std::move(parts[0]);
  std::set<std::string> ids;
  for (const auto& result : whole.results) ids.insert(result.id);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].what != whole.what || parts[i].arguments != whole.arguments) {
      return Error{ErrorKind::usage, parts[i].folder.string() + ": not of one batch with " + whole.folder.string() +
                                         " (" + parts[i].what + "; " + whole.what + ", or other flags)"};
    }
    whole.jobs += parts[i].jobs;
    for (auto& result : parts[i].results) {
      if (!ids.insert(result.id).second) {
        return Error{ErrorKind::usage, parts[i].folder.string() + ": a second result of " + result.id};
      }
      whole.results.push_back(std::move(result));
    }
  }
  return whole;
}

Result<RunRecord> load_run(const fs::path& folder) {
  RunRecord run;
  run.folder = folder;
  run.run = read_json_or_null(folder / "run.json");
  run.result = read_json_or_null(folder / "result.json");
  KAGENT_TRY(run.trajectory, store::read_trajectory(folder / "trajectory.jsonl"));
  add_candidates(run);
  return run;
}

batch::JobResult as_result(const RunRecord& run) {
  batch::JobResult result;
  // An Evaluation that was read is given back as the judge prints it: one way to read results.
  Json record{{"outcome", wire::text_member(run.result, "outcome")}};
  if (record["outcome"] == "") record["outcome"] = "unfinished";
  for (const char* name : {"usage", "turns", "candidates", "model", "explanation"}) record[name] = wire::member(run.result, name);
  record["run_folder"] = run.folder.string();
  if (run.best > 0) {
    record["best"] = {{"evaluation", wire::to_json(run.candidates[static_cast<std::size_t>(run.best) - 1].evaluation)}};
  }
  const Json& seconds = wire::member(run.result, "seconds");
  result.end = batch::read_end(0, seconds.is_number() ? seconds.get<double>() : 0, wire::dump(record), "");
  batch::add_run_folder(result.end, run.folder);
  const Json& task = wire::member(run.run, "task");
  result.task = base::one_line(wire::text_member(task, "name"));
  if (result.task.empty()) result.task = base::one_line(run.folder.filename().string());
  result.task_hash = wire::text_member(task, "hash");
  result.id = result.task;
  return result;
}

Result<std::vector<batch::JobResult>> load_results(const fs::path& folder) {
  KAGENT_TRY(const FolderKind kind, kind_of_folder(folder));
  if (kind == FolderKind::batch) {
    KAGENT_TRY(BatchRecord record, load_batch(folder));
    return std::move(record.results);
  }
  KAGENT_TRY(const RunRecord run, load_run(folder));
  return std::vector<batch::JobResult>{as_result(run)};
}

}  // namespace kagent::review
