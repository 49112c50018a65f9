// SPDX-License-Identifier: Apache-2.0
// The table of docs/agent.md: every way to end a run keeps the best candidate, says why, and leaves
// both on disk.
#include "agent_fixture.h"

#include <functional>
#include <set>

namespace kagent::agent {
namespace {

using fakes::call;
using fakes::reply;

/// Says what it was given, then fails in one way or goes on for ever.
class EndingChat : public ChatClient {
 public:
  std::string name() const override { return "scripted/ends"; }
  Result<Reply> complete(const ChatRequest& request) override {
    if (request.turn == 1) return try_candidate("speedup 1.04");
    return last(request.turn);
  }
  std::function<Result<Reply>(int turn)> last;
};

struct Exit {
  const char* stop_reason;
  const char* outcome;
  const char* words;  // of the explanation
  std::function<void(Rig& rig, EndingChat& chat)> arrange;
};

Reply ends_with(ReplyEnd end, const std::string& text = "") {
  Reply said = reply({}, text);
  said.end = end;
  return said;
}

Result<Reply> another_candidate(int turn) {
  Reply said = try_candidate("wrong " + std::to_string(turn));
  said.usage = {100'000, 0, 1000, 0, 0.5};
  return said;
}

const std::vector<Exit>& exits() {
  static const std::vector<Exit> kExits{
      {"target_reached", "success", "the target is reached",
       [](Rig&, EndingChat& chat) { chat.last = [](int) { return try_candidate("speedup 3"); }; }},
      {"finished", "not_met", "the model says it is done",
       [](Rig&, EndingChat& chat) { chat.last = [](int) { return reply({call("finish")}); }; }},
      {"finished", "not_met", "3 turns in a row without a call",
       [](Rig&, EndingChat& chat) { chat.last = [](int) { return reply({}, "hm"); }; }},
      {"turns", "budget_spent", "7 turns are spent",
       [](Rig& rig, EndingChat& chat) {
         rig.request.loop.max_turns = 7;
         chat.last = another_candidate;
       }},
      {"tokens", "budget_spent", "tokens are spent",
       [](Rig& rig, EndingChat& chat) {
         rig.request.loop.max_tokens = 300'000;
         chat.last = another_candidate;
       }},
      {"money", "budget_spent", "are spent",
       [](Rig& rig, EndingChat& chat) {
         rig.request.loop.max_usd = 2;
         chat.last = another_candidate;
       }},
      {"wall_clock", "budget_spent", "s are spent",
       [](Rig& rig, EndingChat& chat) {
         rig.request.loop.max_wall_clock = std::chrono::seconds(0);
         chat.last = another_candidate;
       }},
      {"plateau", "not_met", "45 candidates in a row gained less than 2 %",
       [](Rig&, EndingChat& chat) { chat.last = another_candidate; }},
      {"stuck", "not_met", "the same call of read_file",
       [](Rig&, EndingChat& chat) {
         chat.last = [](int) { return reply({call("read_file", R"({"path": "task.py"})")}); };
       }},
      {"bad_calls", "not_met", "3 turns in a row without one well-formed call",
       [](Rig&, EndingChat& chat) {
         chat.last = [](int) { return reply({call("no_such_tool")}); };
       }},
      {"context_exhausted", "not_met", "does not fit the model's context",
       [](Rig&, EndingChat& chat) {
         chat.last = [](int) { return ends_with(ReplyEnd::context_exceeded); };
       }},
      {"refusal", "refusal", "the model refused: I will not",
       [](Rig&, EndingChat& chat) {
         chat.last = [](int) { return ends_with(ReplyEnd::refusal, "I will not"); };
       }},
      {"replay_ended", "not_met", "the recorded conversation has ended",
       [](Rig&, EndingChat& chat) {
         chat.last = [](int) { return ends_with(ReplyEnd::replay_ended); };
       }},
      {"network", "network", "the server is busy",
       [](Rig&, EndingChat& chat) {
         chat.last = [](int) { return Error{ErrorKind::network, "the server is busy"}; };
       }},
      {"environment", "environment", "no GPU",
       [](Rig&, EndingChat& chat) { chat.last = [](int) { return try_candidate("no gpu"); }; }},
      {"environment", "internal", "killed by signal 11",
       [](Rig&, EndingChat& chat) {
         chat.last = [](int turn) { return try_candidate("dead " + std::to_string(turn)); };
       }},
      {"interrupted", "interrupted", "stopped by a signal",
       [](Rig& rig, EndingChat& chat) {
         chat.last = [&rig](int) {
           rig.stop = true;
           return reply({call("bash", R"({"command": "ls"})")});
         };
       }},
  };
  return kExits;
}

TEST(Exits, EachKeepsTheBestAndSaysWhy) {
  for (const Exit& exit : exits()) {
    SCOPED_TRACE(std::string(exit.stop_reason) + ": " + exit.words);
    Rig rig;
    EndingChat chat;
    exit.arrange(rig, chat);
    const OptimizeEnd end = rig.run(chat);
    const wire::Json result = rig.result_file();
    EXPECT_EQ(result["stop_reason"], exit.stop_reason);
    EXPECT_EQ(result["outcome"], exit.outcome);
    EXPECT_NE(result["explanation"].get<std::string>().find(exit.words), std::string::npos)
        << result["explanation"];
    const bool better = std::string(exit.stop_reason) == "target_reached";
    if (std::string(exit.stop_reason) != "wall_clock") {  // is spent before the first turn here
      EXPECT_EQ(rig.best_model(), better ? "speedup 3" : "speedup 1.04");
      EXPECT_EQ(result["best"]["number"], better ? 2 : 1);
    }
    ASSERT_TRUE(rig.trajectory().end);
    EXPECT_EQ(wire::word(rig.trajectory().end->reason), std::string(exit.stop_reason));
    for (const Turn& turn : rig.trajectory().turns) {
      EXPECT_EQ(turn.results.size(), turn.reply.calls.size()) << "every call has a result";
    }
  }
}

TEST(Exits, NoReasonIsMissing) {
  // The fake evaluator needs no device; candidate_book_test.cpp counts its time.
  std::set<std::string> seen{"gpu_seconds"};
  for (const Exit& exit : exits()) seen.insert(exit.stop_reason);
  for (int value = 0; value <= static_cast<int>(StopReason::environment); ++value) {
    EXPECT_TRUE(seen.count(wire::word(static_cast<StopReason>(value))))
        << wire::word(static_cast<StopReason>(value));
  }
}

TEST(Exits, AKillAfterTheEndLeavesItsResultToResume) {
  Rig rig;
  const OptimizeEnd first = rig.run({try_candidate("speedup 1.04"), reply({call("finish")})});
  std::filesystem::remove(rig.folder.result_file());
  fakes::ScriptedChat chat({try_candidate("speedup 9")});
  const OptimizeEnd second = rig.run(chat);
  EXPECT_TRUE(chat.requests.empty()) << "it was over";
  EXPECT_EQ(second.result.stop, first.result.stop);
  EXPECT_EQ(second.result.turns, first.result.turns);
  EXPECT_EQ(second.result.usage, first.result.usage);
  EXPECT_EQ(rig.best_model(), "speedup 1.04");
  EXPECT_EQ(rig.run(chat).result.turns, 3) << "with a result, it is the user who wants more";
}

}  // namespace
}  // namespace kagent::agent
