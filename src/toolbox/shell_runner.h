// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kagent/result.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace kagent::toolbox {

/// What a workspace may grow to while a command runs; one that goes beyond is killed.
inline constexpr std::uint64_t kMostWorkspaceBytes = 4ull << 30;
inline constexpr std::uint64_t kMostWorkspaceFiles = 200'000;

enum class ShellEnd { exited, killed, timed_out, disk_full, interrupted };

struct ShellOutcome {
  ShellEnd end = ShellEnd::exited;
  int code = 0;        // exit code, or signal where killed
  std::string output;  // stdout and stderr as they came; head and tail of it where it was long
  std::size_t total_bytes = 0;
};

/// Runs one command in the workspace, away from everything else of ours.
class ShellRunner {
 public:
  virtual ~ShellRunner() = default;
  /// An Error means that the shell could not be started.
  virtual Result<ShellOutcome> run(const std::string& command, std::chrono::seconds timeout) = 0;
};

}  // namespace kagent::toolbox
