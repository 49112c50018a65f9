// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llm/ordered_json.h"
#include "llm/reply_stream.h"

#include <string>
#include <vector>

namespace kagent::llm {

/// The stream of OpenAI Chat Completions as many servers speak it. Reasoning is kept under the name
/// that it came by, and unknown members of tool calls are kept too: some servers want them back.
class OpenAiStream : public ReplyStream {
 public:
  /// turn: number of the reply in its conversation, for calls that come without an id.
  explicit OpenAiStream(int turn) : turn_(turn) {}

  Heard take(const ServerEvent& event) override;
  Heard take_whole(const std::string& body) override;
  bool ended() const override { return done_ || !finish_reason_.empty(); }
  bool complete() const override { return done_; }
  Reply reply() const override;

 private:
  struct Call {
    std::int64_t index = -1;  // as the server counts; -1 where it does not
    std::string id;
    std::string name;
    std::string arguments;
    OrderedJson others = OrderedJson::object();  // unknown members
  };

  Heard take_chunk(const OrderedJson& chunk);
  std::size_t take_message(const OrderedJson& delta);
  std::size_t take_call(const OrderedJson& delta, std::size_t position);
  Call& call_for(const OrderedJson& delta, std::size_t position);
  void take_usage(const OrderedJson& usage);
  void take_tokens(const OrderedJson& chunk, const OrderedJson& choice);

  int turn_;
  std::string text_;
  std::string refusal_;
  std::string reasoning_;          // under the name "reasoning"
  std::string reasoning_content_;  // under the name "reasoning_content"
  bool has_reasoning_ = false;
  bool has_reasoning_content_ = false;
  OrderedJson reasoning_details_ = OrderedJson::array();
  std::vector<Call> calls_;
  std::string model_;
  std::string finish_reason_;
  Usage usage_;
  OrderedJson tokens_ = OrderedJson::object();
  std::size_t token_bytes_ = 0;
  bool done_ = false;
  bool too_much_ = false;
};

}  // namespace kagent::llm
