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

/// A trajectory, folded from its lines.
struct Trajectory {
  RunStart start;
  std::vector<Turn> turns;                     // whole ones, numbered from 1 without gaps
  std::vector<CandidateRecord> candidates;     // in the order in which they were judged
  std::optional<Reply> unfinished;             // of a turn whose calls a kill cut off
  std::vector<ToolResult> unfinished_results;  // of its calls that were through
  ContextEdit context;                         // the last one
  std::optional<RunEnd> end;                   // absent where the run was killed or goes on
  bool torn = false;                           // the last line was not whole, and was left out
};

/// An Error names the line. A last line without newline is what a kill leaves; anything else that
/// does not parse is damage.
Result<Trajectory> read_trajectory(const std::filesystem::path& path);

}  // namespace kagent::store
