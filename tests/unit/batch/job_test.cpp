// SPDX-License-Identifier: Apache-2.0
#include "batch/job.h"

#include "batch/journal.h"
#include "fakes/test_folder.h"

#include <gtest/gtest.h>

namespace kagent::batch {
namespace {

constexpr const char* kCheck =
    R"({"outcome":"success","settings":{"trials":5},"evaluation":{"verdict":{"correct":true,"labels":["degenerate"],"fault":null},)"
    R"("score":{"grade":3,"speedup_over_eager":2.5,"speedup_over_compiled":1.25,"success":true}}})";

TEST(ReadEnd, TakesTheFiguresOfCheck) {
  const JobEnd end = read_end(0, 12.5, std::string(kCheck) + "\n", "");
  EXPECT_EQ(end.outcome, "success");
  EXPECT_TRUE(end.correct);
  EXPECT_TRUE(end.success);
  EXPECT_TRUE(end.degenerate);
  EXPECT_EQ(end.grade, 3);
  EXPECT_DOUBLE_EQ(end.speedup_over_eager, 2.5);
  EXPECT_EQ(end.facts["settings"]["trials"], 5);
}

TEST(ReadEnd, TakesTheBestOfOptimize) {
  const JobEnd end = read_end(5, 1, R"({"outcome":"budget_spent","explanation":"200 turns","turns":200,"best":{"evaluation":)"
      R"({"verdict":{"correct":true,"labels":[],"fault":null},"score":{"grade":1,"speedup_over_eager":0.9,"speedup_over_compiled":0.8,"success":false}}}})", "");
  EXPECT_EQ(end.outcome, "budget_spent");
  EXPECT_TRUE(end.correct);
  EXPECT_DOUBLE_EQ(end.speedup_over_compiled, 0.8);
  EXPECT_EQ(end.message, "200 turns");
}

TEST(ReadEnd, NamesTheFault) {
  const JobEnd end = read_end(1, 1, R"({"outcome":"mismatch","evaluation":{"verdict":{"correct":false,"labels":[],)"
      R"("fault":{"message":"differs\nat [3]","at":{"file":"model_new.py","line":14}}}}})", "");
  EXPECT_FALSE(end.correct);
  EXPECT_EQ(end.at, "model_new.py:14");
  EXPECT_EQ(end.message.find('\n'), std::string::npos);
}

TEST(ReadEnd, AProcessThatDiedIsACrash) {
  for (const auto& output : {std::string(), std::string("half {"), std::string("[1]"), std::string(R"({"outcome":7})"), std::string(kCheck)}) {
    const JobEnd end = read_end(139, 1, output, "some last words");
    EXPECT_EQ(end.outcome, "crash") << output;
    EXPECT_FALSE(end.correct) << output;
    EXPECT_EQ(end.message, "some last words");
  }
  EXPECT_EQ(read_end(130, 1, "", "").outcome, "interrupted");
  EXPECT_EQ(read_end(0, 1, "", "").outcome, "crash");
}

TEST(ReadEnd, AWrongTypeAnywhereIsNotBelieved) {
  const JobEnd end = read_end(0, 1, R"({"outcome":"success","evaluation":{"verdict":{"correct":"yes","labels":3},"score":{"grade":"3","speedup_over_eager":1e999}}})", "");
  EXPECT_FALSE(end.correct);
  EXPECT_DOUBLE_EQ(end.speedup_over_eager, 0);
}

Job job(const std::string& id) {
  Job made;
  made.task.name = id;
  made.task.id = id;
  made.id = id;
  return made;
}

TEST(JournalTest, RemembersEndsAndForgivesATornLine) {
  fakes::TestFolder folder;
  const JobEnd end = read_end(0, 12.5, kCheck, "");
  {
    auto journal = Journal::create(folder / "journal.jsonl");
    ASSERT_TRUE(journal);
    ASSERT_TRUE(journal->started(job("a")));
    ASSERT_TRUE(journal->ended(to_json(job("a"), end)));
    ASSERT_TRUE(journal->started(job("b")));
  }
  folder.write("journal.jsonl", folder.read("journal.jsonl") + R"({"type":"ended","id":"b","res)");
  auto results = read_journal(folder / "journal.jsonl");
  ASSERT_TRUE(results) << results.error().message;
  ASSERT_EQ(results->size(), 1u);
  const auto parsed = parse_result(results->at("a"));
  ASSERT_TRUE(parsed);
  EXPECT_DOUBLE_EQ(parsed->end.speedup_over_compiled, 1.25);
  EXPECT_EQ(parsed->end.facts, end.facts);

  auto journal = Journal::resume(folder / "journal.jsonl");
  ASSERT_TRUE(journal);
  ASSERT_TRUE(journal->ended(to_json(job("b"), end)));
  EXPECT_EQ(read_journal(folder / "journal.jsonl")->size(), 2u);
}

TEST(JournalTest, DamageIsNamedByItsLine) {
  fakes::TestFolder folder;
  folder.write("journal.jsonl", "{\"type\":\"started\",\"id\":\"a\"}\nnonsense\n");
  const auto results = read_journal(folder / "journal.jsonl");
  ASSERT_FALSE(results);
  EXPECT_NE(results.error().message.find("journal.jsonl:2"), std::string::npos);
}

}  // namespace
}  // namespace kagent::batch
