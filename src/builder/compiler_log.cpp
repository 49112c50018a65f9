// SPDX-License-Identifier: Apache-2.0
#include "builder/compiler_log.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "builder/parameters.h"
#include "builder/spliced_text.h"

#include <fmt/format.h>

namespace kagent::builder {
namespace {

constexpr std::size_t kMaxLog = 16u << 10;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The number that ends right before `suffix`, e.g. 40 in "…, 40 bytes smem".
std::int64_t number_before(std::string_view line, std::string_view suffix) {
  const std::size_t end = line.find(suffix);
  if (end == std::string_view::npos) return 0;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int64_t value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

std::string between(const std::string& line, const std::string& open, char close) {
  const std::size_t begin = line.find(open);
  if (begin == std::string::npos) return {};
  const std::size_t end = line.find(close, begin + open.size());
  return line.substr(begin + open.size(), end == std::string::npos ? end : end - begin - open.size());
}

struct Diagnostic {
  std::string file;
  int line = 0;
  std::string message;
};

/// "kernels/a.cu(12): error: words" (NVRTC, nvcc) or "kernels/a.cpp:12:3: error: words" (g++).
std::optional<Diagnostic> parse_error(const std::string& line) {
  std::size_t word = std::string::npos;
  std::size_t length = 0;
  for (const std::string_view kind : {": catastrophic error", ": fatal error: ", ": error"}) {
    word = line.find(kind);
    length = kind.size();
    if (word != std::string::npos) break;
  }
  if (word == std::string::npos) return std::nullopt;
  Diagnostic result;
  std::size_t begin = word + length;
  if (const std::size_t colon = line.find(": ", begin - 2); colon != std::string::npos) {
    begin = colon + 2;  // past "error #20: "
  }
  result.message = line.substr(std::min(begin, line.size()));
  const std::string place = line.substr(0, word);
  const std::size_t bracket = place.rfind('(');
  const std::size_t split = bracket != std::string::npos && !place.empty() && place.back() == ')'
                                ? bracket
                                : place.find(':');
  result.file = place.substr(0, split);
  if (split != std::string::npos) {
    std::from_chars(place.data() + split + 1, place.data() + place.size(), result.line);
  }
  return result;
}

/// What to try, where the words of the error tell.
std::string hint_for(const std::string& message) {
  if (contains(message, "cannot open source file \"cuda/") ||
      contains(message, "cannot open source file \"cub/")) {
    return "CCCL (cuda/..., cub/...) is not installed here: the CUDA toolkit brings it; without it, "
           "use cooperative_groups.h, cuda_pipeline.h or inline PTX";
  }
  if (contains(message, "cannot open source file") || contains(message, "No such file")) {
    return "device code sees the CUDA toolkit's headers, the small C++ headers listed in "
           "docs/building-kernels.md and the files under kernels/; host headers (torch, iostream, "
           "vector) do not belong into a kernel; --compiler nvcc has the whole C++ library";
  }
  if (contains(message, "host function") || contains(message, "without execution space") ||
      contains(message, "host variable") || contains(message, "__host__")) {
    return "kernels/*.cu hold device code only: mark functions __device__ and leave launching to "
           "model_new.py; --compiler nvcc accepts host code";
  }
  if (contains(message, "<<<") || contains(message, "kernel launch")) {
    return "a kernel is launched from model_new.py: k[grid, block](...)";
  }
  return {};
}

bool is_ours(std::string_view line) {
  return contains(line, kProbeNamespace) || contains(line, "__nv_name_map") ||
         contains(line, "nv_mangled_name");
}

}  // namespace

std::map<std::string, Usage> resource_usage(const std::string& log) {
  std::map<std::string, Usage> result;
  std::string kernel;
  for (const std::string& line : base::split_lines(log)) {
    if (contains(line, "Compiling entry function")) {
      kernel = between(line, "entry function '", '\'');
    } else if (contains(line, "Function properties for")) {
      const std::string name = between(line, "Function properties for ", '\n');
      if (name != kernel) kernel.clear();  // a device function that was not inlined
    } else if (!kernel.empty() && contains(line, "bytes spill stores")) {
      result[kernel].spill_store_bytes = static_cast<int>(number_before(line, " bytes spill stores"));
      result[kernel].spill_load_bytes = static_cast<int>(number_before(line, " bytes spill loads"));
    } else if (!kernel.empty() && contains(line, "registers")) {
      result[kernel].registers = static_cast<int>(number_before(line, " registers"));
      result[kernel].shared_bytes = number_before(line, " bytes smem");
    }
  }
  return result;
}

std::string readable_log(const std::string& log, const std::vector<std::string>& hidden) {
  std::string result;
  bool skipping = false;  // the quoted source lines below a message about a probe
  for (std::string line : base::split_lines(log)) {
    if (line.rfind("ptxas info", 0) == 0 || line.rfind("ptxas         .", 0) == 0 ||
        (line.rfind("    ", 0) == 0 && contains(line, "bytes spill stores"))) {
      continue;
    }
    if (contains(line, " detected in the compilation of ") || line == "Compilation terminated.") continue;
    if (is_ours(line)) {
      skipping = true;
      continue;
    }
    if (skipping && (line.empty() || line[0] == ' ')) continue;
    skipping = false;
    for (const std::string& folder : hidden) {
      for (std::size_t at; !folder.empty() && (at = line.find(folder)) != std::string::npos;) {
        line.erase(at, folder.size() + (line.compare(at + folder.size(), 1, "/") == 0 ? 1 : 0));
      }
    }
    result += line + "\n";
  }
  while (!result.empty() && (result.back() == '\n' || result.back() == ' ')) result.pop_back();
  return base::replace_invalid_utf8(base::cap(result, kMaxLog));
}

bool has_error(const std::string& readable) {
  const std::vector<std::string> lines = base::split_lines(readable);
  return std::any_of(lines.begin(), lines.end(),
                     [](const std::string& line) { return parse_error(line).has_value(); });
}

Fault compile_fault(const std::string& readable, const std::string& source) {
  Fault fault;
  fault.kind = FaultKind::build_failed;
  fault.at.file = source;
  fault.detail = readable;
  for (const std::string& line : base::split_lines(readable)) {
    const auto error = parse_error(line);
    if (!error) continue;
    if (!error->file.empty() && error->file.size() < 200) fault.at = {error->file, error->line};
    fault.message = base::one_line(error->message, 300);
    break;
  }
  if (fault.message.empty()) {
    const std::vector<std::string> lines = base::split_lines(readable);
    fault.message = lines.empty() ? "the compiler failed without a word"
                                  : base::one_line(lines.front(), 300);
  }
  fault.hint = hint_for(fault.message);
  fault.message = fault.at.line > 0
                      ? fmt::format("{}:{}: {}", fault.at.file, fault.at.line, fault.message)
                      : fmt::format("{}: {}", fault.at.file, fault.message);
  return fault;
}

namespace {

/// Words and single punctuation marks outside comments.
std::vector<std::string> tokens(const std::string& text) {
  const SplicedText view = splice(text, Splice::forgiving);
  std::vector<std::string> result;
  bool in_word = false;
  for (std::size_t i = 0; i < view.text.size() && result.size() < 2'000'000; ++i) {
    const char c = view.comment[i] ? ' ' : view.text[i];
    const bool word = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      (c >= '0' && c <= '9');
    if (word && in_word) {
      result.back().push_back(c);
    } else if (c != ' ' && c != '\n' && c != '\t') {
      result.emplace_back(1, c);
    }
    in_word = word;
  }
  return result;
}

}  // namespace

std::vector<std::string> kernel_names(const std::string& text, Backend backend) {
  const std::vector<std::string> all = tokens(text);
  const std::string marker = backend == Backend::cuda ? "__global__" : "void";
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i] != marker) continue;
    for (std::size_t j = i + 1; j + 1 < all.size() && j < i + 64; ++j) {
      if (all[j] == ";" || all[j] == "{") break;
      if (all[j + 1] == "(" && (all[j].rfind("__", 0) == 0)) {  // __launch_bounds__(...)
        int depth = 0;
        for (++j; j < all.size(); ++j) {
          depth += all[j] == "(" ? 1 : all[j] == ")" ? -1 : 0;
          if (depth == 0) break;
        }
      } else if (all[j + 1] == "(") {
        if (std::find(names.begin(), names.end(), all[j]) == names.end()) names.push_back(all[j]);
        break;
      }
    }
  }
  return names;
}

}  // namespace kagent::builder
