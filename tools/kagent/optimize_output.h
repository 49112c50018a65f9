// SPDX-License-Identifier: Apache-2.0
// The last lines of kagent optimize: how it ended, what the best one is worth, and what to do next.
#pragma once

#include <kagent/settings.h>

#include "store/result_file.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kagent::cli {

struct NextSteps {
  std::string task;  // as the user wrote it
  std::string model;
  std::filesystem::path python;  // folder of the module that a candidate imports
  JudgeSettings settings;
  std::vector<std::string> judge_arguments;  // "--backend", "cpu", …
  std::string base_url;                      // of the model; mostly empty
  std::string replay;                        // how reality and recording went together; else empty
};

/// For people; several lines.
std::string closing_lines(const store::RunResult& result, const NextSteps& next);

}  // namespace kagent::cli
