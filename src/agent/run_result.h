// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "agent/loop.h"
#include "store/result_file.h"

#include <string>

namespace kagent::agent {

/// The run's outcome in one stable word (docs/run-folder.md). What could not be done comes first,
/// then success, then a spent budget, noise, and a target that was not met.
std::string outcome_word(const LoopEnd& end, const std::optional<store::BestResult>& best);

/// Whether another try, or a larger budget, may do away with the reason for which a run ended.
bool may_go_on(StopReason reason);

/// For a run that ended before its first turn.
std::string outcome_word(const Error& error);

}  // namespace kagent::agent
