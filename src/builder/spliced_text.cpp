// SPDX-License-Identifier: Apache-2.0
#include "builder/spliced_text.h"

#include <algorithm>

namespace kagent::builder {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Length of the line end that a backslash at `i` swallows, backslash included; 0 where none.
std::size_t continuation(std::string_view text, std::size_t i, Splice rule) {
  if (text[i] != '\\') return 0;
  std::size_t end = i + 1;
  if (rule == Splice::forgiving) {
    while (end < text.size() && (text[end] == ' ' || text[end] == '\t' || text[end] == '\v' ||
                                 text[end] == '\f')) {
      ++end;
    }
  }
  return end < text.size() && text[end] == '\n' ? end + 1 - i : 0;
}

/// Walks over the joined text and marks comments.
class CommentMarker {
 public:
  explicit CommentMarker(SplicedText& spliced) : text_(spliced.text), marks_(spliced.comment) {
    marks_.assign(text_.size(), false);
  }

  void run() {
    while (at_ < text_.size()) {
      if (starts("//")) {
        mark_until(text_.find('\n', at_));
      } else if (starts("/*")) {
        const std::size_t close = text_.find("*/", at_ + 2);
        mark_until(close == std::string::npos ? close : close + 2);
      } else if (text_[at_] == '"') {
        raw_prefix() ? skip_raw() : skip_quoted('"');
      } else if (text_[at_] == '\'' && !(at_ > 0 && is_word(text_[at_ - 1]) && !char_prefix())) {
        skip_quoted('\'');
      } else {
        ++at_;
      }
    }
  }

 private:
  bool starts(std::string_view word) const { return text_.compare(at_, word.size(), word) == 0; }

  void mark_until(std::size_t end) {
    end = std::min(end, text_.size());
    std::fill(marks_.begin() + static_cast<std::ptrdiff_t>(at_),
              marks_.begin() + static_cast<std::ptrdiff_t>(end), true);
    at_ = end;
  }

  std::string_view word_before() const {
    std::size_t begin = at_;
    while (begin > 0 && is_word(text_[begin - 1])) --begin;
    return std::string_view(text_).substr(begin, at_ - begin);
  }

  bool raw_prefix() const {
    const std::string_view word = word_before();
    return word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
  }

  bool char_prefix() const {
    const std::string_view word = word_before();
    return word == "L" || word == "u" || word == "U" || word == "u8";
  }

  void skip_raw() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string::npos || open - at_ > 17) return skip_quoted('"');
    const std::string close = ")" + text_.substr(at_ + 1, open - at_ - 1) + "\"";
    const std::size_t end = text_.find(close, open);
    at_ = end == std::string::npos ? text_.size() : end + close.size();
  }

  void skip_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote) {
        ++at_;
        return;
      }
    }
  }

  const std::string& text_;
  std::vector<bool>& marks_;
  std::size_t at_ = 0;
};

}  // namespace

int SplicedText::line(std::size_t position, std::string_view original) const {
  const std::size_t end = origin[std::min(position, text.size())];
  return 1 + static_cast<int>(std::count(original.begin(),
                                         original.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
}

SplicedText splice(std::string_view original, Splice rule) {
  SplicedText result;
  result.text.reserve(original.size());
  result.origin.reserve(original.size() + 1);
  for (std::size_t i = 0; i < original.size();) {
    if (const std::size_t skipped = continuation(original, i, rule); skipped > 0) {
      i += skipped;
      continue;
    }
    result.text.push_back(original[i]);
    result.origin.push_back(i);
    ++i;
  }
  result.origin.push_back(original.size());
  CommentMarker(result).run();
  return result;
}

}  // namespace kagent::builder
