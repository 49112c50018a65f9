// SPDX-License-Identifier: Apache-2.0
#include "base/pack_scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace kagent::base {
namespace {

KernelParameter parameter(ParameterKind kind, int bytes, std::string type) {
  KernelParameter made;
  made.kind = kind;
  made.bytes = bytes;
  made.type = std::move(type);
  return made;
}

const KernelParameter kInt = parameter(ParameterKind::signed_integer, 4, "int");
const KernelParameter kLong = parameter(ParameterKind::signed_integer, 8, "long");
const KernelParameter kChar = parameter(ParameterKind::signed_integer, 1, "signed char");
const KernelParameter kUnsigned = parameter(ParameterKind::unsigned_integer, 4, "unsigned int");
const KernelParameter kFloat = parameter(ParameterKind::floating, 4, "float");
const KernelParameter kDouble = parameter(ParameterKind::floating, 8, "double");
const KernelParameter kHalf = parameter(ParameterKind::half, 2, "__half");
const KernelParameter kBfloat16 = parameter(ParameterKind::bfloat16, 2, "__nv_bfloat16");
const KernelParameter kBool = parameter(ParameterKind::boolean, 1, "bool");
const KernelParameter kPointer = parameter(ParameterKind::pointer, 8, "float*");
const KernelParameter kMap = parameter(ParameterKind::tensor_map, 128, "CUtensorMap");

LaunchArgument integer(std::int64_t value) { return value; }

template <typename T>
T unpacked(const LaunchArgument& argument, const KernelParameter& wanted) {
  const auto result = pack_scalar(argument, wanted);
  T value{};
  if (const auto* problem = std::get_if<std::string>(&result)) {
    ADD_FAILURE() << *problem;
    return value;
  }
  const auto& scalar = std::get<PackedScalar>(result);
  EXPECT_EQ(static_cast<std::size_t>(scalar.size), sizeof value);
  std::memcpy(&value, scalar.bytes.data(), sizeof value);
  return value;
}

std::string refusal(const LaunchArgument& argument, const KernelParameter& wanted) {
  const auto result = pack_scalar(argument, wanted);
  const auto* problem = std::get_if<std::string>(&result);
  return problem != nullptr ? *problem : "accepted";
}

TEST(PackScalar, ConvertsByTheParameter) {
  EXPECT_EQ(unpacked<std::int32_t>(integer(-5), kInt), -5);
  EXPECT_EQ(unpacked<std::int64_t>(integer(INT64_MIN), kLong), INT64_MIN);
  EXPECT_EQ(unpacked<std::int8_t>(integer(-128), kChar), -128);
  EXPECT_EQ(unpacked<std::uint32_t>(integer(4294967295), kUnsigned), 4294967295u);
  EXPECT_EQ(unpacked<float>(integer(1), kFloat), 1.0f);  // not 1.4e-45
  EXPECT_EQ(unpacked<float>(0.1, kFloat), 0.1f);
  EXPECT_EQ(unpacked<double>(0.1, kDouble), 0.1);
  EXPECT_EQ(unpacked<std::uint16_t>(1.0, kHalf), 0x3C00);
  EXPECT_EQ(unpacked<std::uint16_t>(integer(1), kBfloat16), 0x3F80);
  EXPECT_EQ(unpacked<bool>(true, kBool), true);
  EXPECT_EQ(unpacked<bool>(integer(0), kBool), false);
  EXPECT_EQ(unpacked<std::int32_t>(true, kInt), 1);
  EXPECT_TRUE(std::isinf(unpacked<float>(-HUGE_VAL, kFloat)));
  EXPECT_TRUE(std::isnan(unpacked<float>(std::nan(""), kFloat)));
}

TEST(PackScalar, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refusal(2.5, kInt), "a float (2.5) for a parameter of type int");
  EXPECT_EQ(refusal(2.0, kInt), "a float (2.0) for a parameter of type int");
  EXPECT_EQ(refusal(true, kFloat), "True for a parameter of type float");
  EXPECT_EQ(refusal(integer(2147483648), kInt), "an int (2147483648) does not fit into int");
  EXPECT_EQ(refusal(integer(-2147483649), kInt), "an int (-2147483649) does not fit into int");
  EXPECT_EQ(refusal(integer(-1), kUnsigned), "an int (-1) does not fit into unsigned int");
  EXPECT_EQ(refusal(integer(4294967296), kUnsigned),
            "an int (4294967296) does not fit into unsigned int");
  EXPECT_EQ(refusal(integer(128), kChar), "an int (128) does not fit into signed char");
  EXPECT_EQ(refusal(1e300, kFloat), "a float (1e+300) does not fit into float");
  EXPECT_EQ(refusal(70000.0, kHalf), "a float (70000.0) does not fit into __half");
  EXPECT_EQ(refusal(1e39, kBfloat16), "a float (1e+39) does not fit into __nv_bfloat16");
  EXPECT_EQ(refusal(integer(2), kBool), "an int (2) does not fit into bool");
  EXPECT_EQ(refusal(1.0, kBool), "a float (1.0) for a parameter of type bool");
  EXPECT_EQ(refusal(integer(5), kPointer), "an int (5) where a tensor is needed for float*");
  EXPECT_EQ(refusal(integer(5), kMap), "an int (5) where kagent.tensor_map(...) is needed");
}

