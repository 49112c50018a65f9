// SPDX-License-Identifier: Apache-2.0
// How far an honest answer may be from the exact one. docs/verdict.md derives the figures; pure.
#pragma once

#include <cstdint>
#include <vector>

#include <kagent/tensor.h>

namespace kagent::reference {

/// Distance from 1 to the next number; 0 for integers and bool. Complex types: of their parts.
double epsilon(DType dtype);

/// Length of the longest sum that the task may hold behind one output element, as far as shapes
/// tell: the longest dimension, or what is left of inputs per output once blocks of 256 are summed.
double reduction_depth(const std::vector<std::vector<std::int64_t>>& operand_shapes,
                       std::int64_t output_elements);

/// What is allowed against the exact value e of one element, given N = the largest error that eager
/// PyTorch made in the element's neighbourhood and S = the neighbourhood's RMS value:
///   |got - e| <= max(noise_element N, scale S, relative |e|) + rounding |e|
/// and over a whole output, given R = eager's RMS error:
///   RMS(got - e) <= max(noise_rms R, rms RMS(e))
struct Budget {
  double noise_element = 0;
  double noise_rms = 0;
  double scale = 0;
  double relative = 0;
  double rounding = 0;
  double rms = 0;
};

/// exact: an fp64 run exists. Else the expected values carry errors of their own, and twice as much
/// is allowed.
Budget budget_for(DType output, double depth, bool exact);

}  // namespace kagent::reference
