// SPDX-License-Identifier: Apache-2.0
// Run folders and batch folders, read back for a report. Whatever stands in them may be hostile, cut off
// by a kill, or still being written.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <kagent/plan.h>

#include "batch/job.h"
#include "store/read_trajectory.h"

namespace kagent::review {

enum class FolderKind { run, batch };

/// An Error of kind usage where the folder is neither.
Result<FolderKind> kind_of_folder(const std::filesystem::path& folder);

/// A batch as it stands: results of the jobs that have ended, in the order of the jobs.
struct BatchRecord {
  std::filesystem::path folder;
  std::size_t jobs = 0;                       // ended or not
  std::string what;                           // "check of FOLDER", "optimize with MODEL", "baselines"
  bool baseline = false;
  std::vector<std::string> arguments;
  std::vector<batch::JobResult> results;
};

Result<BatchRecord> load_batch(const std::filesystem::path& folder);

/// Shards of one batch, or batches over different tasks, as one. An Error of kind usage where two hold
/// a result of the same id.
Result<BatchRecord> merge(std::vector<BatchRecord> parts);

/// One judged candidate of a run, by the order in which hashes first appear.
struct JudgedCandidate {
  int number = 0;
  int turn = 0;
  Evaluation evaluation;
  std::map<std::string, std::string> files;   // its source; empty where it is gone
};

struct RunRecord {
  std::filesystem::path folder;
  wire::Json run;                             // run.json
  wire::Json result;                          // result.json; null: was killed, or goes on
  store::Trajectory trajectory;
  std::vector<JudgedCandidate> candidates;
  int best = 0;                               // number of best/; 0: none
  std::optional<Plan> best_plan;
};

Result<RunRecord> load_run(const std::filesystem::path& folder);

/// A run as one result, so that it can be compared and listed beside others.
batch::JobResult as_result(const RunRecord& run);

/// Results of either kind of folder.
Result<std::vector<batch::JobResult>> load_results(const std::filesystem::path& folder);

}  // namespace kagent::review
