// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/trajectory.h>

#include "store/journal_file.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kagent::store {

struct RunEnd {
  StopReason reason = StopReason::finished;
  std::string explanation;
  bool operator==(const RunEnd&) const = default;
};

/// Where a run was taken up again, and with what.
struct Resumption {
  int turn = 0;  // the first that was played from then on, or goes on
  std::string model;
  wire::Json settings;
  bool operator==(const Resumption&) const = default;
};

/// A trajectory, folded from its lines.
struct Trajectory {
  RunStart start;
  std::vector<Turn> turns;                   // whole ones, numbered from 1 without gaps
  std::vector<CandidateRecord> candidates;   // in the order in which they were judged
  std::vector<std::size_t> candidate_calls;  // of each: which call of its turn asked for it, from 0
  std::optional<Reply> unfinished;           // of a turn whose calls a kill cut off
  std::vector<ToolResult> unfinished_results;  // of its calls that were through
  ContextEdit context;                         // the last one
  std::vector<ContextEdit> contexts;           // all of them; of several for one turn, the last
  std::vector<Resumption> resumptions;
  std::optional<RunEnd> end;  // absent where the run was killed or goes on
  bool torn = false;          // the last line was not whole, and was left out
};

/// An Error names the line. A last line without newline is what a kill leaves; anything else that
/// does not parse is damage.
Result<Trajectory> read_trajectory(const std::filesystem::path& path);

}  // namespace kagent::store
