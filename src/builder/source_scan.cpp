// SPDX-License-Identifier: Apache-2.0
#include "builder/source_scan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "builder/spliced_text.h"

#include <fmt/format.h>

namespace kagent::builder {
namespace {

constexpr std::size_t kMaxFiles = 256;
constexpr std::size_t kMaxBytes = 16u << 20;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

/// A piece of the original text to be replaced; it keeps the number of its lines.
struct Replacement {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

class FileScan {
 public:
  FileScan(const Sources& sources, std::string name, const std::string& original, Splice rule)
      : sources_(sources), name_(std::move(name)), original_(original),
        view_(splice(original, rule)), text_(view_.text) {}

  std::optional<Fault> run() {
    for (std::size_t at = 0; at < text_.size(); ++at) {
      std::size_t after = at;
      if (text_[at] == '#') {
        after = at + 1;
      } else if (text_.compare(at, 2, "%:") == 0) {
        after = at + 2;
      } else if (text_.compare(at, 6, "__has_") == 0 && (at == 0 || !is_word(text_[at - 1]))) {
        if (auto fault = has_include(at)) return fault;
        continue;
      } else if (text_.compare(at, 7, "_Pragma") == 0) {
        if (auto fault = pragma(at)) return fault;
        continue;
      } else {
        continue;
      }
      if (auto fault = directive(at, after)) return fault;
    }
    return std::nullopt;
  }

  std::string rewritten() const {
    std::string result;
    std::size_t done = 0;
    for (const Replacement& replacement : replacements_) {
      result.append(original_, done, replacement.begin - done);
      result += replacement.text;
      done = replacement.end;
    }
    return result.append(original_, done);
  }

 private:
  Fault fault(std::size_t at, std::string message, std::string hint = {}) const {
    Fault result;
    result.kind = FaultKind::forbidden_op;
    result.at = {name_, view_.line(at, original_)};
    result.message = fmt::format("{}:{}: {}", name_, result.at.line, message);
    result.hint = std::move(hint);
    return result;
  }

  /// Over blanks and block comments.
  std::size_t skip_space(std::size_t at) const {
    while (at < text_.size()) {
      if (is_blank(text_[at])) {
        ++at;
      } else if (text_.compare(at, 2, "/*") == 0) {
        const std::size_t close = text_.find("*/", at + 2);
        if (close == std::string::npos) return text_.size();
        at = close + 2;
      } else {
        break;
      }
    }
    return at;
  }

  std::string word(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size() && is_word(text_[end])) ++end;
    return text_.substr(at, end - at);
  }

  /// Only blanks, or a comment's end, stand before it on its line.
  bool begins_line(std::size_t at) const {
    std::size_t begin = at;
    while (begin > 0 && is_blank(text_[begin - 1])) --begin;
    return begin == 0 || text_[begin - 1] == '\n' ||
           (begin > 1 && text_[begin - 1] == '/' && text_[begin - 2] == '*');
  }

  std::optional<Fault> directive(std::size_t at, std::size_t after) {
    const std::size_t start = skip_space(after);
    const std::string name = word(start);
    const bool live = begins_line(at) && !view_.comment[at];
    if (name == "include") return include(at, skip_space(start + name.size()), live);
    if (!live) return std::nullopt;
    if (name == "include_next" || name == "import" || name == "embed") {
      return fault(at, fmt::format("#{} is not allowed", name), "use a plain #include");
    }
    if (name == "line" || (!name.empty() && name[0] >= '0' && name[0] <= '9')) blank_line(at);
    if (name == "pragma") return pragma(at);
    return std::nullopt;
  }

  std::optional<Fault> pragma(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size() && text_[end] != '\n' && !view_.comment[end]) ++end;
    const std::string line = text_.substr(at, end - at);
    for (const char* word : {"dependency", "pch_preprocess", "include_alias", "hdrstop"}) {
      if (line.find(word) != std::string::npos) {
        return fault(at, fmt::format("#pragma {} is not allowed", word));
      }
    }
    return std::nullopt;
  }

  std::optional<Fault> include(std::size_t hash, std::size_t operand, bool live) {
    const char open = operand < text_.size() ? text_[operand] : '\n';
    if (open != '"' && open != '<') {
      if (!live) return std::nullopt;
      return fault(hash, "#include needs a file name written out, not a macro");
    }
    const std::size_t line_end = std::min(text_.find('\n', operand), text_.size());
    const std::size_t close = text_.find(open == '<' ? '>' : '"', operand + 1);
    if (close == std::string::npos || close > line_end) return std::nullopt;  // no include at all
    const std::string path = text_.substr(operand + 1, close - operand - 1);
    const std::string target = open == '"' ? source_named(path) : std::string();
    if (target.empty()) return outside(hash, path);
    if (live) replace(operand + 1, close, target);
    return std::nullopt;
  }

  std::optional<Fault> has_include(std::size_t at) const {
    const std::string name = word(at);
    if (name == "__has_embed") return fault(at, "__has_embed is not allowed");
    if (name != "__has_include" && name != "__has_include_next" && name != "__has_") {
      return std::nullopt;
    }
    std::size_t operand = skip_space(at + name.size());
    if (operand >= text_.size() || text_[operand] != '(') return std::nullopt;  // #ifdef, defined()
    operand = skip_space(operand + 1);
    const char open = operand < text_.size() ? text_[operand] : '\n';
    const std::size_t close = text_.find(open == '<' ? '>' : '"', operand + 1);
    if ((open != '"' && open != '<') || close == std::string::npos) {
      return view_.comment[at] ? std::nullopt
                               : std::optional(fault(at, "__has_include needs a file name written "
                                                         "out, not a macro"));
    }
    const std::string path = text_.substr(operand + 1, close - operand - 1);
    return source_named(path).empty() ? outside(at, path) : std::nullopt;
  }

