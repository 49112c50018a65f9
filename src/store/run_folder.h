// SPDX-License-Identifier: Apache-2.0
// One folder with everything that happened to one task; the only place that knows its paths.
// docs/run-folder.md describes it.
#pragma once

#include <kagent/candidate.h>
#include <kagent/evaluation.h>
#include <kagent/result.h>

#include "wire/json.h"

#include <chrono>
#include <filesystem>
#include <string>

namespace kagent::store {

inline constexpr const char* kRunSchema = "kagent.run/1";
inline constexpr const char* kEvaluationSchema = "kagent.evaluation/1";

class RunFolder {
 public:
  /// Makes <parent>/<UTC>-<task>-<id>. The id keeps two runs of one second apart.
  static Result<RunFolder> create(const std::filesystem::path& parent, const std::string& task,
                                  std::chrono::system_clock::time_point now);

  /// A run that is there already; an Error of kind usage where there is none.
  static Result<RunFolder> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path run_file() const { return path_ / "run.json"; }
  std::filesystem::path trajectory() const { return path_ / "trajectory.jsonl"; }
  std::filesystem::path workspace() const { return path_ / "workspace"; }
  std::filesystem::path candidates() const { return path_ / "candidates"; }
  std::filesystem::path best() const { return path_ / "best"; }
  std::filesystem::path result_file() const { return path_ / "result.json"; }

  /// run.json: settings, versions, device, hashes. `facts` is an object; the schema is added.
  Result<void> write_run(wire::Json facts) const;

  /// An Error of kind usage where this run was of another task (by run.json).
  Result<void> check_task(const std::string& hash) const;

  /// candidates/<hash>/evaluation.json beside the frozen source; the evaluator keeps plan and log
  /// there.
  Result<void> keep_evaluation(const Evaluation& evaluation) const;

  /// best/ becomes a copy of this candidate and its evaluation, in one step.
  Result<void> keep_best(const Candidate& candidate, const Evaluation& evaluation) const;

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

/// "2026-11-30T22-05-09Z": sorts by time and is a file name everywhere.
std::string utc_name(std::chrono::system_clock::time_point time);

}  // namespace kagent::store
