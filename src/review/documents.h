// SPDX-License-Identifier: Apache-2.0
// What kagent report says about a batch, a run, or two of either.
#pragma once

#include "report/document.h"
#include "review/load.h"

namespace kagent::review {

report::Document batch_document(const BatchRecord& batch);

report::Document run_document(const RunRecord& run);

/// What changed from one set of results to another, task by task. Tasks that only one has are named.
/// The ratio of a task is speed-up over eager in B / in A; its interval takes the worst ends of both.
report::Document comparison_document(const std::string& name_a, const std::vector<batch::JobResult>& a,
                                     const std::string& name_b, const std::vector<batch::JobResult>& b);

}  // namespace kagent::review
