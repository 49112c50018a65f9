// SPDX-License-Identifier: Apache-2.0
// The rules of docs/agent.md, one test each, through a whole run.
#include "agent/loop.h"

#include "agent_fixture.h"

namespace kagent::agent {
namespace {

using fakes::call;
using fakes::reply;

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Loop, EditsUntilTheTargetIsReached) {
  Rig rig;
  const OptimizeEnd end =
      rig.run({try_candidate("broken"), try_candidate("wrong"), try_candidate("speedup 0.9"),
               try_candidate("speedup 1.5"), try_candidate("speedup 9")});
  EXPECT_EQ(end.result.outcome, "success");
  EXPECT_EQ(end.result.stop, StopReason::target_reached);
  EXPECT_EQ(end.result.turns, 4);
  EXPECT_EQ(end.result.candidates, 4);
  EXPECT_EQ(rig.best_model(), "speedup 1.5");
  EXPECT_EQ(rig.result_file(), store::to_json(end.result));
  const store::Trajectory trajectory = rig.trajectory();
  EXPECT_EQ(trajectory.turns.size(), 4u);
  EXPECT_EQ(trajectory.candidates.size(), 4u);
  EXPECT_EQ(trajectory.end->reason, StopReason::target_reached);
}

TEST(Loop, SendsTheWholeLinearHistory) {
  Rig rig;
  fakes::ScriptedChat chat({try_candidate("wrong"), reply({call("finish")})});
  rig.run(chat);
  ASSERT_EQ(chat.requests.size(), 2u);
  EXPECT_EQ(chat.requests[0].messages.size(), 1u);
  EXPECT_EQ(chat.requests[1].messages.size(), 3u);
  EXPECT_EQ(chat.requests[0].tools.size(), 6u);
  const auto& results = std::get<ToolMessage>(chat.requests[1].messages[2]).results;
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].call_id, "call_1_1");
  EXPECT_FALSE(says(results[0].text, "[turn"));
  EXPECT_TRUE(says(results[1].text, "[turn 1/200 · no correct candidate yet · 1 evaluated]"));
  const store::Trajectory trajectory = rig.trajectory();
  EXPECT_EQ(trajectory.start.system, chat.requests[0].system);
  EXPECT_EQ(trajectory.start.opening, std::get<UserMessage>(chat.requests[0].messages[0]).text);
  EXPECT_EQ(trajectory.start.tools, chat.requests[0].tools);
}

TEST(Loop, KeepsGoingWhereAsked) {
  Rig rig;
  rig.request.loop.after_success = AfterSuccess::keep_going;
  const OptimizeEnd end =
      rig.run({try_candidate("speedup 1.5"), try_candidate("speedup 2"), try_candidate("wrong")});
  EXPECT_EQ(end.result.stop, StopReason::replay_ended);
  EXPECT_EQ(end.result.outcome, "success");
  EXPECT_EQ(rig.best_model(), "speedup 2");
}

TEST(Loop, RunsNoCallAfterTheTargetIsReached) {
  Rig rig;
  rig.run({reply(
      {write_model("speedup 2"), call("evaluate"), write_model("wrong"), call("evaluate")})});
  const store::Trajectory trajectory = rig.trajectory();
  ASSERT_EQ(trajectory.turns[0].results.size(), 4u) << "every call has a result";
  EXPECT_TRUE(says(trajectory.turns[0].results[2].text, "not run: the target is reached"));
  EXPECT_EQ(rig.evaluator.evaluations, 1);
}

TEST(Loop, StopsWhenTurnsAreSpent) {
  Rig rig;
  rig.request.loop.max_turns = 2;
  const OptimizeEnd end =
      rig.run({try_candidate("speedup 1"), try_candidate("wrong"), try_candidate("speedup 2")});
  EXPECT_EQ(end.result.stop, StopReason::turns);
  EXPECT_EQ(end.result.outcome, "budget_spent");
  EXPECT_EQ(rig.best_model(), "speedup 1") << "correct, and kept";
}

TEST(Loop, StopsWhenTokensAreSpent) {
  Rig rig;
  rig.request.loop.max_tokens = 200;
  const OptimizeEnd end =
      rig.run({try_candidate("wrong"), try_candidate("speedup 1"), try_candidate("speedup 2")});
  EXPECT_EQ(end.result.stop, StopReason::tokens);
  EXPECT_EQ(end.result.turns, 2);
  EXPECT_EQ(end.result.usage, (Usage{200, 100, 20}));
}

TEST(Loop, StopsWhenTimeIsSpent) {
  Rig rig;
  rig.request.loop.max_wall_clock = std::chrono::seconds(0);
  EXPECT_EQ(rig.run({try_candidate("speedup 2")}).result.stop, StopReason::wall_clock);
}

