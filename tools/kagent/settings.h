// SPDX-License-Identifier: Apache-2.0
// Flags that were not given: environment, ./kagent.toml, the user's kagent.toml, in this order. docs/configuration.md.
#pragma once

#include <kagent/result.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace kagent::cli {

struct SettingsFile {
  std::filesystem::path path;  // as it is named in messages
  bool users = false;          // the user's own; else the project's, which may come from somebody else
};

/// Both, whether they exist or not; the one that goes before is last.
std::vector<SettingsFile> settings_files();

/// nullptr where there is none of that name.
CLI::App* find_command(CLI::App& app, const std::string& name);

/// Of one command's flags by their names without dashes: "KAGENT_MAX_TURNS", "kagent.toml:3".
using Origins = std::map<std::string, std::string>;

/// Makes what environment and files say the defaults of that command's flags; a flag that is given replaces them. The
/// files are checked as a whole, other commands' tables too. Errors are of kind usage and name where the value came from.
Result<Origins> apply_settings(CLI::App& app, const std::string& command);

/// Whether files and environment may set this flag of this command at all.
bool can_be_set(const std::string& command, const std::string& flag);

}  // namespace kagent::cli
