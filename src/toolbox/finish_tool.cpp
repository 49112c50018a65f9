// SPDX-License-Identifier: Apache-2.0
#include "toolbox/finish_tool.h"

#include "toolbox/arguments.h"

namespace kagent::toolbox {
namespace {

const Parameters& parameters() {
  static const Parameters kParameters{{"summary", ParameterType::text, Presence::optional,
                                       "What was tried and what came of it, in a few sentences", 0,
                                       0}};
  return kParameters;
}

}  // namespace

ToolSpec FinishTool::spec() const {
  return {"finish",
          "Ends the run. The best evaluated candidate is kept by itself; what was never evaluated "
          "does not count.",
          schema_of(parameters())};
}

ToolOutcome FinishTool::run(const std::string& arguments) {
  auto checked = check_arguments(parameters(), arguments);
  if (auto* refusal = std::get_if<ToolOutcome>(&checked)) return *refusal;
  ToolOutcome outcome;
  outcome.text = "the run ends here";
  outcome.finish = true;
  return outcome;
}

}  // namespace kagent::toolbox
