// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "report/render.h"

namespace kagent::report {
namespace {

/// One line in which nothing is markup, an HTML tag, a link or a table's border.
std::string inline_text(const std::string& raw, std::size_t cap = 1000) {
  std::string text;
  for (const char c : base::one_line(raw, cap)) {
    switch (c) {
      case '&': text += "&amp;"; break;
      case '<': text += "&lt;"; break;
      case '>': text += "&gt;"; break;
      case '@': text += "&#64;"; break;   // no one is to be told
      case '\\': case '`': case '*': case '_': case '[': case ']': case '|': case '#': case '~': case '!':
        text += '\\';
        text += c;
        break;
      default: text += c;
    }
  }
  return text;
}

/// A fence longer than any in the text.
std::string fenced(const std::string& body, const std::string& language) {
  std::size_t longest = 2, run = 0;
  for (const char c : body) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const std::string clean = base::replace_invalid_utf8(body);
  return fence + language + "\n" + clean + (clean.empty() || clean.back() == '\n' ? "" : "\n") + fence + "\n";
}

std::string show(const Heading& heading) {
  return std::string(static_cast<std::size_t>(heading.level), '#') + " " + inline_text(heading.text) + "\n";
}

std::string show(const Paragraph& paragraph) { return inline_text(paragraph.text, 4000) + "\n"; }

std::string show(const Facts& facts) {
  std::string text = "| | |\n| --- | --- |\n";
  for (const auto& [name, what] : facts.rows) text += "| " + inline_text(name) + " | " + inline_text(what) + " |\n";
  return text;
}

std::string show(const Table& table) {
  std::string text = "|";
  for (const auto& column : table.columns) text += " " + inline_text(column.name) + " |";
  text += "\n|";
  for (const auto& column : table.columns) text += column.is_number ? " ---: |" : " --- |";
  text += "\n";
  for (const auto& row : table.rows) {
    text += "|";
    for (const auto& cell : row) text += " " + inline_text(cell) + " |";
    text += "\n";
  }
  return text;
}

std::string show(const Chart&) { return ""; }

std::string show(const Fold& fold) {
  const char* language = fold.kind == Fold::Kind::difference ? "diff" : "";
  return "<details><summary>" + inline_text(fold.title) + "</summary>\n\n" + fenced(fold.body, language) + "\n</details>\n";
}

}  // namespace

std::string render_markdown(const Document& document) {
  std::string text = show(Heading{1, document.title});
  for (const auto& block : document.blocks) {
    const std::string shown = std::visit([](const auto& each) { return show(each); }, block);
    if (!shown.empty()) text += "\n" + shown;
  }
  return text;
}

std::string markdown_of(const Table& table) { return show(table); }

}  // namespace kagent::report
