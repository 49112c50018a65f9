// SPDX-License-Identifier: Apache-2.0
#include "toolbox/output_text.h"

#include "base/text.h"

#include <algorithm>

namespace kagent::toolbox {
namespace {

constexpr char kEscape = '\x1b';

/// Length of the escape sequence at the start of `text`, which begins with ESC.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  if (text[1] == '[') {  // CSI: parameters, then one byte from @ to ~
    std::size_t end = 2;
    while (end < text.size() && (text[end] < '@' || text[end] > '~')) ++end;
    return std::min(end + 1, text.size());
  }
  if (text[1] == ']') {  // OSC: up to BEL or ESC backslash
    for (std::size_t end = 2; end < text.size(); ++end) {
      if (text[end] == '\a') return end + 1;
      if (text[end] == kEscape) return std::min(end + 2, text.size());
      if (text[end] == '\n') return end;
    }
    return text.size();
  }
  return 2;
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

std::string clean_output(std::string_view raw) {
  std::string text;
  std::size_t line_start = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const char byte = raw[i];
    if (byte == kEscape) {
      i += escape_length(raw.substr(i)) - 1;
    } else if (byte == '\n') {
      text += byte;
      line_start = text.size();
    } else if (byte == '\r') {
      const bool line_ends = i + 1 == raw.size() || raw[i + 1] == '\n' || raw[i + 1] == '\r';
      if (!line_ends) text.resize(line_start);
    } else if (byte == '\t' || static_cast<unsigned char>(byte) >= 0x20) {
      if (byte != '\x7f') text += byte;
    }
  }
  return base::replace_invalid_utf8(text);
}

std::string cap_output(const std::string& text, std::size_t max_bytes, const std::string& log) {
  if (text.size() <= max_bytes) return text;
  std::size_t head = max_bytes * 2 / 5;
  std::size_t tail_start = text.size() - (max_bytes - head);
  // A line border within the last tenth is nearer to what a reader wants than the exact byte.
  const std::size_t slack = max_bytes / 10;
  const std::size_t head_line = text.rfind('\n', head);
  if (head_line != std::string::npos && head - head_line <= slack) head = head_line + 1;
  const std::size_t tail_line = text.find('\n', tail_start);
  if (tail_line != std::string::npos && tail_line - tail_start <= slack) tail_start = tail_line + 1;
  while (head > 0 && is_continuation(text[head])) --head;
  while (tail_start < text.size() && is_continuation(text[tail_start])) ++tail_start;
  std::string marker = "[… " + std::to_string(tail_start - head) + " bytes left out";
  if (!log.empty()) marker += "; all of it is in " + log;
  marker += " …]\n";
  std::string capped = text.substr(0, head);
  if (!capped.empty() && capped.back() != '\n') capped += '\n';
  return capped + marker + text.substr(tail_start);
}

}  // namespace kagent::toolbox
