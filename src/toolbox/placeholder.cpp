// SPDX-License-Identifier: Apache-2.0
#include "toolbox/placeholder.h"

#include "base/text.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace kagent::toolbox {
namespace {

/// What a line's comment says, in small letters, where the line is nothing but a comment.
std::string comment_of(const std::string& line) {
  std::string_view text = base::trim(line);
  bool comment = false;
  for (const std::string_view mark : {"//", "/*", "#"}) {
    if (text.substr(0, mark.size()) != mark) continue;
    comment = true;
    text.remove_prefix(mark.size());
    break;
  }
  if (!comment) return "";
  if (text.size() >= 2 && text.substr(text.size() - 2) == "*/") text.remove_suffix(2);
  return base::to_lower(std::string(base::trim(text)));
}

bool has(const std::string& text, std::string_view words) {
  return text.find(words) != std::string::npos;
}

bool stands_for_code(const std::string& comment) {
  std::string words;
  std::string bare;  // without brackets
  for (const char byte : comment) {
    const bool bracket = byte == '(' || byte == ')' || byte == '[' || byte == ']';
    if (!bracket) bare += byte;
    if (!bracket && byte != '.') words += byte;
  }
  bool dots = false;  // at either end: elsewhere they belong to a sentence
  for (const std::string_view mark : {"...", "…"}) {
    dots = dots || bare.rfind(mark, 0) == 0 ||
           (bare.size() >= mark.size() &&
            bare.compare(bare.size() - mark.size(), mark.size(), mark) == 0);
  }
  const auto contains = [&](std::initializer_list<std::string_view> all) {
    return std::any_of(all.begin(), all.end(),
                       [&](std::string_view each) { return has(words, each); });
  };
  const bool as_it_was =
      contains({"unchanged", "rest of", "existing", "same as before", "as before",
                "remains the same", "omitted", "previous code", "code above", "remaining code"});
  if (dots) return as_it_was;
  const std::string trimmed(base::trim(words));
  return trimmed.size() <= 60 &&
         contains({"rest of the code", "rest of code", "rest of the file", "rest of the kernel",
                   "rest of the function", "existing code", "code unchanged",
                   "code remains the same"});
}

}  // namespace

Placeholder find_placeholder(const std::string& text, const std::string& before) {
  const std::vector<std::string> lines = base::split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string comment = comment_of(lines[i]);
    if (comment.empty() || !stands_for_code(comment)) continue;
    if (has(before, base::trim(lines[i]))) continue;  // was there, and may stay
    return {i + 1, base::one_line(base::trim(lines[i]), 120)};
  }
  return {};
}

}  // namespace kagent::toolbox
