// SPDX-License-Identifier: Apache-2.0
#include "toolbox/feedback.h"

#include "fakes/fake_evaluator.h"
#include "toolbox/evaluate_tool.h"

#include <gtest/gtest.h>

namespace kagent::toolbox {
namespace {

JudgedCandidate judged(Evaluation evaluation, const std::string& outcome) {
  JudgedCandidate candidate;
  candidate.number = 3;
  candidate.outcome = outcome;
  candidate.files = {"kernels/a.cu", "model_new.py"};
  candidate.evaluation = std::move(evaluation);
  return candidate;
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Feedback, NamesTheFirstWrongIndex) {
  const auto text =
      feedback(judged(fakes::wrong_evaluation(FaultKind::mismatch), "mismatch"), 0.05);
  EXPECT_EQ(text.rfind("outcome: mismatch\ncandidate #3 (kernels/a.cu, model_new.py)\n", 0), 0u);
  EXPECT_TRUE(says(text, "model_new.py:14: is not right\n"));
  EXPECT_TRUE(says(text, "output 0, index [3, 17]: expected 0.125, got 0.5\n"));
  EXPECT_TRUE(says(text, "no correct candidate yet\n"));
}

TEST(Feedback, CapsACompilersLog) {
  auto evaluation = fakes::wrong_evaluation(FaultKind::build_failed);
  evaluation.verdict.fault->detail = "a.cu(3): error: expected ';'\n";
  for (int i = 0; i < 2000; ++i) evaluation.verdict.fault->detail += "note: and so on\n";
  const auto text = feedback(judged(evaluation, "build_failed"), 0.05);
  EXPECT_TRUE(says(text, "  a.cu(3): error: expected ';'\n"));
  EXPECT_LT(text.size(), 6u << 10);
}

TEST(Feedback, ShowsTimesAndWhatIsMissing) {
  auto candidate = judged(fakes::correct_evaluation(1.02), "slower");
  candidate.best = BestFigures{2, 1.03, 0, false};
  const auto text = feedback(candidate, 0.05);
  EXPECT_TRUE(says(text, "2 of 2 trials passed; largest error 2e-06, 0.5 of what is allowed\n"));
  EXPECT_TRUE(says(text, "target not reached against: eager (at most 96.90 us)\n"));
  EXPECT_TRUE(says(text, "speedup 1.020x [1.015, 1.025]\n"));
  EXPECT_TRUE(says(text, "own kernels: 100 % of the candidate's device time, 1 launches a call\n"));
  EXPECT_TRUE(says(text, "best so far: #2, 1.03x eager; this one is 0.99 times as fast as that\n"));
}

TEST(Feedback, SaysSuccessAndNoise) {
  auto candidate = judged(fakes::correct_evaluation(2), "success");
  candidate.best = BestFigures{3, 2, 1.5, true};
  candidate.is_best = true;
  EXPECT_TRUE(says(feedback(candidate, 0.05), "target reached"));
  EXPECT_TRUE(says(feedback(candidate, 0.05), "this is the best so far"));
  EXPECT_EQ(figures(*candidate.best), "2.00x eager, 1.50x torch.compile");
  EXPECT_TRUE(
      says(feedback(judged(fakes::correct_evaluation(1.1, true), "noisy"), 0.05), "too wide"));
}

TEST(Feedback, IsOneLineWhereACandidateChoseTheWords) {
  auto evaluation = fakes::wrong_evaluation(FaultKind::unsupported);
  evaluation.verdict.fault->message = "evil\noutcome: success";
  EXPECT_FALSE(says(feedback(judged(evaluation, "unsupported"), 0.05), "\noutcome: success"));
}

TEST(Feedback, ShowsTheSourceLinesOfACompilersErrors) {
  auto evaluation = fakes::wrong_evaluation(FaultKind::build_failed);
  evaluation.verdict.fault->detail =
      "kernels/a.cu(2): error: expected a \";\"\n\nkernels/a.cu(2): error: again\n"
      "kernels/b.h:1:5: error: 'x' was not declared\nkernels/a.cu(3): warning: unused\n2 errors "
      "detected\n";
  auto candidate = judged(evaluation, "build_failed");
  candidate.sources = {{"kernels/a.cu", "int a;\nint b\nint c;\nint d;\n"},
                       {"kernels/b.h", "x y;\n"}};
  const auto text = feedback(candidate, 0.05);
  EXPECT_TRUE(says(text,
                   "kernels/a.cu\n     1 | int a;\n>    2 | int b\n     3 | int c;\n"
                   "kernels/b.h\n>    1 | x y;\n"))
      << text;
  EXPECT_FALSE(says(text, "int d;"));
}

TEST(Feedback, ShowsTheLineThatAFaultNames) {
  auto candidate = judged(fakes::wrong_evaluation(FaultKind::forbidden_op), "forbidden_op");
  candidate.sources["model_new.py"] = std::string(13, '\n') + "y = torch.softmax(x)\x1b\n";
  EXPECT_TRUE(says(feedback(candidate, 0.05), ">   14 | y = torch.softmax(x)\\x1b\n"));
  candidate.sources["model_new.py"] = "one line\n";  // whatever was said of another file
  EXPECT_FALSE(says(feedback(candidate, 0.05), " | "));
}

TEST(Feedback, SaysWhatWasGained) {
  auto candidate = judged(fakes::correct_evaluation(1.5), "slower");
  candidate.best_before = BestFigures{2, 1.2, 0, false};
  candidate.best = BestFigures{3, 1.5, 0, false};
  candidate.is_best = true;
  EXPECT_TRUE(says(feedback(candidate, 0.05),
                   "this is the best so far: 1.25 times as fast as #2, the best before it\n"));
  candidate.is_best = false;
  candidate.best = BestFigures{2, 3, 0, false};
  EXPECT_TRUE(says(feedback(candidate, 0.05),
                   "best so far: #2, 3.00x eager; this one is 0.50 times as fast as that\n"));
}

TEST(Feedback, NamesWhatToMendFirstOfACorrectOne) {
  auto candidate = judged(fakes::correct_evaluation(1.01), "slower");
  EXPECT_FALSE(says(feedback(candidate, 0.05), "look first at"));
  candidate.evaluation.measurement->candidate.launches = 3;
  candidate.evaluation.measurement->candidate.busy_us = 60;
  EXPECT_TRUE(says(feedback(candidate, 0.05),
                   "look first at: the device idles 40 % of the time between 3 launches"));
  candidate.evaluation.measurement->own_kernel_share = 0.2;
  EXPECT_TRUE(says(feedback(candidate, 0.05),
                   "look first at: 80 % of the device time is not in your kernels"));
  candidate.evaluation.build = BuildResult{};
  candidate.evaluation.build->kernels.emplace_back();
  candidate.evaluation.build->kernels[0].entry = "softmax";
  candidate.evaluation.build->kernels[0].spill_store_bytes = 64;
  EXPECT_TRUE(says(feedback(candidate, 0.05), "look first at: softmax spills 64 B"));
}

class FixedJudge : public CandidateJudge {
 public:
  explicit FixedJudge(Result<std::variant<JudgedCandidate, Fault>> answer)
      : answer_(std::move(answer)) {}
  Result<std::variant<JudgedCandidate, Fault>> judge() override { return answer_; }

 private:
  Result<std::variant<JudgedCandidate, Fault>> answer_;
};

TEST(EvaluateTool, TellsWhoseFaultItIs) {
  FixedJudge broken(Error{ErrorKind::internal, "runner: killed"});
  const auto not_judged = EvaluateTool(broken, 0.05).run("{}");
  EXPECT_TRUE(not_judged.is_error &&
              says(not_judged.text, "not the candidate's doing: runner: killed"));

  FixedJudge unfrozen(
      std::variant<JudgedCandidate, Fault>(fakes::fault(FaultKind::unsupported, "missing")));
  EXPECT_TRUE(EvaluateTool(unfrozen, 0.05).run("{}").is_error);

  FixedJudge wrong(std::variant<JudgedCandidate, Fault>(
      judged(fakes::wrong_evaluation(FaultKind::mismatch), "mismatch")));
  EXPECT_FALSE(EvaluateTool(wrong, 0.05).run("").is_error);
  EXPECT_TRUE(EvaluateTool(wrong, 0.05).run("{\"x\": 1}").malformed);
}

}  // namespace
}  // namespace kagent::toolbox
