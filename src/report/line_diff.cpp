// SPDX-License-Identifier: Apache-2.0
#include "report/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/text.h"

#include <fmt/format.h>

namespace kagent::report {
namespace {

constexpr std::size_t kContext = 3;
constexpr std::size_t kMaxCells = 4'000'000;   // of the table of common lengths

struct Line {
  char kind;   // ' ', '-', '+'
  const std::string* text;
};

using Lines = std::vector<std::string>;

/// Longest common subsequence of a[from..a_end) and b[from..b_end), as edit lines.
void add_middle(const Lines& a, const Lines& b, std::size_t from, std::size_t a_end, std::size_t b_end, std::vector<Line>& edits) {
  const std::size_t rows = a_end - from, columns = b_end - from;
  std::size_t i = 0, j = 0;
  if (rows * columns <= kMaxCells) {
    std::vector<std::uint32_t> common((rows + 1) * (columns + 1));
    const auto at = [&](std::size_t row, std::size_t column) -> std::uint32_t& { return common[row * (columns + 1) + column]; };
    for (std::size_t row = rows; row-- > 0;) {
      for (std::size_t column = columns; column-- > 0;) {
        at(row, column) = a[from + row] == b[from + column] ? at(row + 1, column + 1) + 1
                                                            : std::max(at(row + 1, column), at(row, column + 1));
      }
    }
    while (i < rows && j < columns) {
      if (a[from + i] == b[from + j]) {
        edits.push_back({' ', &a[from + i]});
        ++i, ++j;
      } else if (at(i + 1, j) >= at(i, j + 1)) {
        edits.push_back({'-', &a[from + i++]});
      } else {
        edits.push_back({'+', &b[from + j++]});
      }
    }
  }
  while (i < rows) edits.push_back({'-', &a[from + i++]});
  while (j < columns) edits.push_back({'+', &b[from + j++]});
}

/// Hunks: changed lines with their context, neighbours joined.
std::string hunks(const std::vector<Line>& edits) {
  std::string text;
  std::size_t before = 1, after = 1;   // line numbers at edits[done]
  std::size_t done = 0;
  const auto skip_to = [&](std::size_t end) {
    for (; done < end; ++done) {
      before += edits[done].kind != '+' ? 1 : 0;
      after += edits[done].kind != '-' ? 1 : 0;
    }
  };
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].kind == ' ') continue;
    std::size_t last = i;
    for (std::size_t k = i; k < edits.size() && k <= last + 2 * kContext + 1; ++k) {
      if (edits[k].kind != ' ') last = k;
    }
    skip_to(std::max(done, i - std::min(i, kContext)));
    const std::size_t end = std::min(edits.size(), last + kContext + 1);
    std::size_t old_lines = 0, new_lines = 0;
    std::string body;
    for (std::size_t k = done; k < end; ++k) {
      old_lines += edits[k].kind != '+' ? 1 : 0;
      new_lines += edits[k].kind != '-' ? 1 : 0;
      body += edits[k].kind + *edits[k].text + "\n";
    }
    text += fmt::format("@@ -{},{} +{},{} @@\n", before, old_lines, after, new_lines) + body;
    skip_to(end);
    i = end - 1;
  }
  return text;
}

}  // namespace

std::string line_diff(const std::string& before, const std::string& after) {
  const Lines a = base::split_lines(before), b = base::split_lines(after);
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  std::size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  std::vector<Line> edits;
  for (std::size_t i = 0; i < head; ++i) edits.push_back({' ', &a[i]});
  add_middle(a, b, head, a.size() - tail, b.size() - tail, edits);
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) edits.push_back({' ', &a[i]});
  return hunks(edits);
}

std::string folder_diff(const std::map<std::string, std::string>& before, const std::map<std::string, std::string>& after) {
  std::map<std::string, std::pair<std::string, std::string>> files;
  for (const auto& [path, text] : before) files[path].first = text;
  for (const auto& [path, text] : after) files[path].second = text;
  std::string all;
  for (const auto& [path, texts] : files) {
    const std::string changes = line_diff(texts.first, texts.second);
    if (!changes.empty()) all += "--- " + base::one_line(path) + "\n" + changes;
  }
  return all;
}

}  // namespace kagent::report
