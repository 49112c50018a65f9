// SPDX-License-Identifier: Apache-2.0
#include "base/pack_scalar.h"

#include <kagent/result.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace kagent::base {
namespace {

/// Bits of a binary float of at most 16 bits with this many exponent and fraction bits.
std::uint16_t round_to_bits(double value, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int infinite = ((1 << exponent_bits) - 1) << fraction_bits;
  const int sign = std::signbit(value) ? 1 << (exponent_bits + fraction_bits) : 0;
  const double magnitude = std::abs(value);
  int bits = 0;
  if (std::isnan(value)) {
    bits = infinite | 1 << (fraction_bits - 1);
  } else if (std::isinf(value)) {
    bits = infinite;
  } else if (magnitude > 0) {
    // Counted in units of the last place. A carry moves into the exponent by itself, and subnormal
    // numbers are those of the smallest exponent without the leading bit.
    const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
    const auto units =
        static_cast<long>(std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent)));
    bits = static_cast<int>(std::min<long>(
        (static_cast<long>(exponent + bias - 1) << fraction_bits) + units, infinite));
  }
  return static_cast<std::uint16_t>(sign | bits);
}

template <typename T>
PackedScalar packed(T value) {
  static_assert(sizeof(T) <= 8);
  PackedScalar scalar;
  std::memcpy(scalar.bytes.data(), &value, sizeof value);
  scalar.size = sizeof value;
  return scalar;
}

std::string described(const LaunchArgument& argument) {
  if (const auto* flag = std::get_if<bool>(&argument)) return *flag ? "True" : "False";
  if (const auto* integer = std::get_if<std::int64_t>(&argument)) {
    return "an int (" + std::to_string(*integer) + ")";
  }
  return "a float (" + number_text(std::get<double>(argument)) + ")";
}

/// Bool and int as a number; nothing for a float.
std::optional<std::int64_t> as_integer(const LaunchArgument& argument) {
  if (const auto* flag = std::get_if<bool>(&argument)) return *flag ? 1 : 0;
  if (const auto* integer = std::get_if<std::int64_t>(&argument)) return *integer;
  return std::nullopt;
}

/// Int and float as a number; nothing for a bool, which is hardly meant.
std::optional<double> as_number(const LaunchArgument& argument) {
  if (const auto* integer = std::get_if<std::int64_t>(&argument)) {
    return static_cast<double>(*integer);
  }
  if (const auto* number = std::get_if<double>(&argument)) return *number;
  return std::nullopt;
}

std::optional<PackedScalar> pack_integer(std::int64_t value, int bytes, bool is_signed) {
  const int bits = 8 * bytes;
  if (!is_signed && value < 0) return std::nullopt;
  if (bits < 64) {
    const std::int64_t limit = std::int64_t{1} << (is_signed ? bits - 1 : bits);
    if (value >= limit || (is_signed && value < -limit)) return std::nullopt;
  }
  switch (bytes) {
    case 1: return packed(static_cast<std::uint8_t>(value));
    case 2: return packed(static_cast<std::uint16_t>(value));
    case 4: return packed(static_cast<std::uint32_t>(value));
    case 8: return packed(static_cast<std::uint64_t>(value));
    default: return std::nullopt;
  }
}

/// Nothing where a finite value would become infinite, or the size is none of a float's.
std::optional<PackedScalar> pack_floating(double value, ParameterKind kind, int bytes) {
  if (kind == ParameterKind::floating && bytes == 8) return packed(value);
  if (kind == ParameterKind::floating && bytes == 4) {
    const auto rounded = static_cast<float>(value);
    if (std::isinf(rounded) && std::isfinite(value)) return std::nullopt;
    return packed(rounded);
  }
  if (kind == ParameterKind::floating || bytes != 2) return std::nullopt;
  const bool half = kind == ParameterKind::half;
  const std::uint16_t bits = half ? to_float16_bits(value) : to_bfloat16_bits(value);
  const int infinite = half ? 0x7C00 : 0x7F80;
  if ((bits & 0x7FFF) == infinite && std::isfinite(value)) return std::nullopt;
  return packed(bits);
}

}  // namespace

std::uint16_t to_float16_bits(double value) { return round_to_bits(value, 5, 10); }

std::uint16_t to_bfloat16_bits(double value) { return round_to_bits(value, 8, 7); }

std::string number_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  std::string text(digits, end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::variant<PackedScalar, std::string> pack_scalar(const LaunchArgument& argument,
                                                    const KernelParameter& parameter) {
  KAGENT_CHECK(as_integer(argument) || as_number(argument));
  const std::string wrong_type = described(argument) + " for a parameter of type " + parameter.type;
  const std::string wrong_range = described(argument) + " does not fit into " + parameter.type;
  switch (parameter.kind) {
    case ParameterKind::pointer:
      return described(argument) + " where a tensor is needed for " + parameter.type;
    case ParameterKind::tensor_map:
      return described(argument) + " where kagent.tensor_map(...) is needed";
    case ParameterKind::boolean: {
      const auto value = as_integer(argument);
      if (!value) return wrong_type;
      if (*value != 0 && *value != 1) return wrong_range;
      return packed(*value == 1);
    }
    case ParameterKind::signed_integer:
    case ParameterKind::unsigned_integer: {
      const auto value = as_integer(argument);
      if (!value) return wrong_type;
      const auto scalar =
          pack_integer(*value, parameter.bytes, parameter.kind == ParameterKind::signed_integer);
      if (!scalar) return wrong_range;
      return *scalar;
    }
    case ParameterKind::floating:
    case ParameterKind::half:
    case ParameterKind::bfloat16: {
      const auto value = as_number(argument);
      if (!value) return wrong_type;
      const auto scalar = pack_floating(*value, parameter.kind, parameter.bytes);
      if (!scalar) return wrong_range;
      return *scalar;
    }
  }
  return wrong_type;
}

}  // namespace kagent::base
