// SPDX-License-Identifier: Apache-2.0
#include "reference/judge.h"

#include <algorithm>
#include <limits>
#include <string>

namespace kagent::reference {

Result<void> Judge::expect(int set, const Answers& answers) {
  std::vector<Expected>& outputs = expected_[set];
  const std::size_t index = outputs.size();
  if (noise_ratios_.size() <= index) noise_ratios_.resize(index + 1);
  const double depth = reduction_depth(operand_shapes_, answers.eager.numel());
  auto expected = learn(answers, depth, noise_ratios_[index]);
  if (!expected) return std::move(expected).error();
  outputs.push_back(*std::move(expected));
  return {};
}

double Judge::noise(int set) const {
  const auto found = expected_.find(set);
  if (found == expected_.end()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const Expected& output : found->second) {
    if (!is_floating(output.dtype)) continue;
    if (output.eager.defined() || !(output.value_rms > 0)) {
      return std::numeric_limits<double>::infinity();
    }
    // A half-precision output is off by its own rounding, however well-posed it is.
    largest = std::max(largest, output.noise_rms / output.value_rms - output.budget.rms);
  }
  return largest;
}

Result<Comparison> Judge::compare(int set, const std::vector<at::Tensor>& outputs,
                                  std::optional<std::uint8_t> poison) const {
  const auto found = expected_.find(set);
  if (found == expected_.end()) {
    return Error{ErrorKind::internal, "compare: no trial was made on input set " +
                                          std::to_string(set)};
  }
  if (found->second.size() != outputs.size()) {
    return Error{ErrorKind::internal, "compare: the reference's number of outputs changed"};
  }
  Comparison all;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Comparison one =
        reference::compare(static_cast<int>(i), found->second[i], outputs[i], poison);
    all.max_error = std::max(all.max_error, one.max_error);
    all.error_ratio = std::max(all.error_ratio, one.error_ratio);
    all.passed = all.passed && one.passed;
    if (!all.fault) all.fault = std::move(one.fault);
  }
  return all;
}

}  // namespace kagent::reference
