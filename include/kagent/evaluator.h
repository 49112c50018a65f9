// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include <kagent/candidate.h>
#include <kagent/evaluation.h>
#include <kagent/result.h>

namespace kagent {

/// Judges candidates of one task, which it was made with. What the candidate did wrong is in the
/// Evaluation; an Error means that no judgement was possible.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual Result<Evaluation> evaluate(const Candidate& candidate) = 0;
};

/// Told about phases as they begin: "record", "build", "trial 2/5", …; for progress on stderr.
using Progress = std::function<void(const std::string& phase)>;

}  // namespace kagent
