// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/tool.h>

#include "toolbox/workspace_files.h"

namespace kagent::toolbox {

/// Numbered lines of a file, or the entries of a folder.
class ReadFileTool : public Tool {
 public:
  explicit ReadFileTool(WorkspaceFiles& files) : files_(files) {}
  ToolSpec spec() const override;
  ToolOutcome run(const std::string& arguments) override;

 private:
  ToolOutcome list_folder(const std::string& path) const;

  WorkspaceFiles& files_;
};

}  // namespace kagent::toolbox
