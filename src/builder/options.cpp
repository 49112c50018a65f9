// SPDX-License-Identifier: Apache-2.0
#include "builder/options.h"

#include <array>
#include <optional>
#include <regex>
#include <string_view>

#include "base/text.h"

#include <fmt/format.h>

namespace kagent::builder {
namespace {

struct Rule {
  const char* pattern;                 // of the whole option
  const char* nvrtc;                   // how it is spelled there; "$0" the option, "$1" its value
  const char* nvcc;                    // nullptr: not for this compiler
  const char* host;
};

/// Defines come apart below; everything else is here.
constexpr std::array kRules = {
    Rule{"--?std=(c\\+\\+(?:17|20))", "-std=$1", "-std=$1", "-std=$1"},
    Rule{"-std=(c\\+\\+23)", nullptr, nullptr, "-std=$1"},
    Rule{"-O([0-3])", "--ptxas-options=-O$1", "--ptxas-options=-O$1", "-O$1"},
    Rule{"--?use_fast_math", "--use_fast_math", "--use_fast_math", nullptr},
    Rule{"--?maxrregcount=([0-9]{1,3})", "--maxrregcount=$1", "--maxrregcount=$1", nullptr},
    Rule{"--?fmad=(true|false)", "--fmad=$1", "--fmad=$1", nullptr},
    Rule{"--?ftz=(true|false)", "--ftz=$1", "--ftz=$1", nullptr},
    Rule{"--?prec-div=(true|false)", "--prec-div=$1", "--prec-div=$1", nullptr},
    Rule{"--?prec-sqrt=(true|false)", "--prec-sqrt=$1", "--prec-sqrt=$1", nullptr},
    Rule{"-lineinfo|--generate-line-info", "-lineinfo", "-lineinfo", nullptr},
    Rule{"--?default-device", "-default-device", nullptr, nullptr},
    Rule{"--?extra-device-vectorization", "--extra-device-vectorization",
         "--extra-device-vectorization", nullptr},
    Rule{"--?restrict", "--restrict", "--restrict", nullptr},
    Rule{"--expt-relaxed-constexpr", "", "--expt-relaxed-constexpr", nullptr},
    Rule{"--?extended-lambda", "", "--extended-lambda", nullptr},
    Rule{"(?:-Xptxas=|--ptxas-options=)(-O[0-3]|-dlcm=c[ag]|-v)", "--ptxas-options=$1",
         "--ptxas-options=$1", nullptr},
    Rule{"-Ofast|-ffast-math|-fno-math-errno|-fno-trapping-math|-fno-signed-zeros|"
         "-fassociative-math|-freciprocal-math|-ffinite-math-only|-funroll-loops|"
         "-fno-strict-aliasing|-funsafe-math-optimizations|-ffp-contract=(?:fast|off)|"
         "-fopenmp|-fopenmp-simd|-ftree-vectorize|-march=native|-mtune=native|"
         "-mprefer-vector-width=(?:128|256|512)|-fno-exceptions|-fno-rtti",
         nullptr, nullptr, "$0"},
};

constexpr const char* kDefine = "-D([A-Za-z_][A-Za-z0-9_]*)(?:=([A-Za-z0-9_ .:<>()+*/-]{0,200}))?";
constexpr const char* kUndefine = "-U([A-Za-z_][A-Za-z0-9_]*)";

const char* spelling(const Rule& rule, CompilerKind compiler) {
  switch (compiler) {
    case CompilerKind::nvrtc: return rule.nvrtc;
    case CompilerKind::nvcc: return rule.nvcc;
    case CompilerKind::host: return rule.host;
  }
  return nullptr;
}

/// ["-D", "N=4"] -> ["-DN=4"], ["-maxrregcount", "64"] -> ["-maxrregcount=64"].
std::vector<std::string> joined(const std::vector<std::string>& options) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& option = options[i];
    const bool has_next = i + 1 < options.size() && !options[i + 1].empty();
    if (has_next && (option == "-D" || option == "-U")) {
      result.push_back(option + options[++i]);
    } else if (option.rfind("--define-macro=", 0) == 0) {
      result.push_back("-D" + option.substr(15));
    } else if (has_next && options[i + 1][0] != '-' &&
               (option == "-std" || option == "--std" || option == "-maxrregcount" ||
                option == "--maxrregcount")) {
      result.push_back(option + "=" + options[++i]);
    } else if (has_next && (option == "-Xptxas" || option == "--ptxas-options")) {
      result.push_back(option + "=" + options[++i]);
    } else {
      result.push_back(option);
    }
  }
  return result;
}