  /// The source that a quoted path means as seen from this file, or "".
  std::string source_named(const std::string& path) const {
    const std::string folder = name_.substr(0, name_.rfind('/') + 1);
    for (const std::string& base : {folder, std::string(), std::string("kernels/")}) {
      const std::string candidate = path.empty() || path[0] == '/' ? "" : normal_path(base + path);
      if (!candidate.empty() && sources_.count(candidate) > 0) return candidate;
    }
    return {};
  }

  std::optional<Fault> outside(std::size_t at, const std::string& path) const {
    const bool escapes = path.empty() || path[0] == '/' || path.find('\\') != std::string::npos ||
                         path.find("/*") != std::string::npos ||
                         path.find("//") != std::string::npos || has_parent_part(path);
    if (!escapes) return std::nullopt;
    return fault(at, fmt::format("the include \"{}\" reaches outside the candidate",
                                 base::one_line(path, 120)),
                 "files under kernels/ may include each other and the toolkit's headers; see "
                 "docs/building-kernels.md");
  }

  static bool has_parent_part(const std::string& path) {
    const std::vector<std::string> parts = base::split(path, '/');
    return std::find(parts.begin(), parts.end(), "..") != parts.end();
  }

  void replace(std::size_t begin, std::size_t end, const std::string& text) {
    const std::size_t first = view_.origin[begin];
    const std::size_t last = view_.origin[end];
    if (!replacements_.empty() && first < replacements_.back().end) return;  // "#line 1 */ #line 2"
    std::string padded = text;
    for (auto lines = std::count(original_.begin() + static_cast<std::ptrdiff_t>(first),
                                 original_.begin() + static_cast<std::ptrdiff_t>(last), '\n');
         lines > 0; --lines) {
      padded += "\\\n";
    }
    replacements_.push_back({first, last, padded});
  }

  void blank_line(std::size_t at) { replace(at, std::min(text_.find('\n', at), text_.size()), ""); }

  const Sources& sources_;
  std::string name_;
  const std::string& original_;
  SplicedText view_;
  const std::string& text_;
  std::vector<Replacement> replacements_;
};

Fault unreadable(const std::string& name, const std::string& message) {
  Fault fault;
  fault.kind = FaultKind::build_failed;
  fault.at.file = name;
  fault.message = name.empty() ? message : name + ": " + message;
  return fault;
}

/// "\r\n" and a byte order mark are what editors leave behind; anything else odd is refused.
std::optional<Fault> normalise(const std::string& name, std::string& text) {
  if (text.compare(0, 3, "\xef\xbb\xbf") == 0) text.erase(0, 3);
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\0') return unreadable(name, "a source cannot hold NUL bytes");
    if (text[i] == '\r') {
      if (i + 1 < text.size() && text[i + 1] == '\n') continue;
      return unreadable(name, "a carriage return without a line feed");
    }
    if (text.compare(i, 3, "?\?/") == 0 || text.compare(i, 3, "?\?=") == 0) {
      return unreadable(name, "trigraphs are not allowed");
    }
    result.push_back(text[i]);
  }
  text = std::move(result);
  return std::nullopt;
}

std::optional<Fault> check_caps(const Sources& sources) {
  std::size_t bytes = 0;
  for (const auto& [name, text] : sources) {
    bytes += text.size();
    if (name.empty() || name.size() > 200 || normal_path(name) != name || name.find('"') != std::string::npos ||
        base::one_line(name) != name) {
      return unreadable("", fmt::format("'{}' is no name for a source: a relative path is needed",
                                        base::one_line(name, 80)));
    }
  }
  if (sources.size() > kMaxFiles) {
    return unreadable("", fmt::format("kernels/ has {} files; {} are allowed", sources.size(),
                                      kMaxFiles));
  }
  if (bytes > kMaxBytes) {
    return unreadable("", fmt::format("kernels/ holds {} MiB of text; 16 are allowed", bytes >> 20));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fault> check_reserved_names(const Sources& sources) {
  for (const auto& [name, text] : sources) {
    std::string joined;  // "a" "b" is "ab"
    for (const char c : splice(text, Splice::exact).text) {
      const bool blank = is_blank(c) || c == '\n';
      if (!blank && c != '"' && c != '#') joined.push_back(c);
    }
    if (joined.find("__cudart") == std::string::npos) continue;
    Fault fault = unreadable(name, "names that begin with __cudart are the toolkit's");
    fault.kind = FaultKind::forbidden_op;
    return fault;
  }
  return std::nullopt;
}

std::string normal_path(const std::string& path) {
  std::vector<std::string> kept;
  if (path.empty() || path[0] == '/' || path.find('\\') != std::string::npos) return {};
  for (const std::string& part : base::split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      kept.push_back(part);
    } else if (kept.empty()) {
      return {};
    } else {
      kept.pop_back();
    }
  }
  return base::join(kept, "/");
}

Checked<Sources> scan_sources(const Sources& sources) {
  if (auto fault = check_caps(sources)) return *fault;
  Sources result;
  for (const auto& [name, text] : sources) {
    std::string clean = text;
    if (auto fault = normalise(name, clean)) return *fault;
    FileScan exact(sources, name, clean, Splice::exact);
    if (auto fault = exact.run()) return *fault;
    FileScan forgiving(sources, name, clean, Splice::forgiving);
    if (auto fault = forgiving.run()) return *fault;
    result[name] = exact.rewritten();
  }
  return result;
}

}  // namespace kagent::builder
