// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/render.h"

#include <fmt/format.h>

namespace kagent::report {
namespace {

constexpr std::size_t kMaxCell = 100;
constexpr std::size_t kParagraphWidth = 110;
constexpr int kBarWidth = 40;
constexpr std::size_t kMaxBars = 40;   // more say nothing on a terminal

/// Characters rather than bytes: good enough for what stands in cells.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool to_the_right) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return to_the_right ? space + text : text + space;
}

std::string trimmed_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string show(const Heading& heading) {
  return "\n" + base::one_line(heading.text) + "\n" + std::string(width_of(base::one_line(heading.text)), heading.level == 1 ? '=' : '-') + "\n";
}

/// Broken between words.
std::string show(const Paragraph& paragraph) {
  std::string text, line;
  for (const auto& word : base::split(base::one_line(paragraph.text, 4000), ' ')) {
    if (!line.empty() && width_of(line) + 1 + width_of(word) > kParagraphWidth) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return text + line + "\n";
}

std::string show(const Facts& facts) {
  std::size_t width = 0;
  for (const auto& [name, what] : facts.rows) width = std::max(width, width_of(base::one_line(name)));
  std::string text;
  for (const auto& [name, what] : facts.rows) text += padded(base::one_line(name), width + 2, false) + base::one_line(what) + "\n";
  return text;
}

std::string show(const Table& table) {
  std::vector<std::size_t> widths;
  for (const auto& column : table.columns) widths.push_back(width_of(base::one_line(column.name)));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width_of(base::one_line(row[i], kMaxCell)));
  }
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) line += padded(base::one_line(table.columns[i].name), widths[i], table.columns[i].is_number) + "  ";
  std::string text = trimmed_end(line);
  for (const auto& row : table.rows) {
    line.clear();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      line += padded(base::one_line(row[i], kMaxCell), widths[i], table.columns[i].is_number) + "  ";
    }
    text += trimmed_end(line);
  }
  return text;
}

/// Bars from the left edge: on a terminal their order and rough size is what can be seen.
std::string show(const Chart& chart) {
  if (chart.kind == ChartKind::line || chart.series.empty() || chart.labels.size() > kMaxBars) return "";
  double largest = 0;
  std::size_t width = 0;
  for (const auto& value : chart.series[0].values) {
    if (std::isfinite(value.value)) largest = std::max(largest, value.value);
  }
  if (largest <= 0) return "";
  for (const auto& label : chart.labels) width = std::max(width, width_of(base::one_line(label, kMaxCell)));
  std::string text = base::one_line(chart.title) + " (" + base::one_line(chart.series[0].name) + ")\n";
  for (std::size_t i = 0; i < chart.labels.size(); ++i) {
    const double value = chart.series[0].values[i].value;
    std::string bar;
    if (std::isfinite(value)) {
      for (int k = 0; k < static_cast<int>(std::lround(kBarWidth * value / largest)); ++k) bar += "█";
      bar += fmt::format("{}{:.3g}", bar.empty() ? "" : " ", value);
    } else {
      bar = "-";
    }
    text += trimmed_end("  " + padded(base::one_line(chart.labels[i], kMaxCell), width + 2, false) + bar);
  }
  return text;
}

std::string show(const Fold& fold) {
  return "  [" + base::one_line(fold.title, kMaxCell) + fmt::format(": {} lines]\n", base::split_lines(fold.body).size());
}

}  // namespace

std::string render_text(const Document& document) {
  std::string text = show(Heading{1, document.title}).substr(1);
  for (const auto& block : document.blocks) {
    const std::string shown = std::visit([](const auto& each) { return show(each); }, block);
    const bool loose = !std::holds_alternative<Fold>(block) && !std::holds_alternative<Heading>(block);
    text += (loose && !shown.empty() ? "\n" : "") + shown;
  }
  return text;
}

std::string text_of(const Table& table) { return show(table); }
std::string text_of(const Paragraph& paragraph) { return show(paragraph); }

}  // namespace kagent::report
