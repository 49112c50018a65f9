// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/tool.h>

#include "sys/confined_folder.h"
#include "toolbox/shell_runner.h"

#include <chrono>

namespace kagent::toolbox {

struct BashLimits {
  std::chrono::seconds timeout{120};  // where the model names none
  std::chrono::seconds longest_timeout{600};
  std::size_t shown_bytes = 16u << 10;
};

/// One command in the sandboxed shell. Output that is too long is kept whole in .logs/ of the
/// workspace, where the model can search it.
class BashTool : public Tool {
 public:
  BashTool(ShellRunner& shell, const sys::ConfinedFolder& workspace, BashLimits limits = {})
      : shell_(shell), workspace_(workspace), limits_(limits) {}

  ToolSpec spec() const override;
  ToolOutcome run(const std::string& arguments) override;

 private:
  std::string shown(const ShellOutcome& outcome);

  ShellRunner& shell_;
  const sys::ConfinedFolder& workspace_;
  BashLimits limits_;
};

}  // namespace kagent::toolbox
