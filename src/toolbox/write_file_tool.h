// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/tool.h>

#include "toolbox/workspace_files.h"

namespace kagent::toolbox {

/// Writes a whole file; folders on the way are made.
class WriteFileTool : public Tool {
 public:
  explicit WriteFileTool(WorkspaceFiles& files) : files_(files) {}
  ToolSpec spec() const override;
  ToolOutcome run(const std::string& arguments) override;

 private:
  WorkspaceFiles& files_;
};

}  // namespace kagent::toolbox
