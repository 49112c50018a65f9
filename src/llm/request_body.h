// SPDX-License-Identifier: Apache-2.0
// A conversation in the providers' wire formats. Replies go back as the raw JSON that they came as;
// one that another provider gave is written anew from its text and calls. Pure.
#pragma once

#include <kagent/chat.h>
#include <kagent/result.h>

#include "llm/endpoint.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kagent::llm {

/// What is not set is not sent: some models refuse what they do not know.
struct Sampling {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::string effort;                            // of reasoning: low, medium, high, …
  std::optional<std::int64_t> max_reply_tokens;  // Anthropic's format needs one: 16384
  std::string extra;                             // JSON object: further members of the request; see check_extra
};

/// An Error of kind usage where it is no JSON object, or has a member that is ours to set.
Result<void> check_extra(const std::string& extra);

std::string anthropic_body(const ChatRequest& request, const std::string& model,
                           const Sampling& sampling);

std::string openai_body(const ChatRequest& request, const std::string& model,
                        const Sampling& sampling, const Endpoint& endpoint);

}  // namespace kagent::llm