Fault forbidden(const KernelRequest& kernel, const std::string& option, CompilerKind compiler) {
  constexpr const char* kCuda =
      "allowed: -D -U -O0..-O3 -std=c++17|c++20 --use_fast_math --maxrregcount= --fmad= --ftz= "
      "--prec-div= --prec-sqrt= --restrict --extra-device-vectorization -default-device -lineinfo";
  constexpr const char* kHost =
      "allowed: -D -U -O0..-O3 -Ofast -std=c++17|c++20|c++23 -ffast-math and its parts "
      "-funroll-loops -mprefer-vector-width=";
  Fault fault;
  fault.kind = FaultKind::forbidden_op;
  fault.at = kernel.at;
  const std::string where =
      kernel.at.file.empty() ? "" : fmt::format("{}:{}: ", kernel.at.file, kernel.at.line);
  fault.message = fmt::format("{}option '{}' of kernel {} is not allowed", where,
                              base::one_line(option, 80), base::one_line(kernel.name, 80));
  fault.hint = compiler == CompilerKind::host ? kHost : kCuda;
  return fault;
}

std::string expand(const std::string& form, const std::smatch& match) {
  if (form == "$0") return match.str(0);
  const std::size_t at = form.find("$1");
  return at == std::string::npos ? form : form.substr(0, at) + match.str(1) + form.substr(at + 2);
}

/// The option in the compiler's spelling; empty where it means nothing there.
std::optional<std::string> translate(const std::string& option, CompilerKind compiler) {
  static const std::vector<std::regex> patterns = [] {
    std::vector<std::regex> result;
    for (const Rule& rule : kRules) result.emplace_back(rule.pattern);
    return result;
  }();
  std::smatch match;
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    const char* form = spelling(kRules[i], compiler);
    if (form != nullptr && std::regex_match(option, match, patterns[i])) return expand(form, match);
  }
  return std::nullopt;
}

}  // namespace

Checked<CheckedOptions> check_options(const KernelRequest& kernel, CompilerKind compiler) {
  static const std::regex define(kDefine);
  static const std::regex undefine(kUndefine);
  CheckedOptions result;
  bool has_standard = false;
  bool has_level = false;
  if (kernel.options.size() > 64) return forbidden(kernel, "the 65th", compiler);
  for (const std::string& option : joined(kernel.options)) {
    if (option.size() > 400) return forbidden(kernel, option, compiler);
    std::smatch match;
    if (std::regex_match(option, match, define) && match.str(2).rfind("__has", 0) != 0) {
      result.defines.push_back(match.str(1));
      result.arguments.push_back(option);
      continue;
    }
    if (std::regex_match(option, match, undefine)) {
      result.arguments.push_back(option);
      continue;
    }
    const std::optional<std::string> translated = translate(option, compiler);
    if (!translated) return forbidden(kernel, option, compiler);
    if (translated->empty()) continue;
    has_standard = has_standard || translated->rfind("-std=", 0) == 0;
    has_level = has_level || translated->rfind("-O", 0) == 0;
    result.arguments.push_back(*translated);
  }
  if (!has_standard) result.arguments.push_back("-std=c++20");
  if (compiler == CompilerKind::host && !has_level) result.arguments.push_back("-O3");
  return result;
}

Checked<std::string> check_name(const KernelRequest& kernel) {
  static const std::regex name(
      "(?:::)?[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)* *"
      "(?:<[A-Za-z0-9_:<>, &*+().-]*>)?");
  int depth = 0;
  bool balanced = true;
  for (const char c : kernel.name) {
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    balanced = balanced && depth >= 0;
  }
  if (kernel.name.size() <= 400 && balanced && depth == 0 && std::regex_match(kernel.name, name)) {
    return kernel.name;
  }
  Fault fault;
  fault.kind = FaultKind::build_failed;
  fault.at = kernel.at;
  fault.message = fmt::format("'{}' is no name of a kernel", base::one_line(kernel.name, 80));
  fault.hint = "write the C++ name: softmax, rows<1024>, ops::rows<float, 4>";
  return fault;
}

}  // namespace kagent::builder
