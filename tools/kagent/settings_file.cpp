// SPDX-License-Identifier: Apache-2.0
#include "settings_file.h"

#include "base/text.h"
#include "sys/files.h"

#include <fmt/format.h>

#include <algorithm>

#if KAGENT_HAVE_TOML
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>
#endif

namespace kagent::cli {

#if KAGENT_HAVE_TOML
namespace {

constexpr std::size_t kMaxBytes = 64u << 10;

Error wrong_at(const std::filesystem::path& path, const toml::source_position& at, const std::string& what) {
  return Error{ErrorKind::usage, fmt::format("{}:{}: {}", path.string(), at.line, base::one_line(what, 300))};
}

/// What stands for the value on a command line; "" for what cannot.
std::string scalar(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  return "";
}

Result<std::string> value_of(const std::filesystem::path& path, const std::string& key, const toml::node& node) {
  std::vector<std::string> parts;
  if (const auto* list = node.as_array()) {
    for (const toml::node& item : *list) parts.push_back(scalar(item));
    const bool fits = std::none_of(parts.begin(), parts.end(), [](const std::string& part) {
      return part.empty() || part.find(',') != std::string::npos;
    });
    if (fits && !parts.empty()) return base::join(parts, ",");
  } else if (std::string text = scalar(node); !text.empty()) {
    return text;
  }
  return wrong_at(path, node.source().begin, key + ": expected a text, a number, true or false, or a list of texts");
}

Result<void> take_table(const std::filesystem::path& path, const std::string& command, const toml::table& table,
                        std::vector<FileSetting>& settings) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const int line = static_cast<int>(key.source().begin.line);
    if (const auto* inner = node.as_table()) {
      if (!command.empty()) return wrong_at(path, key.source().begin, "[" + command + "." + name + "]: no table goes into another");
      KAGENT_TRY_VOID(take_table(path, name, *inner, settings));
      continue;
    }
    KAGENT_TRY(std::string value, value_of(path, name, node));
    settings.push_back({command, name, std::move(value), line});
  }
  return {};
}

}  // namespace

Result<std::vector<FileSetting>> read_settings_file(const std::filesystem::path& path) {
  KAGENT_TRY(const std::string text, sys::read_file(path, kMaxBytes));
  std::vector<FileSetting> settings;
  try {
    const toml::table table = toml::parse(text, path.string());
    KAGENT_TRY_VOID(take_table(path, "", table, settings));
  } catch (const toml::parse_error& error) {
    return wrong_at(path, error.source().begin, "not TOML: " + std::string(error.description()));
  }
  // The file's order, so that of several mistakes the first is named.
  std::stable_sort(settings.begin(), settings.end(),
                   [](const FileSetting& left, const FileSetting& right) { return left.line < right.line; });
  return settings;
}

#else

Result<std::vector<FileSetting>> read_settings_file(const std::filesystem::path& path) {
  return Error{ErrorKind::usage, path.string() + ": this kagent was built without a TOML reader; build it where "
                                                 "libtomlplusplus-dev is installed, or use flags"};
}

#endif

}  // namespace kagent::cli
