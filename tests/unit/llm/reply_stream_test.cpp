// SPDX-License-Identifier: Apache-2.0
// Both wire formats, as whole streams: in two pieces cut anywhere they give the same reply; ended
// anywhere before their end frame they never count as whole.
#include "llm/anthropic_stream.h"
#include "llm/openai_stream.h"

#include <gtest/gtest.h>

#include <memory>

namespace kagent::llm {
namespace {

constexpr const char* kAnthropic =
    R"(event: message_start
data: {"type":"message_start","message":{"id":"m","role":"assistant","model":"claude-x","content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":2,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Größer "}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"\ud83d\ude80"}}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t1","name":"bash","input":{},"caller":{"type":"direct"}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"z\": 1, \"comm"}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"and\": \"ls\"}"}}

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"t2","name":"evaluate","input":{}}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":77}}

event: message_stop
data: {"type":"message_stop"}

)";

constexpr const char* kOpenAi =
    R"(: OPENROUTER PROCESSING

data: {"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"choices":[{"delta":{"reasoning":"hm"}}]}

data: {"choices":[{"delta":{"content":"Größer "}}]}

data: {"choices":[{"delta":{"content":"\ud83d\ude80"}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"bash","arguments":"{\"z\": 1, \"comm"},"extra_content":{"google":{"thought_signature":"s"}}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"and\": \"ls\"}"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"t2","type":"function","function":{"name":"evaluate","arguments":""}}]}}]}

data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":17,"completion_tokens":77,"prompt_tokens_details":{"cached_tokens":5}}}

data: [DONE]

)";

struct Format {
  const char* text;
  std::function<std::unique_ptr<ReplyStream>()> make;
};

class BothFormats : public ::testing::TestWithParam<Format> {
 protected:
  std::string text = GetParam().text;

  /// Fed in the given pieces; whether the stream then ended is in `ended`.
  Reply hear(const std::vector<std::string>& pieces) {
    const auto stream = GetParam().make();
    EventStream events;
    const auto take = [&](const ServerEvent& event) { stream->take(event); };
    for (const std::string& piece : pieces) events.feed(piece, take);
    events.finish(take);
    ended = stream->ended();
    return stream->reply();
  }

  bool ended = false;
};

TEST_P(BothFormats, GiveTheSameReplyWhereverTheyAreCut) {
  const Reply whole = hear({text});
  ASSERT_TRUE(ended);
  EXPECT_EQ(whole.text, "Größer 🚀");
  ASSERT_EQ(whole.calls.size(), 2u);
  EXPECT_EQ(whole.calls[0], (ToolCall{"t1", "bash", R"({"z": 1, "command": "ls"})"}));
  EXPECT_EQ(whole.calls[1], (ToolCall{"t2", "evaluate", "{}"}));
  EXPECT_EQ(whole.end, ReplyEnd::tool_calls);
  EXPECT_EQ(whole.usage.input_tokens, 17);
  EXPECT_EQ(whole.usage.cached_tokens, 5);
  EXPECT_EQ(whole.usage.output_tokens, 77);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    ASSERT_EQ(hear({text.substr(0, cut), text.substr(cut)}), whole) << "cut at " << cut;
  }
}

TEST_P(BothFormats, AreNotWholeWithoutTheirEndFrame) {
  const std::string end = text.find("[DONE]") != std::string::npos
                              ? "\"finish_reason\":\"tool_calls\"}]}"
                              : R"({"type":"message_stop"})";
  const std::size_t last = text.find(end) + end.size();
  for (std::size_t cut = 0; cut < last; ++cut) {
    (void)hear({text.substr(0, cut)});
    ASSERT_FALSE(ended) << "ended at " << cut;
  }
  (void)hear({text.substr(0, last)});
  EXPECT_TRUE(ended);
}

INSTANTIATE_TEST_SUITE_P(
    Streams, BothFormats,
    ::testing::Values(Format{kAnthropic, [] { return std::make_unique<AnthropicStream>(); }},
                      Format{kOpenAi, [] { return std::make_unique<OpenAiStream>(1); }}),
    [](const auto& format) { return format.index == 0 ? "Anthropic" : "OpenAi"; });

TEST(AnthropicStream, KeepsBlocksWholeAndInOrder) {
  AnthropicStream stream;
  EventStream events;
  events.feed(kAnthropic, [&](const ServerEvent& event) { stream.take(event); });
  EXPECT_EQ(
      stream.reply().raw,
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln"},)"
      R"({"type":"redacted_thinking","data":"xyz"},{"type":"text","text":"Größer 🚀"},)"
      R"({"type":"tool_use","id":"t1","name":"bash","input":{"z":1,"command":"ls"},"caller":{"type":"direct"}},)"
      R"({"type":"tool_use","id":"t2","name":"evaluate","input":{}}]})");
}

TEST(OpenAiStream, KeepsReasoningAndUnknownMembers) {
  OpenAiStream stream(1);
  EventStream events;
  events.feed(kOpenAi, [&](const ServerEvent& event) { stream.take(event); });
  EXPECT_EQ(
      stream.reply().raw,
      R"({"role":"assistant","content":"Größer 🚀","reasoning":"hm","tool_calls":[{"id":"t1",)"
      R"("type":"function","function":{"name":"bash","arguments":"{\"z\": 1, \"command\": \"ls\"}"},)"
      R"("extra_content":{"google":{"thought_signature":"s"}}},{"id":"t2","type":"function",)"
      R"("function":{"name":"evaluate","arguments":"{}"}}]})");
}

}  // namespace
}  // namespace kagent::llm
