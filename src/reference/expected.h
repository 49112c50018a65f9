// SPDX-License-Identifier: Apache-2.0
// What one output ought to be, and how far from it an honest answer may be.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <kagent/result.h>
#include <kagent/tensor.h>

#include "reference/budget.h"

#include <ATen/core/Tensor.h>

namespace kagent::reference {

/// The reference's answers for one output. exact and perturbed may be undefined.
struct Answers {
  at::Tensor eager;       // the honest run, in the task's dtype
  at::Tensor exact;       // the same in double precision (complex128); same shape
  at::Tensor perturbed;   // another honest run, inputs moved by half an ulp; stands in for exact
};

/// Everything flat and row-major; complex numbers are pairs of their parts. On the device of the
/// answers; 8 bytes an element where an fp64 run exists.
struct Expected {
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  at::Tensor value;             // exact, else eager; integers and bools: eager
  at::Tensor eager;             // defined where also eager's own values pass: integers that an fp64
                                // run would make otherwise, non-finite values
  std::int64_t group = 1;       // elements whose noise is measured together
  at::Tensor group_floor;       // double, one per group: what each of its elements may be off
  Budget budget;
  double noise_rms = 0;         // eager's RMS error
  double value_rms = 0;
  double allowed_rms = 0;
  bool exact = false;           // value comes from an fp64 run
};

/// noise_ratio: largest noise_rms / value_rms seen for this output before; raised here. (A single
/// number's error may be zero by luck; over several runs it is not.)
/// Error where the answers do not belong together.
Result<Expected> learn(const Answers& answers, double depth, double& noise_ratio);

bool is_floating(DType dtype);

/// The flat view that Expected is over: contiguous, complex numbers as pairs.
at::Tensor flat_view(const at::Tensor& tensor);

/// A flat tensor in blocks of whole groups, each small enough for double-precision temporaries.
struct Block {
  std::int64_t first = 0;         // element
  std::int64_t first_group = 0;
  std::int64_t groups = 0;
  std::int64_t width = 0;         // elements in each of its groups
  at::Tensor of(const at::Tensor& flat) const;            // [groups, width]
  at::Tensor group_column(const at::Tensor& per_group) const;  // [groups, 1]
};
std::vector<Block> blocks_of(std::int64_t elements, std::int64_t group);

}  // namespace kagent::reference
