// SPDX-License-Identifier: Apache-2.0
// One folder for one batch: what is to do, what was done, and the output of every job
// (docs/batch.md).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "batch/job.h"

namespace kagent::batch {

inline constexpr const char* kBatchSchema = "kagent.batch/1";

/// What batch.json holds; a resumed batch does exactly this.
struct BatchSettings {
  std::vector<std::string> arguments;   // flags of every job
  std::string backend;
  std::string model;                    // empty: check
  std::string candidates;               // absolute; of check
  bool baseline = false;                // neither: times of eager and torch.compile
  int samples = 1;
  std::vector<Job> jobs;
};

class BatchFolder {
 public:
  /// Makes <parent>/<UTC>-<name>-<id> with batch.json in it.
  static Result<BatchFolder> create(const std::filesystem::path& parent, const std::string& name,
                                    const BatchSettings& settings);

  /// One that is there; an Error of kind usage where it is none, or a task file has changed since.
  static Result<BatchFolder> open(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const BatchSettings& settings() const { return settings_; }
  std::filesystem::path journal() const { return path_ / "journal.jsonl"; }

  /// results.jsonl in the order of the jobs, and summary.json; whole or not at all.
  /// Rows of baselines where the batch is of these, else of summarise().
  Result<std::vector<JobResult>> write_results(const std::map<std::string, wire::Json>& results) const;

 private:
  BatchFolder(std::filesystem::path path, BatchSettings settings)
      : path_(std::move(path)), settings_(std::move(settings)) {}
  std::filesystem::path path_;
  BatchSettings settings_;
};

/// Ids and hashes of every task and sample. Errors: a task that cannot be read.
Result<std::vector<Job>> make_jobs(const std::vector<TaskFile>& tasks, int samples);

}  // namespace kagent::batch
