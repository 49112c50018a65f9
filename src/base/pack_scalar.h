// SPDX-License-Identifier: Apache-2.0
// A Python scalar as the bytes that a kernel's C++ parameter wants (pitfall 9). The policy uses it
// to refuse what does not fit, the runner to fill parameters: both by the same rules.
#pragma once

#include <kagent/build.h>
#include <kagent/plan.h>

#include <array>
#include <cstdint>
#include <string>
#include <variant>

namespace kagent::base {

struct PackedScalar {
  std::array<unsigned char, 8> bytes{};  // in this machine's order; the first `size` count
  int size = 0;
};

/// `argument` must be a bool, an int or a float. A text says why it does not fit: "a float (2.5)
/// for a parameter of type int". Integers go into floating parameters rounded to nearest; floats
/// never go into integers; a finite value that would become infinite does not fit; True and False
/// go into bool and integers, 0 and 1 into bool.
std::variant<PackedScalar, std::string> pack_scalar(const LaunchArgument& argument,
                                                    const KernelParameter& parameter);

/// Bits of the nearest float16 and bfloat16, ties to even, straight from double.
std::uint16_t to_float16_bits(double value);
std::uint16_t to_bfloat16_bits(double value);

/// 2.5 as "2.5", shortest form that reads back; used in messages.
std::string number_text(double value);

}  // namespace kagent::base
