// SPDX-License-Identifier: Apache-2.0
// Is one output right? docs/verdict.md has the rules.
#pragma once

#include <cstdint>
#include <optional>

#include <kagent/evaluation.h>

#include "reference/expected.h"

#include <ATen/core/Tensor.h>

namespace kagent::reference {

struct Comparison {
  bool passed = true;
  double max_error = 0;     // largest |got - expected|; finite
  double error_ratio = 0;   // error over the allowed one, the worse of both rules; finite
  std::optional<Fault> fault;
};

/// got: the shape and dtype of `expected`, on the same device. poison: the byte that filled the
/// output before the call, where known. Temporaries stay below about 1 GiB, but a failing
/// comparison takes one byte an element more.
Comparison compare(int output, const Expected& expected, const at::Tensor& got,
                   std::optional<std::uint8_t> poison);

}  // namespace kagent::reference
