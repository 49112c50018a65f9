// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "commands.h"
#include "exit_codes.h"
#include "sys/stop.h"

#include <fmt/format.h>

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
  kagent::cli::add_optimize(app, exit_code);
  kagent::cli::add_check(app, exit_code);
  kagent::cli::add_baseline(app, exit_code);
  kagent::cli::add_vet(app, exit_code);
  kagent::cli::add_plan(app, exit_code);
  kagent::cli::add_doctor(app, exit_code);
  kagent::cli::add_batch(app, exit_code);
  kagent::cli::add_report(app, exit_code);
  kagent::cli::add_export(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kagent::cli::kSuccess : kagent::cli::kUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kagent: internal error: {}\n", error.what());
    return kagent::cli::kInternal;
  }
  return exit_code;
}
