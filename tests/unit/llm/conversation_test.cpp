// SPDX-License-Identifier: Apache-2.0
#include "llm/conversation.h"

#include "fakes/test_folder.h"
#include "llm/model_name.h"

#include <gtest/gtest.h>

namespace kagent::llm {
namespace {

const std::string kHeader = "{\"schema\": \"kagent.conversation/1\"}\n";

class ReadConversation : public ::testing::Test {
 protected:
  Result<Conversation> read(const std::string& text) {
    test.write("talk.jsonl", text);
    return read_conversation(test / "talk.jsonl");
  }
  fakes::TestFolder test;
};

TEST_F(ReadConversation, TakesAHandWrittenFile) {
  const std::string line =
      R"({"text": "Hello.", "calls": [{"tool": "write_file", "arguments": {"path": "a"}, "expect": "ok"}, {"tool": "evaluate", "expect": "mismatch"}, {"tool": "x", "arguments": "not json"}]})";
  const auto conversation = read(kHeader + "\n" + line + "\n{\"text\": \"Done.\"}");
  ASSERT_TRUE(conversation) << conversation.error().message;
  ASSERT_EQ(conversation->size(), 2u);
  const RecordedTurn& first = conversation->front();
  EXPECT_EQ(first.reply.raw, line) << "byte for byte";
  EXPECT_EQ(first.reply.text, "Hello.");
  EXPECT_EQ(first.reply.end, ReplyEnd::tool_calls);
  ASSERT_EQ(first.reply.calls.size(), 3u);
  EXPECT_EQ(first.reply.calls[0], (ToolCall{"call_1_1", "write_file", R"({"path":"a"})"}));
  EXPECT_EQ(first.reply.calls[1].arguments, "{}");
  EXPECT_EQ(first.reply.calls[2].arguments, "not json");
  EXPECT_EQ(first.outcomes[0], (RecordedOutcome{false, ""}));
  EXPECT_EQ(first.outcomes[1], (RecordedOutcome{{}, "mismatch"}));
  EXPECT_EQ(first.outcomes[2], RecordedOutcome{});
  EXPECT_EQ(conversation->back().reply.end, ReplyEnd::finished);
}

const std::string kRun =
    R"({"type":"run","schema":"kagent.trajectory/1","model":"m","system":"","opening":"","tools":[],"settings":{}})"
    "\n";
const std::string kReply =
    R"({"type":"reply","turn":1,"reply":{"raw":"{}","text":"t","calls":[{"id":"a","tool":"evaluate","arguments":"{}"}],"end":"tool_calls","usage":{"input_tokens":5,"cached_tokens":0,"output_tokens":2},"model":"m-1"}})"
    "\n";
const std::string kTurn =
    R"({"type":"turn","turn":1,"results":[{"call_id":"a","text":"outcome: slower\nmore","is_error":false}],"seconds":1.5})"
    "\n";

TEST_F(ReadConversation, TakesATrajectory) {
  const auto conversation = read(kRun + kReply +
                                 R"({"type":"candidate","turn":1,"evaluation":{}})"
                                 "\n" +
                                 kTurn);
  ASSERT_TRUE(conversation) << conversation.error().message;
  ASSERT_EQ(conversation->size(), 1u);
  EXPECT_EQ(conversation->front().reply.model, "m-1");
  EXPECT_EQ(conversation->front().outcomes[0], (RecordedOutcome{false, "slower"}));
}

TEST_F(ReadConversation, TakesTheTrajectoryOfAKilledRun) {
  const auto conversation = read(kRun + kReply + kTurn + kReply.substr(0, 40));
  ASSERT_TRUE(conversation) << conversation.error().message;
  EXPECT_EQ(conversation->size(), 1u);
  EXPECT_EQ(read(kRun + kReply)->front().outcomes[0], RecordedOutcome{}) << "no results yet";
}

TEST_F(ReadConversation, NamesTheLineThatIsWrong) {
  const std::pair<std::string, std::string> bad[] = {
      {"{\"text\": \"no header\"}\n", "talk.jsonl:1"},
      {"[]\n", "talk.jsonl:1"},
      {"{\"schema\": \"kagent.conversation/2\"}\n", "kagent.conversation/1"},
      {kHeader + "{\"text\": 3}\n", "talk.jsonl:2: text"},
      {kHeader + "{\"text\": \"a\"\n", "talk.jsonl:2"},
      {kHeader + "3\n", "talk.jsonl:2"},
      {kHeader + "{\"txt\": \"a\"}\n", "unknown member \"txt\""},
      {kHeader + "{\"calls\": {}}\n", "calls: expected a list"},
      {kHeader + "{\"calls\": [3]}\n", "calls: expected objects"},
      {kHeader + "{\"calls\": [{\"arguments\": {}}]}\n", "\"tool\" is missing"},
      {kHeader + "{\"calls\": [{\"tool\": \"a\", \"args\": {}}]}\n", "unknown member \"args\""},
      {kHeader, "holds no reply"},
      {"", "holds no reply"},
      {kRun + "{\"type\":\"reply\",\"turn\":1}\n", "talk.jsonl:2: reply"},
      {kRun + "{\"type\":\"reply\",\"turn\":1,\"reply\":{\"raw\":3}}\n", "talk.jsonl:2"},
      {kRun + kReply + "{\"type\":\"turn\",\"turn\":1,\"results\":[]}\n", "talk.jsonl:3: results"},
  };
  for (const auto& [text, expected] : bad) {
    const auto conversation = read(text);
    ASSERT_FALSE(conversation) << text;
    EXPECT_EQ(conversation.error().kind, ErrorKind::usage);
    EXPECT_NE(conversation.error().message.find(expected), std::string::npos)
        << conversation.error().message;
  }
  EXPECT_FALSE(read_conversation(test / "none.jsonl"));
}

TEST(ModelName, IsSplitAtTheFirstSlash) {
  const auto name = parse_model_name("replay/folder/talk.jsonl");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->model, "folder/talk.jsonl");
  for (const char* bad : {"", "replay", "replay/", "/x"}) {
    const auto wrong = parse_model_name(bad);
    ASSERT_FALSE(wrong) << bad;
    EXPECT_EQ(wrong.error().kind, ErrorKind::usage);
  }
}

}  // namespace
}  // namespace kagent::llm
