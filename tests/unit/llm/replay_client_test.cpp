// SPDX-License-Identifier: Apache-2.0
#include "llm/replay_client.h"

#include "fakes/scripted_chat.h"

#include <gtest/gtest.h>

namespace kagent::llm {
namespace {

Conversation two_turns() {
  Conversation conversation(2);
  conversation[0].reply = fakes::reply({fakes::call("write_file"), fakes::call("evaluate")});
  conversation[0].outcomes = {{false, ""}, {{}, "mismatch"}};
  conversation[1].reply = fakes::reply({fakes::call("evaluate")});
  conversation[1].outcomes = {{false, "success"}};
  return conversation;
}

class Replay : public ::testing::Test {
 protected:
  ReplayClient client{"replay/talk", two_turns(),
                      [this](const std::string& difference) { differences.push_back(difference); }};
  std::vector<std::string> differences;
  ChatRequest request;

  Reply ask() {
    Reply reply = *client.complete(request);
    request.messages.emplace_back(reply);
    ++request.turn;
    return reply;
  }
  void answer(std::vector<ToolResult> results) {
    request.messages.emplace_back(ToolMessage{std::move(results)});
  }
};

TEST_F(Replay, AnswersInOrderAndThenEnds) {
  EXPECT_EQ(ask(), two_turns()[0].reply);
  answer({{"", "wrote", false}, {"", "outcome: mismatch\n…", false}});
  EXPECT_EQ(ask(), two_turns()[1].reply);
  answer({{"", "outcome: success\n…", false}});
  EXPECT_EQ(ask().end, ReplyEnd::replay_ended);
  EXPECT_EQ(client.differences(), 0);
}

TEST_F(Replay, SaysWhereRealityDiffers) {
  ask();
  answer({{"", "read-only", true}, {"", "outcome: build_failed\n…", false}});
  ask();
  EXPECT_EQ(differences,
            (std::vector<std::string>{
                "turn 1, call 1 (write_file): recorded no error, came to an error",
                "turn 1, call 2 (evaluate): recorded mismatch, came to build_failed"}));
  const std::vector<ToolResult> last{{"", "not run", true}};
  client.compare(last);
  client.compare(last);
  EXPECT_EQ(client.differences(), 3) << "the last results are compared once";
}

TEST_F(Replay, GoesOnWhereAResumedHistoryEnds) {
  request.messages.emplace_back(UserMessage{"task"});
  request.messages.emplace_back(two_turns()[0].reply);
  request.turn = 2;
  answer({{"", "wrote", false}, {"", "outcome: mismatch\n", false}});
  EXPECT_EQ(ask(), two_turns()[1].reply);
  EXPECT_EQ(client.differences(), 0);
}

}  // namespace
}  // namespace kagent::llm
