// SPDX-License-Identifier: Apache-2.0
// kagent config show [COMMAND [FLAGS]]: the value of each flag, and where it comes from.
#include "base/text.h"
#include "commands.h"
#include "exit_codes.h"
#include "llm/open_model.h"
#include "settings.h"
#include "sys/files.h"
#include "wire/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace kagent::cli {
namespace {

struct Row {
  std::string flag;
  std::string value;  // empty: not set
  std::string origin;
};

/// Parses as the command itself would, and does nothing.
Result<std::vector<Row>> rows_of(const std::string& name, const std::vector<std::string>& flags) {
  CLI::App app{"", "kagent"};
  int ignored = 0;
  add_commands(app, ignored);
  CLI::App* command = find_command(app, name);
  if (command == nullptr) return Error{ErrorKind::usage, "there is no command " + base::one_line(name, 60)};
  // Thrown when all is parsed, before the command's own callback would do its work.
  app.parse_complete_callback([] { throw CLI::Success(); });
  for (CLI::Option* option : command->get_options()) {
    option->required(false);
    if (option->get_default_str().empty() && option->get_items_expected_max() > 0) option->capture_default_str();
  }
  KAGENT_TRY(const Origins origins, apply_settings(app, name));
  std::vector<std::string> arguments{flags.rbegin(), flags.rend()};  // CLI11 takes them from the end
  arguments.push_back(name);
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Success&) {
  } catch (const CLI::ParseError& error) {
    return Error{ErrorKind::usage, error.what()};
  }
  std::vector<Row> rows;
  for (const CLI::Option* option : command->get_options()) {
    if (option->get_lnames().empty() || !can_be_set(name, option->get_lnames().front())) continue;
    Row row{option->get_lnames().front(), option->get_default_str(), "default"};
    if (const auto at = origins.find(row.flag); at != origins.end()) row.origin = at->second;
    if (option->count() > 0) {
      row.value = base::join(option->results(), ",");
      row.origin = "flag";
    }
    if (row.value.empty() && option->get_items_expected_max() == 0) row.value = "false";
    if (row.value == "0" && row.origin == "default") row.value.clear();  // where a limit has 0, it is none
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<std::string>> keys() {
  KAGENT_TRY(const auto root, sys::installation_root());
  return llm::keys_in_environment(root / "share/kagent");
}

void print_files() {
  auto files = settings_files();
  std::reverse(files.begin(), files.end());
  for (const SettingsFile& file : files) {
    std::error_code code;
    fmt::print("{}: {}\n", file.path.string(), std::filesystem::exists(file.path, code) ? "read" : "not there");
  }
}

wire::Json as_json(const std::string& name, const std::vector<Row>& rows) {
  wire::Json flags = wire::Json::object();
  for (const Row& row : rows) {
    flags[row.flag] = {{"value", row.value.empty() ? wire::Json(nullptr) : wire::Json(row.value)}, {"origin", row.origin}};
  }
  return {{"command", name}, {"flags", std::move(flags)}};
}

Result<void> show(const std::vector<std::string>& arguments, bool json) {
  std::vector<std::string> names{"optimize", "check", "baseline", "batch"};
  std::vector<std::string> flags;
  if (!arguments.empty()) {
    names = {arguments.front()};
    flags.assign(arguments.begin() + 1, arguments.end());
  }
  KAGENT_TRY(const auto found, keys());
  std::vector<std::pair<std::string, std::vector<Row>>> commands;
  for (const std::string& name : names) {
    KAGENT_TRY(auto rows, rows_of(name, flags));
    commands.emplace_back(name, std::move(rows));
  }
  wire::Json all = wire::Json::array();
  if (!json) print_files();
  for (const auto& [name, rows] : commands) {
    all.push_back(as_json(name, rows));
    if (json) continue;
    fmt::print("\nkagent {}\n", name);
    for (const Row& row : rows) {
      fmt::print("  {:<18} {:<24} {}\n", row.flag, row.value.empty() ? "-" : base::one_line(row.value, 80), row.origin);
    }
  }
  if (json) {
    fmt::print("{}\n", wire::dump({{"commands", all}, {"keys", found}}));
  } else {
    fmt::print("\nkeys in the environment: {}\n", found.empty() ? "none" : base::join(found, ", "));
  }
  return {};
}

}  // namespace

void add_config(CLI::App& app, int& exit_code_out) {
  auto* config = app.add_subcommand("config", "what is set, and where: flags, environment, kagent.toml");
  config->require_subcommand(1);
  auto* command = config->add_subcommand("show", "the value of each flag and where it comes from");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "one JSON object on stdout");
  command->prefix_command();
  command->footer("[COMMAND [FLAGS]] may follow: only that command, as if it were called with these flags.");
  command->callback([command, json, &exit_code_out] {
    const auto shown = show(command->remaining(), *json);
    exit_code_out = shown ? kSuccess : report_failure(shown.error(), *json);
  });
}

}  // namespace kagent::cli
