// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/evaluation.h>
#include <kagent/result.h>

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kagent::toolbox {

/// The best verified candidate so far, as figures for people.
struct BestFigures {
  int number = 0;                 // which candidate, from 1
  double speedup_over_eager = 0;  // 0 where it was not measured
  double speedup_over_compiled = 0;
  bool success = false;
};

struct JudgedCandidate {
  int number = 0;              // from 1, in the order in which they were first judged
  bool judged_before = false;  // the same text: the earlier evaluation is given again
  bool is_best = false;
  std::string outcome;                         // stable word: "success", "slower", "mismatch", …
  std::vector<std::string> files;              // what it consists of
  std::map<std::string, std::string> sources;  // texts of these files
  Evaluation evaluation;
  std::optional<BestFigures> best_before;  // of all that were judged before it
  std::optional<BestFigures> best;         // of all so far, this one included
};

/// Freezes what stands in the workspace now and judges it.
class CandidateJudge {
 public:
  virtual ~CandidateJudge() = default;
  /// A Fault where the workspace holds nothing that can be judged; an Error where no judgement was
  /// possible, which is not the candidate's doing.
  virtual Result<std::variant<JudgedCandidate, Fault>> judge() = 0;
};

}  // namespace kagent::toolbox
