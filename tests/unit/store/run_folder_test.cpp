// SPDX-License-Identifier: Apache-2.0
#include "store/run_folder.h"

#include "fakes/fake_evaluator.h"
#include "fakes/test_folder.h"

#include <gtest/gtest.h>

#include <regex>

namespace kagent::store {
namespace {

using std::chrono::seconds;
using std::chrono::system_clock;

Candidate candidate(const std::string& hash, const std::string& text) {
  return {hash, "", {{"model_new.py", text}, {"kernels/a.cu", text}}};
}

class Folder : public ::testing::Test {
 protected:
  RunFolder make(const std::string& task = "softmax") {
    auto folder =
        RunFolder::create(test.path(), task, system_clock::time_point(seconds(1796076309)));
    EXPECT_TRUE(folder) << (folder ? "" : folder.error().message);
    return *folder;
  }
  std::string text(const std::filesystem::path& path) { return *sys::read_file(path, 1u << 20); }
  fakes::TestFolder test;
};

TEST_F(Folder, IsNamedByTimeTaskAndId) {
  const RunFolder first = make();
  const std::regex name("2026-11-30T22-05-09Z-softmax-[0-9a-f]{6}");
  EXPECT_TRUE(std::regex_match(first.path().filename().string(), name)) << first.path();
  EXPECT_NE(make().path(), first.path()) << "two runs of one second";
  EXPECT_TRUE(std::filesystem::is_directory(first.candidates()));
}

TEST_F(Folder, TakesNoNameThatIsAPath) {
  const RunFolder folder = make("../../etc/pass wd\n");
  EXPECT_EQ(folder.path().parent_path(), test.path());
  EXPECT_EQ(folder.path().string().find(' '), std::string::npos);
}

TEST_F(Folder, OpensOnlyWhatIsARun) {
  const RunFolder folder = make();
  EXPECT_FALSE(RunFolder::open(folder.path()));
  ASSERT_TRUE(folder.write_run({{"task", {{"hash", "abc"}}}}));
  ASSERT_TRUE(RunFolder::open(folder.path()));
  EXPECT_TRUE(folder.check_task("abc"));
  EXPECT_FALSE(folder.check_task("abd"));
  EXPECT_EQ(wire::parse_text(text(folder.run_file()), "run")->at("schema"), "kagent.run/1");
  EXPECT_FALSE(RunFolder::open(test / "none"));
}

TEST_F(Folder, RefusesAParentThatIsAFile) {
  test.write("file", "");
  EXPECT_FALSE(RunFolder::create(test / "file", "t", system_clock::now()));
}

TEST_F(Folder, KeepsTheBestAsAWhole) {
  const RunFolder folder = make();
  const Evaluation evaluation = fakes::correct_evaluation(1.5);
  ASSERT_TRUE(
      folder.keep_best({"1", "", {{"model_new.py", "one"}, {"kernels/old.cu", "x"}}}, evaluation));
  std::filesystem::create_directories(folder.path() / ".best/left/over");
  ASSERT_TRUE(folder.keep_best(candidate("2", "two"), evaluation));
  EXPECT_EQ(text(folder.best() / "model_new.py"), "two");
  EXPECT_EQ(text(folder.best() / "kernels/a.cu"), "two");
  EXPECT_FALSE(std::filesystem::exists(folder.best() / "kernels/old.cu"))
      << "nothing of the old one";
  EXPECT_FALSE(std::filesystem::exists(folder.best() / "left"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / ".best"));
  const auto stored = wire::parse_text(text(folder.best() / "evaluation.json"), "evaluation");
  EXPECT_EQ(*wire::parse<Evaluation>(*stored), evaluation);
}

TEST_F(Folder, KeepsAnEvaluationBesideItsCandidate) {
  const RunFolder folder = make();
  Evaluation evaluation = fakes::wrong_evaluation(FaultKind::mismatch);
  evaluation.candidate = "abc";
  ASSERT_TRUE(folder.keep_evaluation(evaluation));
  const auto stored =
      wire::parse_text(text(folder.candidates() / "abc/evaluation.json"), "evaluation");
  EXPECT_EQ(stored->at("schema"), "kagent.evaluation/1");
  EXPECT_EQ(*wire::parse<Evaluation>(*stored), evaluation);
}

}  // namespace
}  // namespace kagent::store
