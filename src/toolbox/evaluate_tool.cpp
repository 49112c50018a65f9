// SPDX-License-Identifier: Apache-2.0
#include "toolbox/evaluate_tool.h"

#include "base/text.h"
#include "toolbox/arguments.h"
#include "toolbox/feedback.h"

namespace kagent::toolbox {

ToolSpec EvaluateTool::spec() const {
  return {
      "evaluate",
      "Freezes model_new.py and kernels/, builds it, checks it against the operator under fresh "
      "secret inputs, times it against eager PyTorch and torch.compile, and says what to mend "
      "first.",
      schema_of({})};
}

ToolOutcome EvaluateTool::run(const std::string& arguments) {
  auto checked = check_arguments({}, arguments);
  if (auto* refusal = std::get_if<ToolOutcome>(&checked)) return *refusal;
  const auto judged = judge_.judge();
  if (!judged) {
    return failed(
        "outcome: not_judged\nno judgement was possible, which is not the candidate's doing: " +
        base::one_line(judged.error().message, 600));
  }
  if (const auto* fault = std::get_if<Fault>(&*judged)) return failed(feedback(*fault));
  const auto& candidate = std::get<JudgedCandidate>(*judged);
  return {feedback(candidate, min_gain_)};  // a wrong candidate is an answer, not a failed call
}

}  // namespace kagent::toolbox
