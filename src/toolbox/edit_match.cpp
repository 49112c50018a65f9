// SPDX-License-Identifier: Apache-2.0
#include "toolbox/edit_match.h"

#include "base/text.h"

#include <algorithm>
#include <map>
#include <utility>

namespace kagent::toolbox {
namespace {

struct Line {
  std::size_t begin = 0;  // bytes in the file
  std::size_t end = 0;    // without the line's end
  std::string squeezed;   // without any white space
};

std::string squeeze(std::string_view text) {
  std::string squeezed;
  for (const char byte : text) {
    if (byte != ' ' && byte != '\t' && byte != '\r') squeezed += byte;
  }
  return squeezed;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t newline = std::min(text.find('\n', begin), text.size());
    std::size_t end = newline;
    if (end > begin && text[end - 1] == '\r') --end;
    lines.push_back({begin, end, squeeze(text.substr(begin, end - begin))});
    begin = newline + 1;
  }
  return lines;
}

std::string indentation(std::string_view line) {
  return std::string(line.substr(0, std::min(line.find_first_not_of(" \t"), line.size())));
}

std::vector<std::size_t> exact_matches(const std::string& file, const std::string& wanted) {
  std::vector<std::size_t> places;
  for (std::size_t at = file.find(wanted); at != std::string::npos;
       at = file.find(wanted, at + wanted.size())) {
    places.push_back(at);
  }
  return places;
}

/// Blank lines at both ends say nothing about where a text stands.
std::pair<std::size_t, std::size_t> without_blank_ends(const std::vector<Line>& lines) {
  std::size_t begin = 0;
  std::size_t end = lines.size();
  while (begin < end && lines[begin].squeezed.empty()) ++begin;
  while (end > begin && lines[end - 1].squeezed.empty()) --end;
  return {begin, end};
}

std::vector<std::size_t> line_matches(const std::vector<Line>& file,
                                      const std::vector<Line>& wanted) {
  std::vector<std::size_t> starts;
  if (wanted.empty() || wanted.size() > file.size()) return starts;
  for (std::size_t start = 0; start + wanted.size() <= file.size(); ++start) {
    const bool same =
        std::equal(wanted.begin(), wanted.end(), file.begin() + static_cast<long>(start),
                   [](const Line& a, const Line& b) { return a.squeezed == b.squeezed; });
    if (same) starts.push_back(start);
  }
  return starts;
}

/// The replacement with the indentation `from` exchanged for `to` on each line that has it.
std::string reindented(std::string_view text, const std::string& from, const std::string& to) {
  std::vector<std::string> lines = base::split(text, '\n');
  for (std::string& line : lines) {
    if (base::trim(line).empty()) continue;
    if (line.compare(0, from.size(), from) == 0) line = to + line.substr(from.size());
  }
  return base::join(lines, "\n");
}

std::string_view without_blank_lines_around(std::string_view text) {
  while (true) {
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos || !base::trim(text.substr(0, newline)).empty()) break;
    text.remove_prefix(newline + 1);
  }
  while (!text.empty() && base::trim(text.substr(text.rfind('\n') + 1)).empty()) {
    const std::size_t newline = text.rfind('\n');
    text = newline == std::string_view::npos ? std::string_view{} : text.substr(0, newline);
  }
  return text;
}

/// Dice coefficient over pairs of neighbouring bytes: 1 for equal texts, 0 for nothing in common.
double likeness(const std::string& a, const std::string& b) {
  if (a == b) return 1;
  if (a.size() < 2 || b.size() < 2) return 0;
  std::map<std::pair<char, char>, int> pairs;
  for (std::size_t i = 0; i + 1 < a.size(); ++i) ++pairs[{a[i], a[i + 1]}];
  int common = 0;
  for (std::size_t i = 0; i + 1 < b.size(); ++i) {
    const auto at = pairs.find({b[i], b[i + 1]});
    if (at != pairs.end() && at->second > 0) {
      --at->second;
      ++common;
    }
  }
  return 2.0 * common / static_cast<double>(a.size() + b.size() - 2);
}

EditMissing nearest(const std::vector<Line>& file, const std::vector<Line>& wanted) {
  constexpr std::size_t kLinesCompared = 4000;
  constexpr std::size_t kBytesCompared = 200;
  if (file.empty() || wanted.empty()) return {};
  const std::string first = wanted.front().squeezed.substr(0, kBytesCompared);
  double best_score = -1;
  std::size_t best = 0;
  for (std::size_t start = 0; start < std::min(file.size(), kLinesCompared); ++start) {
    double score = likeness(first, file[start].squeezed.substr(0, kBytesCompared));
    for (std::size_t i = 1; i < std::min<std::size_t>(wanted.size(), 20); ++i) {
      if (start + i < file.size() && file[start + i].squeezed == wanted[i].squeezed) score += 1;
    }
    if (score > best_score) {
      best_score = score;
      best = start;
    }
  }
  return {best + 1, std::min<std::size_t>({wanted.size() + 2, file.size() - best, 12})};
}

}  // namespace

std::size_t line_at(std::string_view file, std::size_t offset) {
  return 1 + static_cast<std::size_t>(
                 std::count(file.begin(), file.begin() + static_cast<long>(offset), '\n'));
}

std::variant<EditFound, EditAmbiguous, EditMissing> find_edit(const std::string& file,
                                                              const std::string& wanted,
                                                              const std::string& replacement,
                                                              Occurrences occurrences) {
  const auto exact = exact_matches(file, wanted);
  if (exact.size() == 1 || (!exact.empty() && occurrences == Occurrences::all)) {
    EditFound found;
    for (const std::size_t at : exact) {
      found.places.push_back({at, at + wanted.size(), replacement});
    }
    return found;
  }
  if (!exact.empty()) {
    EditAmbiguous ambiguous;
    for (const std::size_t at : exact) ambiguous.lines.push_back(line_at(file, at));
    return ambiguous;
  }
  const std::vector<Line> file_lines = lines_of(file);
  std::vector<Line> wanted_lines = lines_of(wanted);
  const auto [first, last] = without_blank_ends(wanted_lines);
  wanted_lines = {wanted_lines.begin() + static_cast<long>(first),
                  wanted_lines.begin() + static_cast<long>(last)};
  const auto starts = line_matches(file_lines, wanted_lines);
  if (starts.size() > 1) {
    EditAmbiguous ambiguous;
    for (const std::size_t start : starts) ambiguous.lines.push_back(start + 1);
    return ambiguous;
  }
  if (starts.empty()) return nearest(file_lines, wanted_lines);
  const Line& begin = file_lines[starts.front()];
  const Line& end = file_lines[starts.front() + wanted_lines.size() - 1];
  const std::string was = indentation(std::string_view(file).substr(begin.begin));
  const std::string thought = indentation(std::string_view(wanted).substr(wanted_lines[0].begin));
  EditFound found;
  found.rule = MatchRule::ignoring_white_space;
  found.places.push_back(
      {begin.begin, end.end, reindented(without_blank_lines_around(replacement), thought, was)});
  return found;
}

std::string apply_edit(const std::string& file, const EditFound& found) {
  std::string text;
  std::size_t done = 0;
  for (const Replacement& place : found.places) {
    text.append(file, done, place.begin - done);
    text += place.text;
    done = place.end;
  }
  text.append(file, done, std::string::npos);
  return text;
}

}  // namespace kagent::toolbox
