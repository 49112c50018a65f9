// SPDX-License-Identifier: Apache-2.0
#include "agent/candidate_book.h"

#include "agent_fixture.h"

namespace kagent::agent {
namespace {

class NoJournal : public Journal {
 public:
  Result<void> begin(int, const Reply&) override { return {}; }
  Result<void> append(const Turn&) override { return {}; }
  Result<void> append(const CandidateRecord& record) override {
    if (full) return Error{ErrorKind::environment, "no space left on device"};
    records.push_back(record);
    return {};
  }
  Result<void> append(int, const ToolResult&) override { return {}; }
  Result<void> append(const ContextEdit&) override { return {}; }
  Result<void> append(StopReason, const std::string&) override { return {}; }
  std::vector<CandidateRecord> records;
  bool full = false;
};

class Book : public ::testing::Test {
 protected:
  Book() { std::filesystem::create_directories(rig.folder.workspace() / "kernels"); }

  Result<std::variant<toolbox::JudgedCandidate, Fault>> judge(const std::string& model) {
    EXPECT_TRUE(sys::write_file_atomically(rig.folder.workspace() / "model_new.py", model));
    return book.judge();
  }
  toolbox::JudgedCandidate judged(const std::string& model) {
    auto result = judge(model);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return std::get<toolbox::JudgedCandidate>(*result);
  }

  Rig rig;
  NoJournal journal;
  sys::ConfinedFolder workspace = [this] {
    std::filesystem::create_directories(rig.folder.workspace());
    return *sys::ConfinedFolder::open(rig.folder.workspace());
  }();
  CandidateBook book{workspace, rig.folder, rig.evaluator, journal, Baselines::both};
};

TEST_F(Book, KeepsTheBestWhateverComesLater) {
  EXPECT_FALSE(judged("wrong").best);
  EXPECT_EQ(rig.best_model(), "(none)");
  EXPECT_TRUE(judged("speedup 1.2").is_best);
  const auto slower = judged("speedup 1.1");
  EXPECT_FALSE(slower.is_best);
  EXPECT_EQ(slower.number, 3);
  EXPECT_EQ(slower.best->number, 2);
  EXPECT_EQ(rig.best_model(), "speedup 1.2");
  judged("broken");
  EXPECT_EQ(book.best()->number, 2);
  EXPECT_TRUE(judged("speedup 1.3").is_best);
  EXPECT_EQ(rig.best_model(), "speedup 1.3");
}

TEST_F(Book, PrefersSuccessToANoisyHigherFigure) {
  judged("noisy 1.5");
  EXPECT_FALSE(book.target_reached());
  judged("speedup 1.1");
  EXPECT_TRUE(book.target_reached());
  EXPECT_EQ(rig.best_model(), "speedup 1.1");
}

TEST_F(Book, DoesNotJudgeTheSameTextTwice) {
  EXPECT_FALSE(judged("speedup 1.2").judged_before);
  const auto again = judged("speedup 1.2");
  EXPECT_TRUE(again.judged_before);
  EXPECT_EQ(again.number, 1);
  EXPECT_EQ(rig.evaluator.evaluations, 1);
  EXPECT_EQ(journal.records.size(), 1u);
}

TEST_F(Book, RepeatsANoisyMeasurementButNotForEver) {
  for (int i = 0; i < 6; ++i) judged("noisy 1.1");
  EXPECT_EQ(rig.evaluator.evaluations, 3);
  EXPECT_EQ(book.count(), 1);
}

TEST_F(Book, CountsFailuresThatAreNotTheCandidates) {
  EXPECT_FALSE(judge("dead"));
  EXPECT_FALSE(judge("dead"));
  EXPECT_EQ(book.failures_in_a_row(), 2);
  EXPECT_EQ(book.count(), 0) << "nothing is known about it";
  judged("speedup 1");
  EXPECT_EQ(book.failures_in_a_row(), 0);
  EXPECT_FALSE(book.failure());
}

TEST_F(Book, GivesAFaultForAWorkspaceThatCannotBeFrozen) {
  const auto nothing = book.judge();
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(std::holds_alternative<Fault>(*nothing));
  EXPECT_EQ(rig.evaluator.evaluations, 0);
}

TEST_F(Book, DoesNotClaimWhatItCouldNotRecord) {
  journal.full = true;
  EXPECT_FALSE(judge("speedup 2"));
  EXPECT_FALSE(book.best());
  EXPECT_EQ(rig.best_model(), "(none)");
}

TEST_F(Book, RestoresItselfAndMendsBest) {
  judged("speedup 1.2");
  judged("wrong");
  judged("speedup 1.4");
  std::filesystem::remove_all(rig.folder.best());
  CandidateBook again(workspace, rig.folder, rig.evaluator, journal, Baselines::both);
  ASSERT_TRUE(again.restore(journal.records));
  EXPECT_EQ(again.count(), 3);
  EXPECT_EQ(again.best()->number, 3);
  EXPECT_EQ(rig.best_model(), "speedup 1.4");
}

TEST_F(Book, CountsEveryStageThatHoldsTheDevice) {
  judged("speedup 1.2");
  journal.records[0].evaluation.stage_ms = {{"record", 1000}, {"build", 2000}, {"queue", 5000}, {"load", 10}, {"trials", 20},
                                            {"variants", 30}, {"audit", 40}, {"timing", 50}, {"total", 3150}};
  CandidateBook again(workspace, rig.folder, rig.evaluator, journal, Baselines::both);
  ASSERT_TRUE(again.restore(journal.records));
  EXPECT_NEAR(again.device_seconds(), 0.15, 1e-12);
  EXPECT_NEAR(again.queue_seconds(), 5, 1e-12);   // waiting for others is not charged
}

TEST_F(Book, APlateauOutlivesAKill) {
  for (const char* model : {"speedup 1.2", "speedup 1.21", "speedup 1.1", "wrong"}) judged(model);
  EXPECT_EQ(book.since_gain(), 3);
  CandidateBook again(workspace, rig.folder, rig.evaluator, journal, Baselines::both);
  ASSERT_TRUE(again.restore(journal.records));
  EXPECT_EQ(again.since_gain(), 3);
}

TEST_F(Book, RefusesToRestoreFromAChangedCandidate) {
  judged("speedup 1.2");
  const auto source = rig.folder.candidates() / journal.records[0].evaluation.candidate / "source";
  ASSERT_TRUE(sys::write_file_atomically(source / "model_new.py", "speedup 9"));
  CandidateBook again(workspace, rig.folder, rig.evaluator, journal, Baselines::both);
  EXPECT_FALSE(again.restore(journal.records));
}

TEST(Rank, IsTheSmallestOfTheBaselinesToBeat) {
  Evaluation evaluation;
  EXPECT_EQ(rank(evaluation, Baselines::both), 0);
  evaluation.score = Score{Grade::correct, 1.5, 1.2, false, false};
  EXPECT_EQ(rank(evaluation, Baselines::both), 1.2);
  EXPECT_EQ(rank(evaluation, Baselines::eager), 1.5);
  EXPECT_EQ(rank(evaluation, Baselines::compile), 1.2);
  evaluation.score->speedup_over_compiled = 0;
  EXPECT_EQ(rank(evaluation, Baselines::both), 1.5) << "not measured";
}

}  // namespace
}  // namespace kagent::agent
