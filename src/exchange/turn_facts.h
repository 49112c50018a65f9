// SPDX-License-Identifier: Apache-2.0
// What several forms of export say alike.
#pragma once

#include <kagent/chat.h>

#include "store/read_trajectory.h"
#include "store/run_folder.h"
#include "wire/json.h"

#include <string>

namespace kagent::exchange {

/// What a run is besides its turns; from run.json and result.json where they are there.
struct RunFacts {
  std::string name;     // of the run folder
  std::string version;  // of the kagent that made it
  wire::Json run;       // run.json
  wire::Json result;    // result.json, or null: the run was killed or still goes on
};

/// What of it is there; a run.json that cannot be read is an Error.
Result<RunFacts> read_facts(const store::RunFolder& folder);

/// The model's visible reasoning, put together from the provider's raw message; "" where there is
/// none.
std::string reasoning_of(const Reply& reply);

/// `{prompt_token_ids, completion_token_ids, logprobs}` as far as the server told them; null
/// otherwise. logprobs: one number for each token.
wire::Json tokens_of(const Reply& reply);

/// `[{type: "function", function: {name, description, parameters}}]`.
wire::Json tool_definitions(const std::vector<ToolSpec>& tools);

/// The arguments as an object; null where they are not one.
wire::Json arguments_object(const ToolCall& call);

}  // namespace kagent::exchange
