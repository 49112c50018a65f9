// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llm/ordered_json.h"
#include "llm/reply_stream.h"

#include <string>
#include <vector>

namespace kagent::llm {

/// The stream of Anthropic Messages. Blocks are kept whole and in order: thinking blocks with their
/// signatures, redacted ones, and types that are not known here.
class AnthropicStream : public ReplyStream {
 public:
  Heard take(const ServerEvent& event) override;
  Heard take_whole(const std::string& body) override;
  bool ended() const override { return ended_; }
  bool complete() const override { return ended_; }
  Reply reply() const override;

 private:
  struct Block {
    OrderedJson json;
    std::string input;  // partial_json, concatenated
    bool stopped = false;
  };

  Heard take_delta(const OrderedJson& event);
  Heard start_block(const OrderedJson& event);
  void take_usage(const OrderedJson& usage);
  Block* block_at(const OrderedJson& event);

  std::vector<Block> blocks_;
  std::string model_;
  std::string stop_reason_;
  std::string refusal_;
  Usage usage_;
  std::int64_t plain_input_ = 0;
  bool ended_ = false;
  bool too_much_ = false;
};

}  // namespace kagent::llm
