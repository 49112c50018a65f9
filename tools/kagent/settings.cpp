// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

#include "base/text.h"
#include "settings_file.h"
#include "sys/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kagent::cli {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

/// What judges: the same for every command that has it, and outside of tables.
const Names kJudging{"backend", "mode",     "numerics",  "over",   "compiler",
                     "min-gain", "allow-ops", "rounds", "sandbox", "quiet"};
/// What concerns the model and its budgets: outside of tables too.
const Names kModel{"model",       "base-url", "model-timeouts", "model-retries",    "protocol",  "temperature",
                   "top-p",       "effort",   "max-reply-tokens", "extra-body", "max-turns",      "max-tokens", "max-minutes",
                   "context",     "budget-usd", "max-gpu-seconds", "keep-going"};
/// What is said anew with each call.
const Names kOfOneCall{"help", "version", "json",  "resume", "check", "filter", "shard",
                       "junit", "dry-run", "task", "device", "audit"};
/// A folder that somebody else wrote must not send keys elsewhere, nor open the sandbox.
const Names kUsersOnly{"base-url", "sandbox"};
const Names kSecrets{"key", "api-key", "api_key", "apikey", "token"};

bool stands_outside_tables(const std::string& command, const std::string& flag) {
  if (kJudging.count(flag) != 0) return true;
  // A batch has its own ideas of these; its optimize jobs read them for themselves.
  return kModel.count(flag) != 0 && command == "optimize";
}

CLI::Option* option_of(CLI::App& app, const std::string& command, const std::string& flag) {
  CLI::App* found = find_command(app, command);
  return found == nullptr ? nullptr : found->get_option_no_throw("--" + flag);
}

/// The nearest of the names, where one is near: at most a third of the letters wrong.
std::string nearest(const std::string& word, const Names& names) {
  std::string best;
  std::size_t least = word.size() / 3 + 1;
  for (const std::string& name : names) {
    std::vector<std::size_t> row(name.size() + 1);
    for (std::size_t i = 0; i <= name.size(); ++i) row[i] = i;
    for (std::size_t i = 0; i < word.size(); ++i) {
      std::size_t corner = row[0]++;
      for (std::size_t k = 0; k < name.size(); ++k) {
        const std::size_t replaced = corner + (word[i] == name[k] ? 0 : 1);
        corner = row[k + 1];
        row[k + 1] = std::min({replaced, row[k] + 1, row[k + 1] + 1});
      }
    }
    if (row.back() < least) {
      least = row.back();
      best = name;
    }
  }
  return best;
}

Names known_keys(CLI::App& app, const std::string& command) {
  Names all;
  if (command.empty()) {
    all = kJudging;
    all.insert(kModel.begin(), kModel.end());
    return all;
  }
  for (const CLI::Option* option : app.get_subcommand(command)->get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (kOfOneCall.count(name) == 0) all.insert(name);
    }
  }
  return all;
}

Error wrong_at(const SettingsFile& file, const FileSetting& setting, const std::string& what) {
  return Error{ErrorKind::usage, fmt::format("{}:{}: {}", file.path.string(), setting.line, what)};
}

Result<void> check(CLI::App& app, const SettingsFile& file, const FileSetting& setting) {
  const std::string shown = base::one_line(setting.key, 60);
  if (!setting.command.empty() && find_command(app, setting.command) == nullptr) {
    Names commands;
    for (const CLI::App* each : app.get_subcommands([](CLI::App*) { return true; })) commands.insert(each->get_name());
    const std::string near = nearest(setting.command, commands);
    return wrong_at(file, setting, "no command is named \"" + base::one_line(setting.command, 60) + "\"" +
                                       (near.empty() ? "" : "; did you mean [" + near + "]?"));
  }
  if (kSecrets.count(base::to_lower(setting.key)) != 0 || setting.key.find("_API_KEY") != std::string::npos) {
    return wrong_at(file, setting, shown + ": keys come from the environment only, never from a file");
  }
  const Names known = known_keys(app, setting.command);
  if (known.count(setting.key) == 0) {
    const std::string near = nearest(setting.key, known);
    return wrong_at(file, setting, "unknown key \"" + shown + "\"" +
                                       (near.empty() ? "; kagent config show lists them" : "; did you mean \"" + near + "\"?"));
  }
  if (!file.users && kUsersOnly.count(setting.key) != 0) {
    return wrong_at(file, setting, shown + " may not stand in a project's file, only in " + settings_files().front().path.string() +
                                       ", the environment or a flag");
  }
  return {};
}

Result<void> apply(CLI::Option& option, const std::string& value, const std::string& flag, const std::string& origin) {
  try {
    option.run_callback_for_default();
    option.default_val(value);
  } catch (const CLI::Error& error) {
    std::string why = error.what();
    const std::string prefix = "--" + flag + ": ";
    if (why.rfind(prefix, 0) == 0) why.erase(0, prefix.size());
    return Error{ErrorKind::usage, origin + ": " + flag + ": " + base::one_line(why, 300)};
  }
  return {};
}

std::string variable_of(const std::string& flag) {
  std::string name = "KAGENT_";
  for (const char letter : flag) name += letter == '-' ? '_' : static_cast<char>(letter >= 'a' ? letter - 'a' + 'A' : letter);
  return name;
}

}  // namespace

std::vector<SettingsFile> settings_files() {
  std::string folder = sys::variable("XDG_CONFIG_HOME");
  if (folder.empty()) folder = sys::variable("HOME") + "/.config";
  return {{fs::path(folder) / "kagent/kagent.toml", true}, {"kagent.toml", false}};
}

CLI::App* find_command(CLI::App& app, const std::string& name) {
  const auto found = app.get_subcommands([&](CLI::App* each) { return each->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

bool can_be_set(const std::string& command, const std::string& flag) {
  return kOfOneCall.count(flag) == 0 && command != "config" && command != "skills";
}

Result<Origins> apply_settings(CLI::App& app, const std::string& command) {
  Origins origins;
  for (const SettingsFile& file : settings_files()) {
    std::error_code code;
    if (!fs::exists(file.path, code)) continue;
    KAGENT_TRY(const auto settings, read_settings_file(file.path));
    for (const FileSetting& setting : settings) KAGENT_TRY_VOID(check(app, file, setting));
    // What stands in the command's own table goes before what stands outside.
    for (const bool own : {false, true}) {
      for (const FileSetting& setting : settings) {
        if (setting.command != (own ? command : "") || !can_be_set(command, setting.key)) continue;
        if (!own && !stands_outside_tables(command, setting.key)) continue;
        CLI::Option* option = option_of(app, command, setting.key);
        if (option == nullptr) continue;
        const std::string origin = fmt::format("{}:{}", file.path.string(), setting.line);
        KAGENT_TRY_VOID(apply(*option, setting.value, setting.key, origin));
        origins[setting.key] = origin;
      }
    }
  }
  for (const Names* names : {&kJudging, &kModel}) {
    for (const std::string& flag : *names) {
      const std::string value = sys::variable(variable_of(flag));
      CLI::Option* option = option_of(app, command, flag);
      if (value.empty() || option == nullptr || !stands_outside_tables(command, flag)) continue;
      KAGENT_TRY_VOID(apply(*option, value, flag, variable_of(flag)));
      origins[flag] = variable_of(flag);
    }
  }
  return origins;
}

}  // namespace kagent::cli
