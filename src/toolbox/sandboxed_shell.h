// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sandbox/child.h"
#include "toolbox/shell_runner.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kagent::toolbox {

/// The workspace as its shell sees it.
inline constexpr const char* kShellFolder = "/workspace";

/// bash in the sandbox: the workspace read-write, but for the given files; no network, no GPU, an
/// environment made from nothing.
class SandboxedShell : public ShellRunner {
 public:
  /// read_only: paths relative to the workspace that the shell must not change, where they exist.
  SandboxedShell(std::filesystem::path workspace, std::vector<std::string> read_only,
                 sandbox::Tier tier)
      : workspace_(std::move(workspace)), read_only_(std::move(read_only)), tier_(tier) {}

  Result<ShellOutcome> run(const std::string& command, std::chrono::seconds timeout) override;

 private:
  Result<sandbox::Child> start(const std::string& command, int output) const;

  std::filesystem::path workspace_;
  std::vector<std::string> read_only_;
  sandbox::Tier tier_;
};

}  // namespace kagent::toolbox
