// SPDX-License-Identifier: Apache-2.0
// One compiler program, run to its end in a folder of ours.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <kagent/result.h>

#include "builder/request.h"

namespace kagent::builder {

struct ToolRun {
  bool ok = false;
  bool late = false;   // killed at the deadline
  std::string output;
};

/// Nothing of our environment is passed on but PATH. An Error where the program is missing.
Result<ToolRun> run_tool(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                         std::chrono::steady_clock::time_point deadline);

/// Writes every source below `folder`; names were checked by scan_sources.
Result<void> write_sources(const Sources& sources, const std::filesystem::path& folder);

/// First line of what `program arguments...` prints, e.g. a version; empty where it does not run.
std::string first_line_of(const std::vector<std::string>& arguments);

}  // namespace kagent::builder
