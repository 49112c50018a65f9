// SPDX-License-Identifier: Apache-2.0
#include "llm/request_body.h"

#include "llm/anthropic_stream.h"
#include "llm/openai_stream.h"
#include "llm/trouble.h"

#include <gtest/gtest.h>

namespace kagent::llm {
namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

ChatRequest history(Reply reply) {
  ChatRequest request;
  request.system = "s";
  request.messages.emplace_back(UserMessage{"begin"});
  ToolMessage results;
  for (const ToolCall& call : reply.calls) results.results.push_back({call.id, "out", true});
  request.messages.emplace_back(std::move(reply));
  request.messages.emplace_back(std::move(results));
  request.messages.emplace_back(UserMessage{"go on"});
  return request;
}

TEST(RequestBody, FurtherMembers) {
  Sampling sampling;
  sampling.extra = R"({"logprobs": true, "chat_template_kwargs": {"enable_thinking": false}})";
  const auto json = *wire::parse_text(openai_body(history({}), "m", sampling, {}), "body");
  EXPECT_EQ(json["logprobs"], true);
  EXPECT_EQ(json["chat_template_kwargs"]["enable_thinking"], false);
  EXPECT_EQ((*wire::parse_text(anthropic_body(history({}), "m", sampling), "body"))["logprobs"], true);
  EXPECT_TRUE(check_extra(""));
  EXPECT_TRUE(check_extra(sampling.extra));
  for (const char* text : {"1", "[]", "{", R"({"messages": []})", R"({"stream": false})", R"({"model": "x"})", R"({"a": 1, "tools": 2})"}) {
    EXPECT_FALSE(check_extra(text)) << text;
  }
}

TEST(RequestBody, SendsRawRepliesByteForByte) {
  Reply reply;
  reply.raw =
      R"({"role":"assistant", "content":[{"type":"thinking","thinking":"","signature":"x"},)"
      R"({"type":"tool_use","id":"t1","name":"bash","input":{"z":1,"a":2}}]})";
  reply.calls = {{"t1", "bash", R"({"z":1,"a":2})"}};
  const std::string body = anthropic_body(history(reply), "m", {});
  EXPECT_TRUE(holds(body, reply.raw));
  const auto json = *wire::parse_text(body, "body");
  EXPECT_EQ(json["messages"].size(), 3u) << "results and the nudge are one user turn";
  EXPECT_EQ(json["messages"][2]["content"][0]["type"], "tool_result");
  EXPECT_TRUE(json["messages"][2]["content"][1].contains("cache_control"));
  EXPECT_EQ(json["max_tokens"], 16384);
  EXPECT_FALSE(json.contains("temperature"));
}

TEST(RequestBody, WritesAnotherProvidersReplyAnew) {
  Reply reply;
  reply.raw =
      R"({"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"bash","input":{}}]})";
  reply.text = "hm";
  reply.calls = {{"t1", "bash", R"({"command": "ls"})"}};
  const auto json = *wire::parse_text(openai_body(history(reply), "m", {}, {}), "body");
  EXPECT_EQ(json["messages"][2]["content"], "hm");
  EXPECT_EQ(json["messages"][2]["tool_calls"][0]["id"], "t1");
  EXPECT_EQ(json["messages"][3]["tool_call_id"], "t1");
}

TEST(RequestBody, NeverSendsBrokenArguments) {
  OpenAiStream stream(3);
  stream.take(
      {"",
       R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"bash","arguments":"{\"co"}}]},)"
       R"("finish_reason":"length"}]})"});
  const Reply reply = stream.reply();
  EXPECT_EQ(reply.calls[0].id, "call_3_1");
  EXPECT_EQ(reply.calls[0].arguments, "{\"co");
  EXPECT_EQ(reply.end, ReplyEnd::length);
  const auto json = *wire::parse_text(openai_body(history(reply), "m", {}, {}), "body");
  EXPECT_EQ(json["messages"][2]["tool_calls"][0]["function"]["arguments"],
            R"({"_invalid":"{\"co"})");
}

TEST(RequestBody, SendsReasoningWhereAServerInsists) {
  Endpoint endpoint;
  endpoint.always_send_reasoning = "reasoning_content";
  Reply reply;
  reply.raw = R"({"role":"assistant","content":"hm"})";
  const auto json = *wire::parse_text(openai_body(history(reply), "m", {}, endpoint), "body");
  EXPECT_EQ(json["messages"][2]["reasoning_content"], "");
}

TEST(AnthropicStream, SurvivesWhatIsHostile) {
  for (const char* data :
       {"", "[]", "7", "{}",
        R"({"type":"content_block_delta","index":5,"delta":{"type":"text_delta"}})",
        R"({"type":"content_block_start"})", R"({"type":"message_start","message":7})",
        R"({"type":"message_delta","usage":{"output_tokens":-5}})"}) {
    AnthropicStream anthropic;
    anthropic.take({"", data});
    EXPECT_FALSE(anthropic.ended());
    EXPECT_EQ(anthropic.reply().usage.output_tokens, 0);
    OpenAiStream openai(1);
    openai.take({"", data});
    EXPECT_FALSE(openai.ended());
  }
}

TEST(Trouble, IsToldFromStatusAndText) {
  const auto kind = [](int status, const std::string& body) {
    return trouble_of_status(status, {}, body).kind;
  };
  EXPECT_EQ(kind(429, R"({"error":{"code":"insufficient_quota"}})"), TroubleKind::quota);
  EXPECT_EQ(kind(400, R"([{"error":{"message":"input token count (9) exceeds the maximum"}}])"),
            TroubleKind::context_exceeded);
  EXPECT_EQ(kind(400, "bad"), TroubleKind::bad_request);
  EXPECT_EQ(kind(529, ""), TroubleKind::overloaded);
  EXPECT_TRUE(trouble_of_status(529, {}, "").retry);
  EXPECT_FALSE(trouble_of_status(500, {{"x-should-retry", "false"}}, "").retry);
  EXPECT_EQ(retry_after({{"retry-after", "1.5"}}), std::chrono::milliseconds(1500));
  EXPECT_EQ(retry_after({{"retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"}}), std::nullopt);
  EXPECT_EQ(retry_after({{"retry-after", "-3"}}), std::nullopt);
}

TEST(FindEndpoint, TakesKeysFromTheEnvironmentAndRefusesOpenHttp) {
  Provider provider;
  provider.name = "p";
  provider.path = "/chat";
  provider.key_variables = {"P_KEY"};
  provider.endpoint.url = "https://p.example/v1/";
  const auto with = [&](const std::string& key, const std::string& url) {
    return find_endpoint({provider}, {"p", "m"}, url, [&](const std::string&) { return key; });
  };
  EXPECT_EQ(with("abcd\n", "")->url, "https://p.example/v1/chat");
  EXPECT_EQ(with("abcd\n", "")->key.reveal(), "abcd");
  EXPECT_TRUE(with("abcd", "http://127.0.0.1:8000"));
  EXPECT_FALSE(with("abcd", "http://127.0.0.1@evil.example"));
  EXPECT_FALSE(with("abcd", "http://evil.example"));
  EXPECT_FALSE(with("ab\r\nx: y", ""));
  EXPECT_FALSE(with("", ""));
  EXPECT_EQ(Secret("abcd").redact("x abcd y abcd"), "x [key] y [key]");
}

}  // namespace
}  // namespace kagent::llm
