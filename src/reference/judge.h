// SPDX-License-Identifier: Apache-2.0
// Keeps what is expected for every input set, and compares the output arena with it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "reference/checksum.h"
#include "reference/compare.h"
#include "reference/expected.h"

namespace kagent::reference {

class Judge {
 public:
  /// operand_shapes: of every input and weight; they bound how long a sum can be.
  explicit Judge(std::vector<std::vector<std::int64_t>> operand_shapes)
      : operand_shapes_(std::move(operand_shapes)) {}

  /// Drops what was expected of a set, so that its memory is free before the next is computed.
  void forget(int set) { expected_.erase(set); }

  /// Adds the set's next output; outputs come in order.
  Result<void> expect(int set, const Answers& answers);

  /// The largest relative RMS error of the eager run among the outputs of a set; infinite where an
  /// output is zero throughout or not finite somewhere. 0 for integers.
  double noise(int set) const;

  /// outputs: one per expected output. The first output that is wrong gives the fault. Error where
  /// nothing is known of the set, or the number of outputs differs.
  Result<Comparison> compare(int set, const std::vector<at::Tensor>& outputs,
                             std::optional<std::uint8_t> poison) const;

 private:
  std::vector<std::vector<std::int64_t>> operand_shapes_;
  std::map<int, std::vector<Expected>> expected_;
  std::vector<double> noise_ratios_;   // per output, over all sets and trials
};

}  // namespace kagent::reference
