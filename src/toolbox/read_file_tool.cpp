// SPDX-License-Identifier: Apache-2.0
#include "toolbox/read_file_tool.h"

#include "base/text.h"
#include "toolbox/arguments.h"

#include <fmt/format.h>

#include <algorithm>

namespace kagent::toolbox {
namespace {

constexpr std::int64_t kMaxLines = 2000;
constexpr std::size_t kMaxBytes = 48u << 10;
constexpr std::size_t kMaxLineBytes = 2000;
constexpr std::size_t kMaxEntries = 1000;

const Parameters& parameters() {
  static const Parameters kParameters{
      {"path", ParameterType::text, Presence::required, "File or folder, relative to the workspace",
       0, 0},
      {"offset", ParameterType::integer, Presence::optional, "First line to show, from 1", 1},
      {"limit", ParameterType::integer, Presence::optional, "How many lines to show", 1,
       kMaxLines}};
  return kParameters;
}

/// Lines from `offset` on, and what remains after them.
std::string numbered(const std::vector<std::string>& lines, std::size_t offset, std::size_t limit) {
  std::string text;
  std::size_t number = offset;
  for (; number < offset + limit && number <= lines.size() && text.size() < kMaxBytes; ++number) {
    const std::string line = base::replace_invalid_utf8(lines[number - 1]);
    text += fmt::format("{:>6}\t{}\n", number, base::cap(line, kMaxLineBytes));
  }
  if (number <= lines.size()) {
    text += fmt::format("[… {} more lines; go on with offset {} …]\n", lines.size() - number + 1,
                        number);
  }
  return text;
}

}  // namespace

ToolSpec ReadFileTool::spec() const {
  return {"read_file",
          "Shows a file with line numbers (which are no part of it), or lists a folder. At most "
          "2000 lines or 48 KB at once.",
          schema_of(parameters())};
}

ToolOutcome ReadFileTool::run(const std::string& arguments) {
  auto checked = check_arguments(parameters(), arguments);
  if (auto* refusal = std::get_if<ToolOutcome>(&checked)) return *refusal;
  const auto& given = std::get<Arguments>(checked);
  const auto path = WorkspaceFiles::normalize(given.text("path"));
  if (!path) return failed(path.error().message);
  if (path->empty() || files_.folder().list(*path, kMaxEntries)) return list_folder(*path);
  const auto text = files_.read(*path);
  if (!text) return failed(text.error().message);
  const std::vector<std::string> lines = base::split_lines(*text);
  const auto offset = static_cast<std::size_t>(given.integer("offset", 1));
  const auto limit = static_cast<std::size_t>(given.integer("limit", kMaxLines));
  if (lines.empty()) return {*path + " is empty\n"};
  if (offset > lines.size()) {
    return failed(fmt::format("{} has only {} lines", *path, lines.size()));
  }
  return {numbered(lines, offset, limit)};
}

ToolOutcome ReadFileTool::list_folder(const std::string& path) const {
  const auto entries = files_.folder().list(path, kMaxEntries);
  if (!entries) return failed(entries.error().message);
  std::string text;
  for (const auto& entry : *entries) {
    const std::string name = base::one_line(entry.name);
    switch (entry.kind) {
      case sys::EntryKind::file:
        text += fmt::format("{}  {} bytes\n", name, entry.bytes);
        break;
      case sys::EntryKind::folder:
        text += name + "/\n";
        break;
      case sys::EntryKind::other:
        text += name + "  (not a regular file)\n";
        break;
    }
  }
  return {text.empty() ? "the folder is empty\n" : text};
}

}  // namespace kagent::toolbox
