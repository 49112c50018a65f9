// SPDX-License-Identifier: Apache-2.0
#include "fakes/fake_evaluator.h"
#include "fakes/scripted_chat.h"
#include "fakes/test_folder.h"
#include "store/journal_file.h"
#include "store/read_trajectory.h"
#include "wire/trajectory_json.h"

#include <gtest/gtest.h>

namespace kagent::store {
namespace {

RunStart start() {
  return {"replay/x",
          "system \xe2\x80\xa6 prompt",
          "the task",
          {{"bash", "runs", "{}"}},
          {{"max_turns", 3}}};
}

Turn turn(int number) {
  Turn turn;
  turn.number = number;
  turn.reply = fakes::reply({{"id-1", "bash", "{\"command\": \"ls"}}, "I look.");
  turn.results = {{"id-1", "two\nlines", true}};
  turn.seconds = 1.5;
  return turn;
}

class TrajectoryFile : public ::testing::Test {
 protected:
  void write(JournalFile& journal, const Turn& turn) {
    ASSERT_TRUE(journal.begin(turn.number, turn.reply));
    ASSERT_TRUE(journal.append(turn));
  }
  Trajectory read() {
    auto trajectory = read_trajectory(test / "t.jsonl");
    EXPECT_TRUE(trajectory) << (trajectory ? "" : trajectory.error().message);
    return trajectory ? *std::move(trajectory) : Trajectory{};
  }
  fakes::TestFolder test;
};

TEST_F(TrajectoryFile, GivesBackWhatWasWritten) {
  auto journal = *JournalFile::create(test / "t.jsonl", start());
  write(journal, turn(1));
  Turn silent = turn(2);
  silent.reply.calls.clear();
  silent.results.clear();
  silent.nudge = "Go on.";
  ASSERT_TRUE(journal.begin(2, silent.reply));
  CandidateRecord record{2, fakes::correct_evaluation(1.5)};
  record.evaluation.candidate = "hash";
  ASSERT_TRUE(journal.append(record));
  ASSERT_TRUE(journal.append(silent));
  ASSERT_TRUE(journal.append(StopReason::stuck, "six times"));
  const Trajectory trajectory = read();
  EXPECT_EQ(trajectory.start, start());
  EXPECT_EQ(trajectory.turns, (std::vector<Turn>{turn(1), silent}));
  EXPECT_EQ(trajectory.candidates, std::vector<CandidateRecord>{record});
  EXPECT_EQ(trajectory.end, (RunEnd{StopReason::stuck, "six times"}));
  EXPECT_FALSE(trajectory.torn);
  EXPECT_FALSE(trajectory.unfinished);
}

TEST_F(TrajectoryFile, NeverWritesOverAnotherOne) {
  ASSERT_TRUE(JournalFile::create(test / "t.jsonl", start()));
  EXPECT_FALSE(JournalFile::create(test / "t.jsonl", start()));
}

TEST_F(TrajectoryFile, KeepsAReplyWhoseCallsWereCutOff) {
  auto journal = *JournalFile::create(test / "t.jsonl", start());
  write(journal, turn(1));
  ASSERT_TRUE(journal.begin(2, turn(2).reply));
  EXPECT_EQ(read().unfinished, turn(2).reply);
}

/// Cut at every byte: whatever is left reads as the whole lines before the cut.
TEST_F(TrajectoryFile, IsReadableWhereverAKillCutIt) {
  {
    auto journal = *JournalFile::create(test / "t.jsonl", start());
    write(journal, turn(1));
    write(journal, turn(2));
  }
  const std::string whole = test.read("t.jsonl");
  const std::size_t first_line = whole.find('\n') + 1;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    test.write("t.jsonl", whole.substr(0, length));
    const auto trajectory = read_trajectory(test / "t.jsonl");
    ASSERT_EQ(static_cast<bool>(trajectory), length >= first_line) << length;
    if (!trajectory) continue;
    EXPECT_EQ(trajectory->torn, whole[length - 1] != '\n');
    EXPECT_LE(trajectory->turns.size(), 2u);
  }
}

TEST_F(TrajectoryFile, ResumesBehindTheLastWholeLine) {
  {
    auto journal = *JournalFile::create(test / "t.jsonl", start());
    write(journal, turn(1));
  }
  test.write("t.jsonl", test.read("t.jsonl") + "{\"type\":\"reply\",\"turn\":2,\"re");
  EXPECT_TRUE(read().torn);
  auto journal = *JournalFile::resume(test / "t.jsonl", "scripted/test", {{"max_turns", 7}});
  write(journal, turn(2));
  const Trajectory trajectory = read();
  EXPECT_EQ(trajectory.turns, (std::vector<Turn>{turn(1), turn(2)}));
  EXPECT_FALSE(trajectory.torn);
  EXPECT_EQ(trajectory.resumptions, (std::vector<Resumption>{{2, "scripted/test", {{"max_turns", 7}}}}));
  EXPECT_FALSE(JournalFile::resume(test / "none.jsonl", "scripted/test", {{"max_turns", 7}}));
}

TEST_F(TrajectoryFile, ForgetsAnEndThatAResumedRunWentBeyond) {
  auto journal = *JournalFile::create(test / "t.jsonl", start());
  ASSERT_TRUE(journal.append(StopReason::turns, "spent"));
  EXPECT_TRUE(read().end);
  write(journal, turn(1));
  EXPECT_FALSE(read().end);
}

TEST_F(TrajectoryFile, NamesADamagedLine) {
  {
    auto journal = *JournalFile::create(test / "t.jsonl", start());
    write(journal, turn(1));
  }
  const std::string whole = test.read("t.jsonl");
  const std::size_t second = whole.find('\n') + 1;
  const std::size_t third = whole.find('\n', second) + 1;
  const std::pair<std::string, std::string> damaged[] = {
      {"", "no whole line"},
      {whole.substr(second), "t.jsonl:1: the first line"},
      {"{\"type\":\"run\",\"schema\":\"kagent.trajectory/9\"}\n", "t.jsonl:1: schema"},
      {whole.substr(0, second) + "nonsense\n" + whole.substr(second), "t.jsonl:2"},
      {whole.substr(0, second) + whole.substr(third), "t.jsonl:2: turn 1 out of order"},
      {whole + whole.substr(second), "t.jsonl:4: turn 1 out of order"},
      {whole + "[]\n", "t.jsonl:4: expected a JSON object"},
      {whole + "{\"type\":\"end\",\"reason\":\"bored\",\"explanation\":\"\"}\n", "t.jsonl:4"},
      {whole + "{\"type\":\"candidate\",\"turn\":1,\"evaluation\":{}}\n", "t.jsonl:4"},
  };
  for (const auto& [text, expected] : damaged) {
    test.write("t.jsonl", text);
    const auto trajectory = read_trajectory(test / "t.jsonl");
    ASSERT_FALSE(trajectory) << expected;
    EXPECT_EQ(trajectory.error().kind, ErrorKind::usage);
    EXPECT_NE(trajectory.error().message.find(expected), std::string::npos)
        << trajectory.error().message;
  }
  test.write("t.jsonl", whole + "{\"type\":\"later\",\"what\":1}\n");
  EXPECT_EQ(read().turns.size(), 1u) << "lines of a later version are skipped";
}

}  // namespace
}  // namespace kagent::store
