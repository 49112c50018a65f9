// SPDX-License-Identifier: Apache-2.0
#include "ci_output.h"

#include "sys/environment.h"
#include "sys/files.h"

#include <fmt/format.h>

namespace kagent::cli {

Result<void> publish_to_ci(const std::vector<batch::JobResult>& results, const std::set<batch::EndKind>& fail_on,
                           const std::string& junit, const std::string& summary) {
  if (!junit.empty()) KAGENT_TRY_VOID(sys::write_file_atomically(junit, batch::junit_xml(results, fail_on)));
  if (const std::string file = sys::variable("GITHUB_STEP_SUMMARY"); !file.empty()) {
    // GitHub makes a file for each step; other programs of the step may have written to it.
    auto before = sys::read_file(file, 4u << 20);
    KAGENT_TRY_VOID(sys::write_file_atomically(file, (before ? *before : "") + summary));
  }
  if (!sys::variable("GITHUB_ACTIONS").empty()) {
    fmt::print(stderr, "{}", batch::github_annotations(results, fail_on, sys::variable("GITHUB_WORKSPACE")));
  }
  return {};
}

}  // namespace kagent::cli
