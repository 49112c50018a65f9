// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "wire/json.h"

#include <algorithm>
#include <string_view>

namespace kagent::wire {
namespace {

constexpr std::size_t kMaxNesting = 64;
constexpr std::size_t kMaxJsonValues = 4'000'000;

std::string place(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, std::min(at, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return "line " + std::to_string(line) + ", column " +
         std::to_string(before.size() - line_start + 1);
}

/// Looks at brackets and commas before any memory is taken: a small hostile text could otherwise
/// become a tree that is a hundred times as large. "" where all is well.
std::string too_large(std::string_view text) {
  std::size_t depth = 0;
  std::size_t values = 1;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') {
      if (++depth > kMaxNesting) {
        return place(text, at) + ": nested deeper than " + std::to_string(kMaxNesting);
      }
      ++values;
    }
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == ',') ++values;
    if (values > kMaxJsonValues) {
      return place(text, at) + ": more than " + std::to_string(kMaxJsonValues) + " values";
    }
  }
  return {};
}

/// "[json.exception.parse_error.101] parse error at line 1, column 2: X" -> "X"
std::string without_prefix(const std::string& message) {
  const std::size_t colon = message.find(": ");
  return base::one_line(colon == std::string::npos ? message : message.substr(colon + 2), 200);
}

}  // namespace

Result<Json> parse_text(const std::string& text, const std::string& what) {
  if (std::string problem = too_large(text); !problem.empty()) {
    return Error{ErrorKind::internal, what + ": not JSON that can be read: " + problem};
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::size_t at = error.byte > 0 ? error.byte - 1 : 0;
    return Error{ErrorKind::internal, what + ": not valid JSON: " + place(text, at) + ": " +
                                          without_prefix(error.what())};
  } catch (const Json::exception& error) {  // numbers out of range
    return Error{ErrorKind::internal,
                 what + ": not valid JSON: " + base::one_line(error.what(), 200)};
  }
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kagent::wire
