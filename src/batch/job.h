// SPDX-License-Identifier: Apache-2.0
// One unit of work of a batch, and what became of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/statistics.h"
#include "batch/find_tasks.h"
#include "scoring/paper_rules.h"
#include "wire/json.h"

namespace kagent::batch {

inline constexpr const char* kResultSchema = "kagent.batch-result/1";

struct Job {
  TaskFile task;
  std::string task_hash;
  int sample = 1;            // 1..k: --samples
  std::string id;            // "<task id>" or "<task id>.<sample>": key of the journal, file name
};

/// How a job's process ended, and what its last JSON object said.
struct JobEnd {
  int exit_code = 70;        // 128 + signal where one killed it
  std::string outcome;       // stable word: success, slower, mismatch, task_invalid, crash, …
  double seconds = 0;        // from its start to its end, without queue_seconds
  double queue_seconds = 0;  // waited for a device
  bool correct = false;
  bool degenerate = false;   // a label of the task
  int grade = -1;            // of the papers; see kagent/score.h
  double speedup_over_eager = 0;      // 0: not measured
  double speedup_over_compiled = 0;
  base::Interval over_eager;          // about 95 %, of speedup_over_eager; zeros: not measured
  base::Interval over_compiled;
  double candidate_us = 0;            // medians; 0: not measured
  double eager_us = 0;
  double compiled_us = 0;
  std::string candidate;              // hash of the judged one, the best of an optimize job; may be empty
  std::vector<std::string> labels;
  std::optional<scoring::PaperScore> paper;   // what the papers' rules say; empty: nothing was judged
  bool success = false;
  std::string message;       // one line: the fault or why it could not run; may be empty
  std::string at;            // "model_new.py:14" where the fault has a place
  wire::Json facts;          // settings, device, versions, numerics, usage, turns: as the process said
};

/// What the process printed and how it ended; never fails: what cannot be read is outcome "crash".
JobEnd read_end(int exit_code, double seconds, const std::string& output, const std::string& last_words);

/// What an optimize job's last object leaves out: settings, device, versions, numerics from run.json of
/// its run folder, and samples from best/evaluation.json. What cannot be read stays as it is.
void add_run_folder(JobEnd& end, const std::filesystem::path& run_folder);

/// One line of results.jsonl; read back by parse_result().
wire::Json to_json(const Job& job, const JobEnd& end);

struct JobResult {
  std::string id;
  std::string task;
  std::string level;
  std::string task_hash;
  int sample = 1;
  JobEnd end;
};

Result<JobResult> parse_result(const wire::Json& json);

}  // namespace kagent::batch
