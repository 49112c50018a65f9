// SPDX-License-Identifier: Apache-2.0
// One file a command: parse, wire up, call, exit code. No logic here that a test would want.
#pragma once

#include <CLI/CLI.hpp>

namespace kagent::cli {

/// Each registers its subcommand; when that one was chosen it sets exit_code.
void add_optimize(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_baseline(CLI::App& app, int& exit_code);
void add_vet(CLI::App& app, int& exit_code);
void add_plan(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_batch(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_config(CLI::App& app, int& exit_code);
void add_skills(CLI::App& app, int& exit_code);

/// All of them.
void add_commands(CLI::App& app, int& exit_code);

}  // namespace kagent::cli
