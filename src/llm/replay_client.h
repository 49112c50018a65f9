// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/chat.h>

#include "llm/conversation.h"

#include <functional>
#include <string>
#include <vector>

namespace kagent::llm {

/// One line: where reality differs from the recording.
using OnDifference = std::function<void(const std::string& difference)>;

/// Answers from a recording, whatever is asked; tools run for real. What their calls come to is
/// compared with what the recording says.
class ReplayClient : public ChatClient {
 public:
  /// name: "replay/FILE" as the user wrote it.
  ReplayClient(std::string name, Conversation conversation, OnDifference on_difference)
      : name_(std::move(name)),
        conversation_(std::move(conversation)),
        on_difference_(std::move(on_difference)) {}

  std::string name() const override { return name_; }

  /// Past the last reply: one that ends with replay_ended.
  Result<Reply> complete(const ChatRequest& request) override;

  /// Compares the results of the last reply, once; complete() does it too. For the end of a run.
  void compare(const std::vector<ToolResult>& results);

  int differences() const { return differences_; }
  std::size_t replies() const { return conversation_.size(); }
  std::size_t used() const { return next_; }

 private:
  std::string name_;
  Conversation conversation_;
  OnDifference on_difference_;
  std::size_t next_ = 0;      // replies given so far
  std::size_t compared_ = 0;  // replies whose results were compared
  int differences_ = 0;
};

}  // namespace kagent::llm
