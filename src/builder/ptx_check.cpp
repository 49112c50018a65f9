// SPDX-License-Identifier: Apache-2.0
#include "builder/ptx_check.h"

#include <algorithm>
#include <set>
#include <vector>

namespace kagent::builder {
namespace {

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.';
}

/// Words (with their dots: "ld.global.f32", ".global", "%rd1") and single marks; no comments, no
/// strings (file names of .file directives).
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  std::string_view next() {
    skip();
    if (at_ >= text_.size()) return {};
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    if (at_ == begin) ++at_;
    return text_.substr(begin, at_ - begin);
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (text_.compare(at_, 2, "//") == 0) {
        at_ = std::min(text_.find_first_of(std::string_view("\n\0", 2), at_), text_.size());
      } else if (text_.compare(at_, 2, "/*") == 0) {
        const std::size_t close = text_.find("*/", at_ + 2);
        at_ = close == std::string_view::npos ? text_.size() : close + 2;
      } else if (text_[at_] == '"') {
        const std::size_t close = text_.find('"', at_ + 1);
        at_ = close == std::string_view::npos ? text_.size() : close + 1;
      } else if (static_cast<unsigned char>(text_[at_]) <= ' ') {
        ++at_;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

using Names = std::set<std::string_view>;

/// Every name that a .global declaration makes, at whatever depth: ".visible .global .align 4 .b8 name[16] = ...;"
Names declared_globals(std::string_view ptx) {
  Names names;
  Words words(ptx);
  bool declaring = false;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word == ".global") {
      declaring = true;
    } else if (declaring && (word == ";" || word == "=")) {
      declaring = false;
    } else if (declaring && word[0] != '.' && word[0] != '%' && is_name(word[0]) &&
               !(word[0] >= '0' && word[0] <= '9')) {
      names.insert(word);
    }
  }
  return names;
}

bool is_libdevice_table(std::string_view name) {
  return name == "__cudart_i2opi_f" || name == "__cudart_i2opi_d" || name == "__cudart_sin_cos_coeffs";
}

}  // namespace

std::string reachable_global(std::string_view ptx) {
  const Names globals = declared_globals(ptx);
  Words words(ptx);
  std::vector<Names> registers(1);  // of each open brace: inline assembly may reuse a global's name
  const auto is_register = [&](std::string_view word) {
    return std::any_of(registers.begin(), registers.end(),
                       [&](const Names& names) { return names.count(word) > 0; });
  };
  bool initialiser = false;  // braces of "= {1, 2}" are no body
  bool declaring = false;    // ".reg .b32 a, b;"
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    const bool outside = registers.size() == 1;
    if (word == "=" && outside) initialiser = true;
    if (word == ";" && outside) initialiser = false;
    if (initialiser) continue;
    if (word == ".reg") declaring = true;
    if (word == ";") declaring = false;
    if (word == "{") registers.emplace_back();
    if (word == "}" && !outside) registers.pop_back();
    if (outside || globals.count(word) == 0 || is_libdevice_table(word)) continue;
    if (declaring) {
      registers.back().insert(word);
    } else if (!is_register(word)) {
      return std::string(word);
    }
  }
  return {};
}

bool takes_address_of_constants(std::string_view ptx) {
  Words words(ptx);
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word.substr(0, 10) == "cvta.const") return true;
  }
  return false;
}

}  // namespace kagent::builder
