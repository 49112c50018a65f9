// SPDX-License-Identifier: Apache-2.0
// What the model is told about a candidate: short, and first what is to be mended first. Pure.
#pragma once

#include <kagent/evaluation.h>

#include "toolbox/candidate_judge.h"

#include <string>

namespace kagent::toolbox {

/// Begins with "outcome: <word>", which a replay compares with what was recorded. min_gain: share
/// of the baseline's time that must be saved.
std::string feedback(const JudgedCandidate& judged, double min_gain);

/// For a workspace that cannot be frozen.
std::string feedback(const Fault& fault);

/// "1.83x eager, 1.20x torch.compile".
std::string figures(const BestFigures& best);

}  // namespace kagent::toolbox
