// SPDX-License-Identifier: Apache-2.0
// What the papers' rule set (CUDA Agent's evaluation) says of a run that kagent judged by its own.
#pragma once

#include <optional>

#include <kagent/evaluation.h>
#include <kagent/score.h>

namespace kagent::scoring {

/// Their rules: five trials within 1e-2 + 1e-2 * |expected|, and nothing more; the mean of the summed
/// device time over calls (the span where a clock tells no sum, as on the CPU).
struct PaperScore {
  std::optional<bool> correct;        // empty: this run cannot tell
  Grade grade = Grade::wrong;         // by their times
  double speedup_over_eager = 0;      // 0: not measured
  double speedup_over_compiled = 0;
};

/// A candidate that fails only what the papers do not ask for (hidden variants, inputs changed) is
/// correct here, though without times: kagent does not time it. A trial that kagent fails passes here
/// where its largest error is at most 1e-2. The element that the fault names can refute; else the run
/// cannot tell, since the tolerance grows with the expected value and later trials were not run.
PaperScore paper_score(const Evaluation& evaluation);

}  // namespace kagent::scoring
