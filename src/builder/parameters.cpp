// SPDX-License-Identifier: Apache-2.0
#include "builder/parameters.h"

#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>
#include <string_view>

#include "base/text.h"

#include <fmt/format.h>

namespace kagent::builder {
namespace {

struct Scalar {
  ParameterKind kind;
  int bytes;
};

const std::map<std::string, Scalar, std::less<>>& scalars() {
  using K = ParameterKind;
  static const std::map<std::string, Scalar, std::less<>> table = {
      {"bool", {K::boolean, 1}},
      {"char", {K::signed_integer, 1}},
      {"signed char", {K::signed_integer, 1}},
      {"unsigned char", {K::unsigned_integer, 1}},
      {"short", {K::signed_integer, 2}},
      {"unsigned short", {K::unsigned_integer, 2}},
      {"int", {K::signed_integer, 4}},
      {"unsigned int", {K::unsigned_integer, 4}},
      {"long", {K::signed_integer, 8}},
      {"unsigned long", {K::unsigned_integer, 8}},
      {"long long", {K::signed_integer, 8}},
      {"unsigned long long", {K::unsigned_integer, 8}},
      {"float", {K::floating, 4}},
      {"double", {K::floating, 8}},
      {"__half", {K::half, 2}},
      {"_Float16", {K::half, 2}},
      {"half", {K::half, 2}},
      {"__nv_bfloat16", {K::bfloat16, 2}},
      {"kagent::bfloat16", {K::bfloat16, 2}},
      {"CUtensorMap_st", {K::tensor_map, 128}},
      {"CUtensorMap", {K::tensor_map, 128}},
  };
  return table;
}

/// Element types that a tensor has too. float4, unsigned, void and the like take any tensor: they
/// are how kernels move bytes.
const std::map<std::string, DType, std::less<>>& pointees() {
  static const std::map<std::string, DType, std::less<>> table = {
      {"float", DType::float32},
      {"double", DType::float64},
      {"__half", DType::float16},
      {"_Float16", DType::float16},
      {"half", DType::float16},
      {"__nv_bfloat16", DType::bfloat16},
      {"kagent::bfloat16", DType::bfloat16},
      {"__nv_fp8_e4m3", DType::float8_e4m3fn},
      {"__nv_fp8_e5m2", DType::float8_e5m2},
      {"long", DType::int64},
      {"long long", DType::int64},
      {"int", DType::int32},
      {"short", DType::int16},
      {"signed char", DType::int8},
      {"bool", DType::boolean},
      {"std::complex<float>", DType::complex64},
      {"std::complex<double>", DType::complex128},
      {"cuda::std::complex<float>", DType::complex64},
      {"cuda::std::complex<double>", DType::complex128},
  };
  return table;
}

/// Parts at commas outside every bracket.
std::vector<std::string> split_arguments(std::string_view list) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '(' || list[i] == '<' || list[i] == '[' || list[i] == '{') ++depth;
    if (list[i] == ')' || list[i] == '>' || list[i] == ']' || list[i] == '}') --depth;
    if (list[i] == ',' && depth == 0) {
      parts.emplace_back(base::trim(list.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  const std::string_view last = base::trim(list.substr(std::min(begin, list.size())));
  if (!last.empty()) parts.emplace_back(last);
  return parts;
}

/// "void (*)(float const*, int)" -> its parameters.
std::optional<std::vector<std::string>> parameters_of(std::string_view type) {
  const std::size_t open = type.find(" (*)(");
  if (open == std::string_view::npos) return std::nullopt;
  type.remove_prefix(open + 5);
  constexpr std::string_view kNoexcept = " noexcept";
  if (type.size() > kNoexcept.size() && type.substr(type.size() - kNoexcept.size()) == kNoexcept) {
    type.remove_suffix(kNoexcept.size());
  }
  if (type.empty() || type.back() != ')') return std::nullopt;
  type.remove_suffix(1);
  return split_arguments(type);
}

std::string_view without_const(std::string_view type) {
  constexpr std::string_view kSuffix = " const";
  type = base::trim(type);
  if (type.size() > kSuffix.size() && type.substr(type.size() - kSuffix.size()) == kSuffix) {
    return type.substr(0, type.size() - kSuffix.size());
  }
  return type;
}

}  // namespace

std::string demangle(const std::string& symbol) {
  if (symbol.size() > 8192 || symbol.rfind("_Z", 0) != 0) return symbol;
  const auto demangled = [](const std::string& mangled) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text != nullptr ? std::string(text.get()) : std::string();
  };
  std::string name = demangled(symbol);
  if (name.empty()) {  // gcc 12's own demangler does not know its _Float16; "Dh" it calls half
    std::string other = symbol;
    for (std::size_t at; (at = other.find("DF16_")) != std::string::npos;) other.replace(at, 5, "Dh");
    name = demangled(other);
  }
  return name.empty() ? symbol : name;
}

std::optional<Probe> read_probe(const std::string& demangled) {
  const std::string prefix = std::string(kProbeNamespace) + "::kernel<";
  const std::size_t begin = demangled.find(prefix);  // NVRTC may put a namespace of its own ahead
  if (begin == std::string::npos || demangled.back() != '>') return std::nullopt;
  const std::size_t first = begin + prefix.size();
  const std::vector<std::string> parts =
      split_arguments(std::string_view(demangled).substr(first, demangled.size() - 1 - first));
  if (parts.size() != 3 || parts[1].empty() || parts[1][0] != '&') return std::nullopt;
  Probe probe;
  const auto [end, error] =
      std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), probe.number);
  if (error != std::errc() || end != parts[0].data() + parts[0].size()) return std::nullopt;
  probe.kernel = parts[1].substr(1);
  if (probe.kernel.size() > 2 && probe.kernel.front() == '(' && probe.kernel.back() == ')' &&
      probe.kernel.rfind("(anonymous", 0) != 0) {
    probe.kernel = probe.kernel.substr(1, probe.kernel.size() - 2);
  }
  auto parameters = parameters_of(parts[2]);
  if (!parameters) return std::nullopt;
  probe.parameters = std::move(*parameters);
  return probe;
}

Checked<KernelParameter> classify(const std::string& type, int position,
                                  const KernelRequest& kernel) {
  KernelParameter parameter;
  parameter.type = type;
  if (const auto scalar = scalars().find(type); scalar != scalars().end()) {
    parameter.kind = scalar->second.kind;
    parameter.bytes = scalar->second.bytes;
    return parameter;
  }
  if (!type.empty() && type.back() == '*' && type.find("(*)") == std::string::npos) {
    const std::string_view pointee = base::trim(std::string_view(type).substr(0, type.size() - 1));
    const std::string_view element = without_const(pointee);
    parameter.read_only = element != pointee;
    if (const auto known = pointees().find(element); known != pointees().end()) {
      parameter.pointee = known->second;
    } else if (element == "unsigned char") {
      parameter.pointee = DType::uint8;
    }
    return parameter;
  }
  Fault fault;
  fault.kind = FaultKind::build_failed;
  fault.at = kernel.at;
  fault.message = fmt::format("parameter {} of kernel {} has type {}, which a launch cannot fill",
                              position + 1, base::one_line(kernel.name, 80),
                              base::one_line(type, 120));
  fault.hint = "use pointers, bool, integers, float, double, __half, __nv_bfloat16, or a "
               "const __grid_constant__ CUtensorMap; pass a struct's fields one by one";
  return fault;
}

}  // namespace kagent::builder
