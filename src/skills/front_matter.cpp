// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "skills/skill.h"

namespace kagent::skills {
namespace {

/// A plain or quoted scalar of one line.
std::string unquoted(std::string_view text) {
  text = base::trim(text);
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front()) {
    text = text.substr(1, text.size() - 2);
  }
  return std::string(text);
}

bool is_indented(const std::string& line) { return !line.empty() && (line[0] == ' ' || line[0] == '\t'); }

}  // namespace

FrontMatter read_front_matter(const std::string& text) {
  FrontMatter front;
  if (text.rfind("---\n", 0) != 0 && text.rfind("---\r\n", 0) != 0) return front;
  std::string* open = nullptr;  // a value that goes on in indented lines
  std::size_t at = text.find('\n') + 1;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    at = std::min(end + 1, text.size());
    if (line == "---") {
      front.length = at;
      return front;
    }
    if (is_indented(line)) {
      if (open != nullptr) *open += (open->empty() ? "" : " ") + std::string(base::trim(line));
      continue;
    }
    open = nullptr;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key(base::trim(line.substr(0, colon)));
    if (key == "name") open = &front.name;
    if (key == "description") open = &front.description;
    if (open == nullptr) continue;
    *open = unquoted(line.substr(colon + 1));
    if (!open->empty() && (open->front() == '>' || open->front() == '|')) open->clear();  // a block of lines follows
  }
  return {};  // it never ends: all of it is text
}

}  // namespace kagent::skills
