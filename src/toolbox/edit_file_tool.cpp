// SPDX-License-Identifier: Apache-2.0
#include "toolbox/edit_file_tool.h"

#include "base/text.h"
#include "toolbox/arguments.h"
#include "toolbox/edit_match.h"
#include "toolbox/placeholder.h"

#include <fmt/format.h>

#include <algorithm>

namespace kagent::toolbox {
namespace {

constexpr std::size_t kMaxSnippetLines = 24;
constexpr std::size_t kMaxLineBytes = 300;

const Parameters& parameters() {
  static const Parameters kParameters{
      {"path", ParameterType::text, Presence::required, "File, relative to the workspace", 0, 0},
      {"old", ParameterType::text, Presence::required,
       "Text as it stands in the file, without line numbers; must stand there exactly once", 0, 0},
      {"new", ParameterType::text, Presence::required, "What to put there instead", 0, 0},
      {"all", ParameterType::flag, Presence::optional, "Replace every place where it stands", 0,
       0}};
  return kParameters;
}

std::string snippet(const std::string& text, std::size_t first_line, std::size_t count) {
  const std::vector<std::string> lines = base::split_lines(text);
  std::string shown;
  const std::size_t last =
      std::min({first_line + count, first_line + kMaxSnippetLines, lines.size() + 1});
  for (std::size_t number = first_line; number < last; ++number) {
    shown += fmt::format("{:>6}\t{}\n", number,
                         base::cap(base::replace_invalid_utf8(lines[number - 1]), kMaxLineBytes));
  }
  return shown;
}

ToolOutcome ambiguous(const std::string& path, const EditAmbiguous& match) {
  std::vector<std::string> lines;
  for (const std::size_t line : match.lines) {
    if (lines.size() == 10) break;
    lines.push_back(std::to_string(line));
  }
  return failed(
      fmt::format("\"old\" stands {} times in {} (lines {}{}); give more lines around it, or "
                  "set \"all\"; nothing was changed",
                  match.lines.size(), path, base::join(lines, ", "),
                  match.lines.size() > lines.size() ? ", …" : ""));
}

ToolOutcome missing(const std::string& path, const std::string& text, const EditMissing& match) {
  std::string message = fmt::format("\"old\" does not stand in {}; nothing was changed.", path);
  if (match.count > 0) {
    message += " The nearest lines are\n" + snippet(text, match.first_line, match.count);
  } else if (text.empty()) {
    message += " The file is empty.";
  }
  return failed(message);
}

std::string report(const std::string& path, const std::string& text, const EditFound& found) {
  const Replacement& first = found.places.front();
  const std::size_t line = line_at(text, std::min(first.begin, text.size()));
  const auto lines_added =
      static_cast<std::size_t>(std::count(first.text.begin(), first.text.end(), '\n')) + 1;
  std::string message = "edited " + path;
  if (found.places.size() > 1)
    message += fmt::format(" in {} places, the first", found.places.size());
  message += fmt::format(" at line {}", line);
  if (found.rule == MatchRule::ignoring_white_space) {
    message += " (matched ignoring white space; indented as the file is)";
  }
  const std::size_t from = line > 2 ? line - 2 : 1;
  return message + "\n" + snippet(text, from, line - from + lines_added + 2);
}

}  // namespace

ToolSpec EditFileTool::spec() const {
  return {"edit_file",
          "Replaces text in a file. \"old\" must stand in the file exactly once; where the match "
          "fails, the nearest lines are shown and nothing is changed.",
          schema_of(parameters())};
}

ToolOutcome EditFileTool::run(const std::string& arguments) {
  auto checked = check_arguments(parameters(), arguments);
  if (auto* refusal = std::get_if<ToolOutcome>(&checked)) return *refusal;
  const auto& given = std::get<Arguments>(checked);
  const std::string wanted = given.text("old");
  const std::string replacement = given.text("new");
  if (wanted.empty()) return failed("\"old\" is empty; use write_file to write a whole file");
  if (wanted == replacement) return failed("\"old\" and \"new\" are the same; nothing was changed");
  if (const auto found = find_placeholder(replacement, wanted); found.line > 0) {
    return failed(
        fmt::format("line {} of \"new\" stands for code that is left out: {}\nThe file would lack "
                    "it. Write all of "
                    "it, or replace less; nothing was changed",
                    found.line, found.text));
  }
  const auto path = WorkspaceFiles::normalize(given.text("path"));
  if (!path) return failed(path.error().message);
  // Not through files_: what the model has not seen must not count as seen.
  const auto text = files_.folder().read(*path, 4u << 20);
  if (!text) return failed(text.error().message);
  if (files_.changed_since_seen(*path, *text)) {
    return failed(*path + " has changed since you last read or wrote it; read it again, then edit");
  }
  const auto match = find_edit(*text, wanted, replacement,
                               given.flag("all") ? Occurrences::all : Occurrences::only_one);
  if (const auto* several = std::get_if<EditAmbiguous>(&match)) return ambiguous(*path, *several);
  if (const auto* none = std::get_if<EditMissing>(&match)) return missing(*path, *text, *none);
  const auto& found = std::get<EditFound>(match);
  const std::string edited = apply_edit(*text, found);
  if (auto written = files_.write(*path, edited); !written) return failed(written.error().message);
  return {report(*path, edited, found)};
}

}  // namespace kagent::toolbox
