// SPDX-License-Identifier: Apache-2.0
// Results for CI systems: JUnit XML and GitHub's workflow commands. Everything foreign is escaped.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "batch/job.h"

namespace kagent::batch {

/// The kinds of a job's end that --fail-on can name.
enum class EndKind { good, wrong, slower, inconclusive, invalid, crash, cheat, environment, network, budget };

EndKind kind_of(const JobEnd& end);
const char* word(EndKind kind);

/// "invalid,crash": the kinds named; an Error of kind usage for a word that is none.
Result<std::set<EndKind>> parse_fail_on(const std::string& words);

/// A testsuite for each level, a testcase for each job; a failure where its kind is in fail_on.
std::string junit_xml(const std::vector<JobResult>& results, const std::set<EndKind>& fail_on);

/// "::error file=…,line=…,title=…::…" for each job whose kind is in fail_on. The file is named where the fault
/// has a place in a candidate (facts.candidate) below workspace, the repository's folder; GitHub shows it there.
std::string github_annotations(const std::vector<JobResult>& results, const std::set<EndKind>& fail_on,
                               const std::filesystem::path& workspace);

}  // namespace kagent::batch
