// SPDX-License-Identifier: Apache-2.0
// JSON forms of what a model said and was told: parts of the lines of trajectory.jsonl
// (docs/run-folder.md) and of recorded conversations (docs/replay-format.md).
#pragma once

#include <kagent/chat.h>
#include <kagent/trajectory.h>

#include "wire/json.h"

namespace kagent::wire {

inline constexpr const char* kTrajectorySchema = "kagent.trajectory/1";

Json to_json(const ToolCall& call);
Json to_json(const ToolResult& result);
Json to_json(const Usage& usage);
Json to_json(const ToolSpec& spec);
Json to_json(const Reply& reply);

/// Errors are of kind usage and name the field; texts are capped at 16 MiB in all.
Result<ToolResult> parse_tool_result(const Json& json);
Result<ToolSpec> parse_tool_spec(const Json& json);
Result<Reply> parse_reply(const Json& json);

}  // namespace kagent::wire
