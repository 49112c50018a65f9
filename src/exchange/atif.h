// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exchange/turn_facts.h"

#include <vector>

namespace kagent::exchange {

/// One ATIF-v1.8 document for each segment (docs/trajectories.md), in order; each but the last
/// names the next by `continued_trajectory_ref`, as file_names says. file_names has one for each
/// segment.
std::vector<wire::Json> atif_documents(const store::Trajectory& trajectory, const RunFacts& facts,
                                       const std::vector<std::string>& file_names);

}  // namespace kagent::exchange
