// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/chat.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace kagent::fakes {

inline ToolCall call(const std::string& tool, const std::string& arguments = "{}") {
  return {"", tool, arguments};
}

inline Reply reply(std::vector<ToolCall> calls, const std::string& text = "") {
  Reply reply;
  reply.raw = "{\"raw\":true}";
  reply.text = text;
  reply.end = calls.empty() ? ReplyEnd::finished : ReplyEnd::tool_calls;
  reply.calls = std::move(calls);
  reply.usage = {100, 50, 10};
  reply.model = "scripted";
  return reply;
}

/// Says what the test wrote, then replay_ended; remembers what it was asked.
class ScriptedChat : public ChatClient {
 public:
  explicit ScriptedChat(std::vector<Reply> replies) : replies_(replies.begin(), replies.end()) {}

  std::string name() const override { return "scripted/test"; }

  Result<Reply> complete(const ChatRequest& request) override {
    requests.push_back(request);
    if (error) return *error;
    if (replies_.empty()) {
      Reply ended;
      ended.end = ReplyEnd::replay_ended;
      return ended;
    }
    Reply next = replies_.front();
    if (!forever) replies_.pop_front();
    return next;
  }

  std::vector<ChatRequest> requests;
  std::optional<Error> error;
  bool forever = false;  // the first reply again and again

 private:
  std::deque<Reply> replies_;
};

}  // namespace kagent::fakes
