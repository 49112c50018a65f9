// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/tool.h>

#include "toolbox/workspace_files.h"

#include <string>

namespace kagent::toolbox {

/// Replaces text that stands in exactly one place of a file.
class EditFileTool : public Tool {
 public:
  explicit EditFileTool(WorkspaceFiles& files) : files_(files) {}
  ToolSpec spec() const override;
  ToolOutcome run(const std::string& arguments) override;

 private:
  WorkspaceFiles& files_;
};

}  // namespace kagent::toolbox
