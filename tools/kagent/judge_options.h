// SPDX-License-Identifier: Apache-2.0
// The flags that every judging command shares, and what they come to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kagent/result.h>
#include <kagent/settings.h>

#include "evaluator/session.h"
#include "sandbox/probe.h"

#include <CLI/CLI.hpp>

namespace kagent::cli {

enum class ProgressStyle { quiet, lines, live };

struct JudgeOptions {
  JudgeSettings settings;
  std::string sandbox = "auto";       // auto or a tier's name
  std::string allow_ops = "gemm,conv";
  bool json = false;
  bool quiet = false;

  /// Registers the flags on a subcommand; *this must outlive the parse.
  void add_to(CLI::App& command);

  /// The flags that say the same to another process of kagent; --json and --quiet left out.
  std::vector<std::string> arguments() const;

  /// The tier that --sandbox chose, after a probe; the Error says what does not hold.
  Result<sandbox::Holding> held_sandbox() const;

  /// Checks what CLI11 cannot, and probes the sandbox. candidates: see SessionOptions.
  Result<evaluator::SessionOptions> session(const std::filesystem::path& candidates) const;
};

/// $XDG_CACHE_HOME/kagent or ~/.cache/kagent; /var/cache/kagent where root's home is closed to the sandbox.
std::filesystem::path cache_directory(sandbox::Tier tier);

/// Phases on stderr: one line that changes on a terminal, else a line each (rounds left out).
Progress progress_to_stderr(bool quiet);

/// Ends the changing line, if there is one.
void end_progress();

}  // namespace kagent::cli
