// SPDX-License-Identifier: Apache-2.0
// Judges by what stands in model_new.py, so that a test says what comes of a candidate by writing
// it:
//   "speedup 2.0"   correct, this much faster than eager; success from 1.06 on
//   "noisy 1.1"     correct, fast by the median only
//   "wrong"         mismatch      "broken"  build_failed
//   "dead"          Error internal           "no gpu"  Error environment
#pragma once

#include <kagent/evaluator.h>

#include <functional>
#include <sstream>
#include <string>

namespace kagent::fakes {

inline Fault fault(FaultKind kind, const std::string& message) {
  Fault fault;
  fault.kind = kind;
  fault.message = message;
  fault.at = {"model_new.py", 14};
  return fault;
}

inline Evaluation wrong_evaluation(FaultKind kind) {
  Evaluation evaluation;
  evaluation.verdict.fault = fault(kind, "is not right");
  if (kind == FaultKind::mismatch) {
    evaluation.verdict.fault->output = 0;
    evaluation.verdict.fault->index = {3, 17};
    evaluation.verdict.fault->expected = "0.125";
    evaluation.verdict.fault->got = "0.5";
  }
  return evaluation;
}

inline Evaluation correct_evaluation(double speedup, bool noisy = false) {
  Evaluation evaluation;
  evaluation.verdict.correct = true;
  evaluation.verdict.trials = {{1, true, 1e-6, 0.25}, {2, true, 2e-6, 0.5}};
  const bool fast = speedup * 0.95 >= 1;
  Measurement times;
  times.clock = "made up";
  times.rounds = 20;
  times.candidate.median_us = 100;
  times.candidate.low_us = 99;
  times.candidate.high_us = 101;
  times.candidate.launches = 1;
  times.eager = times.candidate;
  times.eager->median_us = 100 * speedup;
  times.over_eager = Speedup{speedup, noisy ? 0.9 : speedup * 0.995, speedup * 1.005};
  times.own_kernel_share = 1;
  evaluation.measurement = times;
  Score score;
  score.grade = fast ? Grade::faster_than_eager : Grade::correct;
  score.speedup_over_eager = speedup;
  score.success = fast && !noisy;
  score.noisy = fast && noisy;
  evaluation.score = score;
  return evaluation;
}

class FakeEvaluator : public Evaluator {
 public:
  Result<Evaluation> evaluate(const Candidate& candidate) override {
    ++evaluations;
    if (before) before();
    std::istringstream text(candidate.files.at("model_new.py"));
    std::string word;
    double speedup = 0;
    text >> word >> speedup;
    Evaluation evaluation;
    if (word == "dead") return Error{ErrorKind::internal, "runner: killed by signal 11"};
    if (word == "no") return Error{ErrorKind::environment, "no GPU"};
    if (word == "stop") return Error{ErrorKind::interrupted, "stopped"};
    if (word == "broken") {
      evaluation = wrong_evaluation(FaultKind::build_failed);
    } else if (word == "wrong") {
      evaluation = wrong_evaluation(FaultKind::mismatch);
    } else {
      evaluation = correct_evaluation(speedup, word == "noisy");
    }
    evaluation.candidate = candidate.hash;
    return evaluation;
  }

  int evaluations = 0;
  std::function<void()> before;
};

}  // namespace kagent::fakes
