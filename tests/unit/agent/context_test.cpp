// SPDX-License-Identifier: Apache-2.0
#include "agent/context.h"

#include "agent_fixture.h"

#include <gtest/gtest.h>

#include <chrono>

namespace kagent::agent {
namespace {

Turn turn_of(int number, std::size_t reply_bytes, std::size_t result_bytes) {
  Turn turn;
  turn.number = number;
  turn.reply = fakes::reply({fakes::call("bash")});
  turn.reply.raw = std::string(reply_bytes, 'r');
  turn.results = {{"id", "first line\n" + std::string(result_bytes, 'o'), false}};
  return turn;
}

std::string record() { return "the record"; }

TEST(Context, LeavesOldOutputsOutFirst) {
  Context context("opening", 0, 128'000);
  for (int i = 1; i <= 30; ++i) context.add(turn_of(i, 100, 10'000));
  ASSERT_EQ(context.fit(record), Fit::edited);
  const auto messages = context.messages();
  ASSERT_EQ(messages.size(), 61u);
  EXPECT_EQ(std::get<UserMessage>(messages[0]).text, "opening");
  EXPECT_EQ(std::get<ToolMessage>(messages[2]).results[0].text,
            "first line\n[10001 bytes of old output left out]");
  EXPECT_GT(std::get<ToolMessage>(messages[60]).results[0].text.size(), 10'000u);
  EXPECT_EQ(context.fit(record), Fit::fits) << "once done, it stays as it is for a while";
}

TEST(Context, PutsARecordInPlaceOfOldTurns) {
  Context context("opening", 0, 128'000);
  for (int i = 1; i <= 50; ++i) context.add(turn_of(i, 8'000, 10));
  ASSERT_EQ(context.fit(record), Fit::edited);
  const auto messages = context.messages();
  EXPECT_EQ(std::get<UserMessage>(messages[0]).text, "opening\nthe record");
  EXPECT_TRUE(std::holds_alternative<Reply>(messages[1]));
  EXPECT_EQ(messages.size(), 17u) << "the last eight turns are kept";
  EXPECT_EQ(context.edit().turns_from, 43);
}

TEST(Context, GivesUpRatherThanDoItAgainAndAgain) {
  Context context("opening", 0, 32'000);
  Fit fit = Fit::fits;
  int number = 0;
  int edits = 0;
  while (fit != Fit::exhausted && number < 100) {
    context.add(turn_of(++number, 70'000, 10));
    fit = context.fit(record);
    edits += fit == Fit::edited ? 1 : 0;
  }
  EXPECT_EQ(fit, Fit::exhausted);
  EXPECT_LE(edits, 3);
}

TEST(Context, LearnsHowLongATokenIs) {
  Context context(std::string(40'000, 'x'), 0, 128'000);
  context.learn(20'000);
  EXPECT_EQ(context.tokens(), 20'000);
}

TEST(Loop, Plays200TurnsThatOverflowTheContextManyTimes) {
  Rig rig;
  rig.request.loop.after_success = AfterSuccess::keep_going;
  std::vector<Reply> replies;
  for (int i = 1; i <= 200; ++i) {
    // A better one every thirty turns: no plateau. Each best must outlive the edits after it.
    const int steps = i / 30;
    Reply reply = try_candidate(i % 30 == 0 ? "speedup " + std::to_string(2 + steps)
                                            : "speedup 1." + std::to_string(1000 + i));
    reply.raw = std::string(10'000, 'r');
    reply.usage = {};
    replies.push_back(std::move(reply));
  }
  fakes::ScriptedChat chat(std::move(replies));
  const auto start = std::chrono::steady_clock::now();
  const OptimizeEnd end = rig.run(chat);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(end.result.turns, 200);
  EXPECT_EQ(end.result.stop, StopReason::turns);
  EXPECT_EQ(rig.best_model(), "speedup 8");
  RecordProperty("ms_a_turn", std::to_string(took.count() / 200));
  std::size_t most = 0;
  int rebuilds = 0;
  std::string record;
  for (const ChatRequest& request : chat.requests) {
    std::size_t bytes = request.system.size();
    for (const Message& message : request.messages) {
      if (const auto* reply = std::get_if<Reply>(&message)) bytes += reply->raw.size();
    }
    most = std::max(most, bytes);
    const std::string& first = std::get<UserMessage>(request.messages[0]).text;
    if (first != record) ++rebuilds;
    record = first;
  }
  EXPECT_LT(most, 128'000u * 7 / 2);
  EXPECT_GE(rebuilds, 4) << "the opening alone, and at least three records";
  EXPECT_NE(record.find("The best is #"), std::string::npos);
  EXPECT_NE(record.find("```model_new.py\nspeedup "), std::string::npos) << "its source";
  EXPECT_EQ(rig.trajectory().context.record, record.substr(record.find("[The conv")));
}

}  // namespace
}  // namespace kagent::agent
