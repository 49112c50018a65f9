// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "report/render.h"

namespace kagent::report {
namespace {

std::string cell(const std::string& raw, bool is_number) {
  std::string text = base::replace_invalid_utf8(raw);
  if (!is_number && !text.empty() && std::string("=+-@\t\r").find(text.front()) != std::string::npos) text = "'" + text;
  if (text.find_first_of("\",\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string render_csv(const Document& document) {
  const Table& table = document.figures;
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) text += (i == 0 ? "" : ",") + cell(table.columns[i].name, false);
  text += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + cell(row[i], table.columns[i].is_number);
    text += "\n";
  }
  return text;
}

}  // namespace kagent::report
