// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/tool.h>

namespace kagent::toolbox {

/// The model says that it is done. The best candidate is the harness's to know, not the model's.
class FinishTool : public Tool {
 public:
  ToolSpec spec() const override;
  ToolOutcome run(const std::string& arguments) override;
};

}  // namespace kagent::toolbox