TEST(Loop, AnswersMalformedCallsAndGivesUpAfterThreeBadTurns) {
  Rig rig;
  const OptimizeEnd end = rig.run({reply({call("evaluate", "{\"x\"")}), reply({call("compile")}),
                                   reply({call("bash", "{}")}), try_candidate("speedup 2")});
  EXPECT_EQ(end.result.stop, StopReason::bad_calls);
  const store::Trajectory trajectory = rig.trajectory();
  ASSERT_EQ(trajectory.turns.size(), 3u);
  EXPECT_TRUE(
      says(trajectory.turns[1].results[0].text, "there is no tool \"compile\"; there are bash"));
  EXPECT_TRUE(says(trajectory.turns[2].results[0].text, "\"command\" is missing"));
  for (const Turn& turn : trajectory.turns) EXPECT_TRUE(turn.results[0].is_error);
}

TEST(Loop, ForgivesBadTurnsWithOneGoodCallBetween) {
  Rig rig;
  const OptimizeEnd end =
      rig.run({reply({call("x")}), reply({call("x")}),
               reply({call("x"), call("read_file", R"({"path": "."})")}), reply({call("x")}),
               reply({call("x")}), try_candidate("speedup 2")});
  EXPECT_EQ(end.result.outcome, "success");
}

TEST(Loop, SaysThatAReplyWasCutOff) {
  Rig rig;
  Reply cut = reply({call("write_file", R"({"path": "model_new.py", "te)")});
  cut.end = ReplyEnd::length;
  rig.run({cut});
  EXPECT_TRUE(says(rig.trajectory().turns[0].results[0].text, "cut off at its length limit"));
}

TEST(Loop, NudgesTwiceWhereNoToolIsCalled) {
  Rig rig;
  const OptimizeEnd end = rig.run({reply({}, "I think."), reply({}, "I think more."),
                                   reply({}, "Hm."), try_candidate("speedup 2")});
  EXPECT_EQ(end.result.stop, StopReason::finished);
  EXPECT_EQ(end.result.outcome, "not_met");
  const store::Trajectory trajectory = rig.trajectory();
  EXPECT_TRUE(says(trajectory.turns[0].nudge, "Go on with a tool call"));
  EXPECT_TRUE(says(trajectory.turns[1].nudge, "[turn 2/200"));
  EXPECT_EQ(trajectory.turns[2].nudge, "");
}

TEST(Loop, NudgesAndThenStopsWhatIsStuck) {
  Rig rig;
  fakes::ScriptedChat chat({reply({call("read_file", R"({"path": "none"})")})});
  chat.forever = true;
  const OptimizeEnd end = rig.run(chat);
  EXPECT_EQ(end.result.stop, StopReason::stuck);
  EXPECT_EQ(end.result.turns, 6);
  const store::Trajectory trajectory = rig.trajectory();
  EXPECT_FALSE(says(trajectory.turns[1].results[0].text, "three times"));
  EXPECT_TRUE(says(trajectory.turns[2].results[0].text, "three times"));
}

TEST(Loop, StopsWhereTheModelSaysSo) {
  Rig rig;
  const OptimizeEnd end =
      rig.run({reply({call("finish"), call("evaluate")}), try_candidate("speedup 2")});
  EXPECT_EQ(end.result.stop, StopReason::finished);
  EXPECT_EQ(rig.evaluator.evaluations, 0);
}

TEST(Loop, StopsAtARefusalWithTheBestSoFar) {
  Rig rig;
  Reply refusal = reply({}, "I can't help with that.");
  refusal.end = ReplyEnd::refusal;
  const OptimizeEnd end = rig.run({try_candidate("speedup 1"), refusal});
  EXPECT_EQ(end.result.outcome, "refusal");
  EXPECT_EQ(end.result.best->number, 1);
}

TEST(Loop, EndsAfterThePresentCallWhenInterrupted) {
  Rig rig;
  rig.shell.during = [&] { rig.stop = true; };
  const OptimizeEnd end =
      rig.run({try_candidate("speedup 1"),
               reply({call("bash", R"({"command": "ls"})"), call("evaluate")})});
  EXPECT_EQ(end.result.outcome, "interrupted");
  EXPECT_EQ(end.result.best->number, 1);
  const store::Trajectory trajectory = rig.trajectory();
  EXPECT_TRUE(says(trajectory.turns[1].results[0].text, "[exit code 0]"));
  EXPECT_TRUE(says(trajectory.turns[1].results[1].text, "not run: stopped by a signal"));
  EXPECT_EQ(rig.evaluator.evaluations, 1);
}

TEST(Loop, IsInterruptedWhereTheJudgeIs) {
  Rig rig;
  EXPECT_EQ(rig.run({try_candidate("stop")}).result.outcome, "interrupted");
}

TEST(Loop, EndsWhereTheModelCannotBeAsked) {
  Rig rig;
  fakes::ScriptedChat chat({});
  chat.error = Error{ErrorKind::network, "connection refused"};
  const OptimizeEnd end = rig.run(chat);
  EXPECT_EQ(end.result.stop, StopReason::network);
  EXPECT_EQ(end.result.outcome, "network");
  EXPECT_EQ(end.error->message, "connection refused");
  EXPECT_EQ(rig.result_file()["explanation"], "connection refused");
}

TEST(Loop, TellsTheModelOfAJudgeThatDiedButNotForEver) {
  Rig rig;
  const OptimizeEnd end = rig.run({try_candidate("dead 1"), try_candidate("dead 2"),
                                   try_candidate("dead 3"), try_candidate("speedup 2")});
  EXPECT_EQ(end.result.stop, StopReason::environment);
  EXPECT_EQ(end.result.turns, 3);
  EXPECT_EQ(end.result.outcome, "internal");
  EXPECT_TRUE(says(rig.trajectory().turns[0].results[1].text, "not the candidate's doing"));
  Rig other;
  EXPECT_EQ(other.run({try_candidate("dead"), try_candidate("speedup 2")}).result.outcome,
            "success");
}

TEST(Loop, EndsAtOnceWhereTheMachineCannotJudge) {
  Rig rig;
  const OptimizeEnd end = rig.run({try_candidate("no gpu"), try_candidate("speedup 2")});
  EXPECT_EQ(end.result.outcome, "environment");
  EXPECT_EQ(end.result.turns, 1);
}

TEST(Loop, TellsPeopleEachStepInALine) {
  Rig rig;
  rig.run({reply({call("read_file", R"({"path": "task.py"})"),
                  call("bash", R"({"command": "a\nb"})"), call("evil\x1b[2J", "[")}),
           try_candidate("wrong")});
  ASSERT_EQ(rig.steps.size(), 5u);
  EXPECT_EQ(rig.steps[0], "turn 1/200: read_file task.py");
  EXPECT_EQ(rig.steps[1], "turn 1/200: bash a\\nb: [exit code 0]");
  EXPECT_EQ(rig.steps[2].find('\x1b'), std::string::npos);
  EXPECT_EQ(rig.steps[4], "turn 2/200: evaluate: outcome: mismatch");
}

TEST(Loop, RunsAtMost32CallsOfOneTurn) {
  Rig rig;
  std::vector<ToolCall> calls;
  for (int i = 0; i < 40; ++i) calls.push_back(write_model(std::to_string(i)));
  rig.run({reply(calls)});
  const store::Trajectory trajectory = rig.trajectory();
  ASSERT_EQ(trajectory.turns[0].results.size(), 40u);
  EXPECT_FALSE(trajectory.turns[0].results[31].is_error);
  EXPECT_TRUE(trajectory.turns[0].results[32].is_error);
  EXPECT_EQ(*sys::read_file(rig.folder.workspace() / "model_new.py", 100), "31");
}

TEST(Loop, EndsOnAPlateauAndTellsTheModelBefore) {
  Rig rig;
  rig.request.loop.after_success = AfterSuccess::keep_going;
  std::vector<Reply> replies{try_candidate("speedup 2")};
  for (int i = 1; i <= 60; ++i)
    replies.push_back(try_candidate("speedup 1." + std::to_string(1000 + i)));
  const OptimizeEnd end = rig.run(replies);
  EXPECT_EQ(end.result.stop, StopReason::plateau);
  EXPECT_EQ(end.result.outcome, "success") << "the best is kept";
  EXPECT_EQ(end.result.turns, 46);
  EXPECT_TRUE(says(rig.trajectory().turns[15].results[1].text, "15 candidates in a row"));
}

TEST(Loop, StopsWhenMoneyIsSpent) {
  Rig rig;
  rig.request.loop.max_usd = 0.5;
  Reply dear = try_candidate("speedup 1");
  dear.usage.cost_usd = 0.3;
  const OptimizeEnd end = rig.run({dear, dear, dear});
  EXPECT_EQ(end.result.stop, StopReason::money);
  EXPECT_EQ(end.result.outcome, "budget_spent");
  EXPECT_EQ(end.result.turns, 2);
  EXPECT_DOUBLE_EQ(end.result.usage.cost_usd, 0.6);
}

TEST(Loop, MakesRoomOnceWhereTheServerSaysThatTheRequestIsTooLong) {
  Rig rig;
  Reply exceeded;
  exceeded.end = ReplyEnd::context_exceeded;
  std::vector<Reply> replies;
  for (int i = 0; i < 12; ++i) {
    replies.push_back(try_candidate("speedup 1.00" + std::to_string(i)));
    replies.back().raw = std::string(20'000, 'r');
    replies.back().usage = {};
  }
  replies.push_back(exceeded);
  replies.push_back(try_candidate("speedup 2"));
  const OptimizeEnd end = rig.run(replies);
  EXPECT_EQ(end.result.outcome, "success");
  EXPECT_FALSE(rig.trajectory().context.record.empty());

  Rig again;
  EXPECT_EQ(again.run({exceeded, exceeded, exceeded}).result.stop, StopReason::context_exhausted);
}

}  // namespace
}  // namespace kagent::agent
