// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exchange/turn_facts.h"

#include <vector>

namespace kagent::exchange {

/// One object for each segment, `{messages, tools, kagent}` in OpenAI's form, as trainers read it
/// (docs/trajectories.md): the exact prompt, every reply and every result. Replies that an earlier
/// segment holds too have `weight` 0.
std::vector<wire::Json> chat_messages(const store::Trajectory& trajectory, const RunFacts& facts);

}  // namespace kagent::exchange
