// SPDX-License-Identifier: Apache-2.0
// The first few wrong elements, copied to the host, and what their values have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/expected.h"

#include <ATen/core/Tensor.h>

namespace kagent::reference {

struct WrongSample {
  std::vector<std::int64_t> positions;   // row-major element numbers; complex: of the pair
  at::Tensor expected;                   // host, one per position (two where complex)
  at::Tensor got;                        // host, the output's dtype
};

/// mask: one bool per element of the output. Up to `most` of the first wrong elements.
WrongSample sample_wrong(const Expected& expected, const at::Tensor& got, const at::Tensor& mask,
                         std::int64_t most);

/// The byte that fills every wrong element, where they all hold one byte repeated: `poison` if it
/// is known, else any but 0 (and only for elements of several bytes).
std::optional<std::uint8_t> fill_byte(const WrongSample& sample, std::optional<std::uint8_t> poison);

/// "every wrong value is 0", "… is 1.0625 times the expected one", "… is the expected value 1
/// element further"; empty where nothing is common.
std::string common_value(const Expected& expected, const WrongSample& sample);

/// As many digits as the dtype holds; a complex number as "(re, im)".
std::string print_value(const at::Tensor& values, std::int64_t position, DType dtype);

}  // namespace kagent::reference
