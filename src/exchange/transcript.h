// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exchange/turn_facts.h"

#include <string>

namespace kagent::exchange {

/// The run as people read it, in Markdown: what the model said, did and was told, turn by turn.
/// Long texts are cut in the middle; trajectory.jsonl has them in full. Fit for a terminal.
std::string transcript(const store::Trajectory& trajectory, const RunFacts& facts);

}  // namespace kagent::exchange
