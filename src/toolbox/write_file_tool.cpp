// SPDX-License-Identifier: Apache-2.0
#include "toolbox/write_file_tool.h"

#include "base/text.h"
#include "toolbox/arguments.h"
#include "toolbox/placeholder.h"

#include <fmt/format.h>

namespace kagent::toolbox {
namespace {

const Parameters& parameters() {
  static const Parameters kParameters{
      {"path", ParameterType::text, Presence::required, "File, relative to the workspace", 0, 0},
      {"text", ParameterType::text, Presence::required, "The whole new content", 0, 0}};
  return kParameters;
}

}  // namespace

ToolSpec WriteFileTool::spec() const {
  return {"write_file",
          "Writes a whole file (never a part of it), replacing what was there. For small changes "
          "use edit_file.",
          schema_of(parameters())};
}

ToolOutcome WriteFileTool::run(const std::string& arguments) {
  auto checked = check_arguments(parameters(), arguments);
  if (auto* refusal = std::get_if<ToolOutcome>(&checked)) return *refusal;
  const auto& given = std::get<Arguments>(checked);
  const auto path = WorkspaceFiles::normalize(given.text("path"));
  if (!path) return failed(path.error().message);
  const std::string text = given.text("text");
  const auto before = files_.folder().read(*path, 4u << 20);
  if (const auto found = find_placeholder(text, before ? *before : ""); found.line > 0) {
    return failed(fmt::format(
        "line {} stands for code that is left out: {}\nThe file would lack it. Write all of it, or "
        "change a part with edit_file; nothing was written",
        found.line, found.text));
  }
  if (auto written = files_.write(*path, text); !written) return failed(written.error().message);
  return {fmt::format("wrote {}: {} lines, {} bytes", *path, base::split_lines(text).size(),
                      text.size())};
}

}  // namespace kagent::toolbox
