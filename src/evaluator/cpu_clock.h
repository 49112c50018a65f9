// SPDX-License-Identifier: Apache-2.0
// Wall time of calls that another process makes, taken here: nothing that the other side says or
// does to its own clocks can change it (pitfall 22; docs/protocol.md, "Timing on the CPU").
#pragma once

#include <chrono>
#include <functional>
#include <variant>
#include <vector>

#include <kagent/evaluation.h>
#include <kagent/result.h>

#include "evaluator/worker.h"

#include <nlohmann/json.hpp>

namespace kagent::evaluator {

/// Sends `request` (a `loop` request without calls) over the channel and times `calls` calls.
/// Samples have only span_us. Outcomes other than samples are as converse() has them.
std::variant<std::vector<Sample>, Fault, Error, Breakdown> time_calls(
    wire::Channel& channel, const std::string& who, nlohmann::json request, int calls,
    std::chrono::milliseconds timeout);

}  // namespace kagent::evaluator
