// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "commands.h"
#include "exit_codes.h"
#include "settings.h"
#include "sys/stop.h"

#include <fmt/format.h>

namespace kagent::cli {

void add_commands(CLI::App& app, int& exit_code) {
  add_optimize(app, exit_code);
  add_check(app, exit_code);
  add_baseline(app, exit_code);
  add_vet(app, exit_code);
  add_plan(app, exit_code);
  add_doctor(app, exit_code);
  add_batch(app, exit_code);
  add_report(app, exit_code);
  add_export(app, exit_code);
  add_config(app, exit_code);
  add_skills(app, exit_code);
}

}  // namespace kagent::cli

namespace {

/// Help must be there when a file is broken; a resumed batch does what it was begun with; config applies them itself.
bool wants_settings(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  const std::string command = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") return false;
    if (command == "batch" && argument.rfind("--resume", 0) == 0) return false;
  }
  return command != "config" && command != "skills";
}

}  // namespace

int main(int argc, char** argv) {
  kagent::sys::install_stop_handlers();
  CLI::App app{"Makes a PyTorch operator faster on an NVIDIA GPU, and proves it.", "kagent"};
  app.set_version_flag("--version", "kagent " KAGENT_VERSION);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    return fmt::format("kagent: error: {} (see: {} --help)\n", error.what(),
                       failed->get_parent() == nullptr ? "kagent" : "kagent " + failed->get_name());
  });
  int exit_code = kagent::cli::kSuccess;
  kagent::cli::add_commands(app, exit_code);
  try {
    if (wants_settings(argc, argv)) {
      if (const auto applied = kagent::cli::apply_settings(app, argv[1]); !applied) {
        return kagent::cli::report_failure(applied.error(), false);
      }
    }
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kagent::cli::kSuccess : kagent::cli::kUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kagent: internal error: {}\n", error.what());
    return kagent::cli::kInternal;
  }
  return exit_code;
}