TEST(Float16, RoundsToNearestEven) {
  EXPECT_EQ(to_float16_bits(0.0), 0x0000);
  EXPECT_EQ(to_float16_bits(-0.0), 0x8000);
  EXPECT_EQ(to_float16_bits(-2.0), 0xC000);
  EXPECT_EQ(to_float16_bits(65504), 0x7BFF);  // largest
  EXPECT_EQ(to_float16_bits(65519.99), 0x7BFF);
  EXPECT_EQ(to_float16_bits(65520), 0x7C00);               // half way: infinity
  EXPECT_EQ(to_float16_bits(std::ldexp(1, -24)), 0x0001);  // smallest
  EXPECT_EQ(to_float16_bits(std::ldexp(1, -25)), 0x0000);  // tie to even
  EXPECT_EQ(to_float16_bits(std::ldexp(1.0001, -25)), 0x0001);
  EXPECT_EQ(to_float16_bits(std::ldexp(1023.9, -24)), 0x0400);  // subnormal carries into normal
  EXPECT_EQ(to_float16_bits(1 + std::ldexp(1, -11)), 0x3C00);   // tie to even
  EXPECT_EQ(to_float16_bits(1 + std::ldexp(3, -11)), 0x3C02);
  EXPECT_EQ(to_float16_bits(HUGE_VAL), 0x7C00);
  EXPECT_EQ(to_float16_bits(std::nan("")) & 0x7E00, 0x7E00);
}

TEST(Float16, IsNotRoundedTwice) {
  // A little above a tie: rounding to float first would make it the tie, and then go down.
  EXPECT_EQ(to_float16_bits(1 + std::ldexp(1, -11) + std::ldexp(1, -40)), 0x3C01);
  EXPECT_EQ(to_bfloat16_bits(1 + std::ldexp(1, -8) + std::ldexp(1, -40)), 0x3F81);
}

TEST(Bfloat16, RoundsToNearestEven) {
  EXPECT_EQ(to_bfloat16_bits(1.0), 0x3F80);
  EXPECT_EQ(to_bfloat16_bits(1 + std::ldexp(1, -8)), 0x3F80);
  EXPECT_EQ(to_bfloat16_bits(1 + std::ldexp(3, -8)), 0x3F82);
  EXPECT_EQ(to_bfloat16_bits(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(to_bfloat16_bits(std::ldexp(1, -133)), 0x0001);
  EXPECT_EQ(to_bfloat16_bits(-HUGE_VAL), 0xFF80);
}

TEST(Bfloat16, AgreesWithTruncationOfExactFloats) {
  for (std::uint32_t high = 0; high < 0x7F80; ++high) {
    const std::uint32_t bits = high << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    ASSERT_EQ(to_bfloat16_bits(value), high);
    ASSERT_EQ(to_bfloat16_bits(-value), high | 0x8000);
  }
}

TEST(NumberText, ReadsAsAFloat) {
  EXPECT_EQ(number_text(2), "2.0");
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(-HUGE_VAL), "-inf");
  EXPECT_EQ(number_text(1e300), "1e+300");
}

}  // namespace
}  // namespace kagent::base
