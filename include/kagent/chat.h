// SPDX-License-Identifier: Apache-2.0
// The model behind an interface. Replies are kept as the provider's raw JSON and sent back
// unchanged; the typed view beside it is derived.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <kagent/result.h>

namespace kagent {

struct ToolCall {
  std::string id;
  std::string tool;
  std::string arguments;   // JSON text as the model wrote it; may be invalid
  bool operator==(const ToolCall&) const = default;
};

struct ToolResult {
  std::string call_id;
  std::string text;        // what the model is shown
  bool is_error = false;
  bool operator==(const ToolResult&) const = default;
};

/// Tokens as the provider counted them; input includes what was read from its cache.
struct Usage {
  std::int64_t input_tokens = 0;
  std::int64_t cached_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cache_written_tokens = 0;   // part of input_tokens too
  double cost_usd = 0;                     // by the price table; 0 where it knows no price
  bool operator==(const Usage&) const = default;
};

/// replay_ended: a recorded conversation has no further reply; nothing was said.
/// context_exceeded: the request does not fit the model's context; nothing was said.
enum class ReplyEnd { finished, tool_calls, length, refusal, replay_ended, context_exceeded };

struct Reply {
  std::string raw;                     // JSON text of the assistant message, byte for byte
  std::string text;                    // prose part
  std::vector<ToolCall> calls;
  ReplyEnd end = ReplyEnd::finished;
  Usage usage;
  std::string model;                   // as the server named it
  std::string tokens;                  // JSON: token ids and log-probabilities, where the server told; mostly empty
  bool operator==(const Reply&) const = default;
};

struct UserMessage { std::string text; bool operator==(const UserMessage&) const = default; };
struct ToolMessage { std::vector<ToolResult> results; bool operator==(const ToolMessage&) const = default; };
using Message = std::variant<UserMessage, Reply, ToolMessage>;

struct ToolSpec {
  std::string name;
  std::string description;
  std::string schema;                  // JSON schema of the arguments, as text
  bool operator==(const ToolSpec&) const = default;
};

struct ChatRequest {
  std::string system;
  std::vector<Message> messages;
  std::vector<ToolSpec> tools;
  int turn = 1;                        // number of the reply that is asked for
};

class ChatClient {
 public:
  virtual ~ChatClient() = default;
  /// "replay/FILE", "anthropic/claude-…": goes into records and the first line of a run.
  virtual std::string name() const = 0;
  /// One reply. An Error of kind network means: the model could not be asked.
  virtual Result<Reply> complete(const ChatRequest& request) = 0;
};

}  // namespace kagent
