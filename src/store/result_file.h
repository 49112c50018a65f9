// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/evaluation.h>
#include <kagent/trajectory.h>

#include "store/run_folder.h"

#include <optional>
#include <string>
#include <vector>

namespace kagent::store {

inline constexpr const char* kResultSchema = "kagent.result/1";

struct BestResult {
  int number = 0;  // which candidate, from 1
  Evaluation evaluation;
};

/// How a run ended: what result.json holds and --json prints.
struct RunResult {
  std::string outcome;  // stable word; docs/run-folder.md lists them
  StopReason stop = StopReason::finished;
  std::string explanation;  // one line
  std::string task;
  std::string model;
  std::string backend;
  std::string folder;  // absolute path of the run folder
  int turns = 0;
  int candidates = 0;  // evaluated, different ones
  Usage usage;
  double seconds = 0;
  std::optional<BestResult> best;
  std::vector<std::string> warnings;  // what the figures do not say
};

/// Samples are left out: they stand in evaluation.json of the candidate.
wire::Json to_json(const RunResult& result);

/// Written whole or not at all.
Result<void> write_result(const RunFolder& folder, const RunResult& result);

}  // namespace kagent::store
