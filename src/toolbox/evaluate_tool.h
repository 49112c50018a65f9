// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/tool.h>

#include "toolbox/candidate_judge.h"

namespace kagent::toolbox {

/// Judges what stands in the workspace now.
class EvaluateTool : public Tool {
 public:
  /// min_gain: share of the baselines' time that success needs to save.
  EvaluateTool(CandidateJudge& judge, double min_gain) : judge_(judge), min_gain_(min_gain) {}
  ToolSpec spec() const override;
  ToolOutcome run(const std::string& arguments) override;

 private:
  CandidateJudge& judge_;
  double min_gain_;
};

}  // namespace kagent::toolbox
