// SPDX-License-Identifier: Apache-2.0
// One rule everywhere (design §6).
#pragma once

namespace kagent {

/// The papers' grade, by point estimates.
enum class Grade : int {
  wrong = -1,
  correct = 1,
  faster_than_eager = 2,   // saves more than 5 % against eager
  faster_than_both = 3,    // and against torch.compile
};

struct Score {
  Grade grade = Grade::wrong;
  double speedup_over_eager = 0;      // 0 where it was not measured
  double speedup_over_compiled = 0;
  bool success = false;   // at most 95 % of every asked baseline's time, worse end of interval too
  bool noisy = false;     // the point estimate succeeds and the interval does not
  bool operator==(const Score&) const = default;
};

}  // namespace kagent
