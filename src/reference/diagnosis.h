// SPDX-License-Identifier: Apache-2.0
// Turns wrong elements into a Fault that a kernel's author can act on.
#pragma once

#include <cstdint>
#include <optional>

#include <kagent/evaluation.h>

#include "reference/expected.h"

#include <ATen/core/Tensor.h>

namespace kagent::reference {

struct Finding {
  at::Tensor mask;                      // bool over the flat view: what is wrong; not empty
  FaultKind kind = FaultKind::mismatch;
  bool spread = false;                  // no single element is out of bounds, the whole is
  double rms = 0;                       // RMS error, where spread
};

/// got: flat view. Reads the mask several times; not for the path of a passing comparison.
Fault diagnose(int output, const Expected& expected, const at::Tensor& got, const Finding& finding,
               std::optional<std::uint8_t> poison);

}  // namespace kagent::reference
