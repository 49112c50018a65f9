// SPDX-License-Identifier: Apache-2.0
// The operator policy: what a plan may do besides launching its own kernels (design §4). It judges
// the parsed plan, never what the recorder claims.
#pragma once

#include <kagent/evaluation.h>
#include <kagent/plan.h>
#include <kagent/settings.h>

#include "policy/allowed_operators.h"

#include <optional>
#include <string>
#include <vector>

namespace kagent::policy {

/// The first operator that is not allowed (forbidden_op), or no_custom_kernel where forward
/// launches none of the candidate's kernels and --allow-ops is not "any".
std::optional<Fault> check_operators(const Plan& plan, const JudgeSettings& settings);

/// What should stand beside a verdict: "torch_only" (forward launches nothing), "allowed:aten::…"
/// for each operator that only --allow-ops let in, "trust:native" on the CPU backend.
std::vector<std::string> labels(const Plan& plan, const JudgeSettings& settings);

}  // namespace kagent::policy
