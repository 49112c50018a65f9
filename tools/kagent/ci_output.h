// SPDX-License-Identifier: Apache-2.0
// Where CI systems look: a JUnit file, GitHub's annotations and the step's summary.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <kagent/result.h>

#include "batch/ci_report.h"

namespace kagent::cli {

/// Writes JUnit XML to junit (empty: none), appends summary (Markdown) to $GITHUB_STEP_SUMMARY where that is
/// set, and on GitHub prints an ::error line for each result whose kind is in fail_on. Errors: a file that
/// cannot be written.
Result<void> publish_to_ci(const std::vector<batch::JobResult>& results, const std::set<batch::EndKind>& fail_on,
                           const std::string& junit, const std::string& summary);

}  // namespace kagent::cli
