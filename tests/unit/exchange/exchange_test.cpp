// SPDX-License-Identifier: Apache-2.0
// Exports of whole runs that a scripted model played. tests/cli/export_test.py has the real
// program, real requests and other people's reader of ATIF.
#include "agent_fixture.h"
#include "exchange/atif.h"
#include "exchange/chat_messages.h"
#include "exchange/grades.h"
#include "exchange/segments.h"
#include "exchange/transcript.h"

namespace kagent::exchange {
namespace {

using agent::Rig;
using agent::try_candidate;
using fakes::call;
using fakes::reply;

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

Turn turn_of(int number, const std::string& result) {
  Turn turn;
  turn.number = number;
  turn.reply = reply({call("bash")}, "reply " + std::to_string(number));
  turn.reply.calls[0].id = "c" + std::to_string(number);
  turn.results = {{turn.reply.calls[0].id, result, false}};
  return turn;
}

store::Trajectory five_turns() {
  store::Trajectory trajectory;
  trajectory.start.opening = "opening";
  trajectory.start.system = "system";
  for (int i = 1; i <= 5; ++i) trajectory.turns.push_back(turn_of(i, std::string(2000, 'x')));
  return trajectory;
}

TEST(Segments, OneWhereNothingWasLeftOut) {
  const auto all = segments(five_turns());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].turns.size(), 5u);
  EXPECT_EQ(all[0].opening, "opening");
  for (const Turn& turn : all[0].turns) EXPECT_FALSE(all[0].copied(turn));
}

TEST(Segments, BeginWhereThePromptChanged) {
  store::Trajectory trajectory = five_turns();
  trajectory.contexts = {{3, 2, 1, ""}, {5, 4, 4, "the record"}};
  const auto all = segments(trajectory);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].turns.size(), 2u);
  EXPECT_EQ(all[1].turns.size(), 4u) << "turns 1 to 4, the first with less of its result";
  EXPECT_LT(all[1].turns[0].results[0].text.size(), 500u);
  EXPECT_EQ(all[1].turns[1].results[0].text.size(), 2000u);
  EXPECT_TRUE(all[1].copied(all[1].turns[1]));
  EXPECT_FALSE(all[1].copied(all[1].turns[2]));
  EXPECT_EQ(all[2].turns.size(), 2u) << "turns 4 and 5";
  EXPECT_EQ(all[2].opening, "opening\nthe record");
}

TEST(Segments, NoneForAnEditThatNothingWasAskedWith) {
  store::Trajectory trajectory = five_turns();
  trajectory.contexts = {{1, 1, 1, ""}, {6, 5, 5, "the record"}};
  EXPECT_EQ(segments(trajectory).size(), 1u);
}

TEST(Grades, GoToTheCallThatAskedForThem) {
  Rig rig;
  rig.run({reply({agent::write_model("wrong"), call("evaluate"), agent::write_model("speedup 0.9"),
                  call("evaluate")}),
           reply({call("evaluate")}), try_candidate("speedup 2")});
  const store::Trajectory trajectory = rig.trajectory();
  const Grades grades(trajectory);
  EXPECT_TRUE(grades.of(1, 0).is_null());
  EXPECT_EQ(grades.of(1, 1)["grade"], -1);
  EXPECT_EQ(grades.of(1, 1)["outcome"], "mismatch");
  EXPECT_EQ(grades.of(1, 3)["candidate"], 2);
  EXPECT_EQ(grades.of(1, 3)["grade"], 1);
  EXPECT_EQ(grades.of(1, 3)["repeated"], false);
  EXPECT_EQ(grades.of(2, 0)["candidate"], 2);
  EXPECT_EQ(grades.of(2, 0)["repeated"], true);
  EXPECT_EQ(grades.of(3, 1)["grade"], 2);
  EXPECT_EQ(grades.of(3, 1)["success"], true);
}

TEST(Reasoning, IsReadFromEachWireFormat) {
  Reply said;
  for (
      const char* raw :
      {R"({"role":"assistant","reasoning_content":"why"})", R"({"reasoning":"why"})",
       R"({"content":[{"type":"thinking","thinking":"why","signature":"s"},{"type":"text","text":"t"}]})"}) {
    said.raw = raw;
    EXPECT_EQ(reasoning_of(said), "why") << raw;
  }
  for (const char* raw :
       {"null", "not JSON", R"({"content":"text"})", R"({"content":[1,{"thinking":2}]})"}) {
    said.raw = raw;
    EXPECT_EQ(reasoning_of(said), "") << raw;
  }
}

TEST(Tokens, AreTakenAsFarAsTheServerToldThem) {
  Reply said;
  EXPECT_TRUE(tokens_of(said).is_null());
  said.tokens =
      R"({"prompt_token_ids":[1,2],"token_ids":[7,8],"logprobs":[{"token":"a","logprob":-0.5},{"token":"b","logprob":-1}]})";
  EXPECT_EQ(tokens_of(said),
            wire::Json::parse(
                R"({"prompt_token_ids":[1,2],"completion_token_ids":[7,8],"logprobs":[-0.5,-1]})"));
  said.tokens = R"({"token_ids":[7,"x"],"logprobs":[{"token":"a"}]})";
  EXPECT_TRUE(tokens_of(said).is_null()) << "what is not whole is left out";
}

TEST(Transcript, NothingThatWasSaidClosesAFenceOrReachesTheTerminal) {
  store::Trajectory trajectory = five_turns();
  trajectory.turns[0].results[0].text = "```\n# not a heading\n````\n\x1b[2J";
  trajectory.turns[0].reply.text = "hello \x1b]0;title\x07";
  const std::string text = transcript(trajectory, {"run", "0.1.0", nullptr, nullptr});
  EXPECT_TRUE(says(text, "`````\n```\n# not a heading\n````\n"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_TRUE(says(text, "This run has not ended."));
}

TEST(Transcript, LeavesLinesOutOfLongTexts) {
  store::Trajectory trajectory = five_turns();
  std::string many;
  for (int i = 0; i < 500; ++i) many += std::to_string(i) + "\n";
  trajectory.turns[0].results[0].text = many;
  const std::string text = transcript(trajectory, {"run", "0.1.0", nullptr, nullptr});
  EXPECT_TRUE(says(text, "\n39\n… [440 lines left out] …\n"));
  EXPECT_TRUE(says(text, "\n481\n482\n"));
}

}  // namespace
}  // namespace kagent::exchange
