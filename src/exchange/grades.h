// SPDX-License-Identifier: Apache-2.0
// What each call of evaluate came to, for trainers.
#pragma once

#include "store/read_trajectory.h"
#include "wire/json.h"

#include <cstddef>
#include <map>
#include <utility>

namespace kagent::exchange {

/// Evaluations by (turn, call from 0). A text that had been judged before is given its earlier
/// evaluation again, marked as repeated.
class Grades {
 public:
  explicit Grades(const store::Trajectory& trajectory);  // which outlives it
  explicit Grades(store::Trajectory&&) = delete;

  /// `{candidate, hash, outcome, grade, success, …}` (docs/trajectories.md), or null for a call
  /// that judged nothing.
  wire::Json of(int turn, std::size_t call) const;

 private:
  struct Graded {
    int number = 0;  // of the candidate, from 1
    const Evaluation* evaluation = nullptr;
    bool repeated = false;
  };
  std::map<std::pair<int, std::size_t>, Graded> graded_;
};

}  // namespace kagent::exchange
