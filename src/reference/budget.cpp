// SPDX-License-Identifier: Apache-2.0
#include "reference/budget.h"

#include <algorithm>
#include <cmath>

namespace kagent::reference {
namespace {

constexpr double kBaseUlps = 16;        // in units of the accumulator's epsilon
constexpr double kUlpsPerRootDepth = 0.25;
constexpr double kPresummed = 256;      // a block's worth of elements

constexpr double kNoiseRms = 8;         // how much worse than eager an honest algorithm may be
constexpr double kNoiseElement = 16;
constexpr double kHalfNoiseRms = 4;     // there rounding dominates, and everybody rounds alike
constexpr double kHalfNoiseElement = 8;
constexpr double kElementOverRms = 8;   // the worst of 1e9 honest errors against their RMS
constexpr double kScaleOverRms = 4;

}  // namespace

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::float64: case DType::complex128: return std::ldexp(1.0, -52);
    case DType::float32: case DType::complex64: return std::ldexp(1.0, -23);
    case DType::float16: return std::ldexp(1.0, -10);
    case DType::bfloat16: return std::ldexp(1.0, -7);
    case DType::float8_e4m3fn: return std::ldexp(1.0, -3);
    case DType::float8_e5m2: return std::ldexp(1.0, -2);
    case DType::int64: case DType::int32: case DType::int16: case DType::int8: case DType::uint8:
    case DType::boolean: return 0;
  }
  return 0;
}

double reduction_depth(const std::vector<std::vector<std::int64_t>>& operand_shapes,
                       std::int64_t output_elements) {
  double longest = 1;
  double largest = 1;
  for (const auto& shape : operand_shapes) {
    double elements = 1;
    for (std::int64_t size : shape) {
      longest = std::max(longest, static_cast<double>(size));
      elements *= static_cast<double>(size);
    }
    largest = std::max(largest, elements);
  }
  const double fan_in = largest / static_cast<double>(std::max<std::int64_t>(output_elements, 1));
  return std::max(longest, fan_in / kPresummed);
}

Budget budget_for(DType output, double depth, bool exact) {
  // Half-precision kernels sum in fp32 and round once at the end.
  const double single = epsilon(DType::float32);
  const double own = epsilon(output);
  const bool narrow = own > single;
  const double ulps = std::max(kBaseUlps, kUlpsPerRootDepth * std::sqrt(std::max(depth, 1.0)));
  const double accumulated = ulps * std::min(own, single) * (exact ? 1 : 2);
  Budget budget;
  budget.noise_rms = narrow ? kHalfNoiseRms : kNoiseRms;
  budget.noise_element = narrow ? kHalfNoiseElement : kNoiseElement;
  budget.relative = kElementOverRms * accumulated;
  budget.scale = kScaleOverRms * accumulated;
  budget.rounding = narrow ? own : 0;
  budget.rms = accumulated + budget.rounding;
  return budget;
}

}  // namespace kagent::reference
