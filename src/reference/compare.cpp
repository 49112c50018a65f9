// SPDX-License-Identifier: Apache-2.0
#include "reference/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/diagnosis.h"
#include "reference/tensor_spec.h"

#include <ATen/ATen.h>

namespace kagent::reference {
namespace {

constexpr double kLoose = 1e-3;   // where only eager's run was finite

// One block, in double.
struct Difference {
  at::Tensor error;        // |got - expected|; 0 where the reference has no finite number
  at::Tensor bound;        // what is allowed
  at::Tensor wrong;        // bool; defined only after a careful look
  at::Tensor non_finite;   // bool: got is inf or nan and the reference is not
};

// A bound of zero (identically zero outputs) still admits the smallest numbers.
double smallest(DType dtype) {
  return is_floating(dtype) && epsilon(dtype) < 1e-10 ? std::numeric_limits<double>::min()
                                                      : std::numeric_limits<float>::min();
}

at::Tensor same(const at::Tensor& a, const at::Tensor& b) {
  return a.eq(b).logical_or_(a.isnan().logical_and_(b.isnan()));
}

Difference difference(const Expected& expected, const at::Tensor& got, const Block& block) {
  const at::Tensor value = block.of(expected.value).to(at::kDouble);
  const at::Tensor magnitude = value.abs();
  Difference result;
  result.error = (block.of(got).to(at::kDouble) - value).abs_();
  result.bound = at::maximum(magnitude * expected.budget.relative,
                             block.group_column(expected.group_floor));
  if (expected.budget.rounding > 0) result.bound.add_(magnitude, expected.budget.rounding);
  result.bound.clamp_min_(smallest(expected.dtype));
  return result;
}

// The same with infinities and NaNs: they are right where the reference has them too.
Difference careful_difference(const Expected& expected, const at::Tensor& got, const Block& block) {
  Difference result = difference(expected, got, block);
  const at::Tensor value = block.of(expected.value).to(at::kDouble);
  const at::Tensor answer = block.of(got).to(at::kDouble);
  const at::Tensor eager =
      expected.eager.defined() ? block.of(expected.eager).to(at::kDouble) : value;
  const at::Tensor value_finite = value.isfinite();
  const at::Tensor eager_finite = eager.isfinite();
  const at::Tensor answer_finite = answer.isfinite();
  const at::Tensor ordinary = value_finite.logical_and(eager_finite);

  const at::Tensor near_value = value_finite & (result.error <= result.bound);
  const at::Tensor near_eager = eager_finite & ((answer - eager).abs_() <= eager.abs() * kLoose);
  const at::Tensor odd_but_right = same(answer, value) | same(answer, eager) |
                                   (answer_finite & (near_value | near_eager));
  result.non_finite = ordinary & answer_finite.logical_not();
  const at::Tensor counted = ordinary & answer_finite;
  result.wrong = (counted & (result.error > result.bound)) | result.non_finite |
                 (ordinary.logical_not() & odd_but_right.logical_not());
  result.error.masked_fill_(counted.logical_not(), 0);
  return result;
}

struct Totals {
  double squares = 0;
  double max_error = 0;
  double element_ratio = 0;
  std::int64_t wrong = 0;
  std::int64_t non_finite = 0;
};

void add_block(const Expected& expected, const at::Tensor& got, const Block& block, Totals& totals) {
  Difference plain = difference(expected, got, block);
  const at::Tensor figures =
      at::stack({plain.error.square().sum(), plain.error.max(), plain.error.div(plain.bound).max()})
          .cpu();
  const double* figure = figures.const_data_ptr<double>();
  if (std::isfinite(figure[0]) && !expected.eager.defined()) {
    totals.squares += figure[0];
    totals.max_error = std::max(totals.max_error, figure[1]);
    totals.element_ratio = std::max(totals.element_ratio, figure[2]);
    if (figure[2] > 1) totals.wrong += plain.error.gt(plain.bound).sum().item<std::int64_t>();
    return;
  }
  const Difference careful = careful_difference(expected, got, block);
  totals.squares += careful.error.square().sum().item<double>();
  totals.max_error = std::max(totals.max_error, careful.error.max().item<double>());
  totals.element_ratio =
      std::max(totals.element_ratio, careful.error.div(careful.bound).max().item<double>());
  totals.wrong += careful.wrong.sum().item<std::int64_t>();
  totals.non_finite += careful.non_finite.sum().item<std::int64_t>();
}

at::Tensor wrong_mask(const Expected& expected, const at::Tensor& got, const Totals& totals,
                      const std::vector<Block>& blocks) {
  at::Tensor mask = at::zeros({got.numel()}, got.options().dtype(at::kBool));
  for (const Block& block : blocks) {
    const Difference found = careful_difference(expected, got, block);
    at::Tensor wrong = totals.non_finite > 0 ? found.non_finite
                       : totals.wrong > 0    ? found.wrong
                                             : found.error.gt(expected.allowed_rms);
    block.of(mask).copy_(wrong);
  }
  return mask;
}

double finite(double value) {
  return std::isfinite(value) ? value : std::numeric_limits<double>::max();
}

Comparison compare_floating(int output, const Expected& expected, const at::Tensor& got,
                            std::optional<std::uint8_t> poison) {
  const std::vector<Block> blocks = blocks_of(got.numel(), expected.group);
  Totals totals;
  for (const Block& block : blocks) add_block(expected, got, block, totals);
  const double rms = std::sqrt(totals.squares / static_cast<double>(std::max<std::int64_t>(
                                                    got.numel(), 1)));
  const double rms_ratio = rms / std::max(expected.allowed_rms, smallest(expected.dtype));
  Comparison result;
  result.max_error = finite(totals.max_error);
  result.error_ratio = finite(std::max(rms_ratio, totals.element_ratio));
  result.passed = totals.wrong == 0 && rms_ratio <= 1;
  if (result.passed) return result;
  if (totals.wrong > 0 && result.error_ratio <= 1) {
    result.error_ratio = std::numeric_limits<double>::max();   // an infinity in the wrong place
  }
  Finding finding;
  finding.mask = wrong_mask(expected, got, totals, blocks);
  finding.kind = totals.non_finite > 0 ? FaultKind::non_finite : FaultKind::mismatch;
  finding.spread = totals.wrong == 0;
  finding.rms = rms;
  result.fault = diagnose(output, expected, got, finding, poison);
  return result;
}

Comparison compare_exact(int output, const Expected& expected, const at::Tensor& got,
                         std::optional<std::uint8_t> poison) {
  Comparison result;
  at::Tensor wrong = got.ne(expected.value);
  if (expected.eager.defined()) wrong.logical_and_(got.ne(expected.eager));
  result.passed = !wrong.any().item<bool>();
  if (result.passed) return result;
  const at::Tensor error = (got.to(at::kDouble) - expected.value.to(at::kDouble)).abs_();
  result.max_error = error.max().item<double>();
  result.error_ratio = std::numeric_limits<double>::max();
  Finding finding;
  finding.mask = wrong;
  result.fault = diagnose(output, expected, got, finding, poison);
  return result;
}

}  // namespace

Comparison compare(int output, const Expected& expected, const at::Tensor& got,
                   std::optional<std::uint8_t> poison) {
  const at::Tensor flat = flat_view(got);
  KAGENT_CHECK(got.sizes().vec() == expected.shape);
  KAGENT_CHECK(got.scalar_type() == scalar_type(expected.dtype));
  if (flat.numel() == 0) return Comparison{};
  return is_floating(expected.dtype) ? compare_floating(output, expected, flat, poison)
                                     : compare_exact(output, expected, flat, poison);
}

}  // namespace kagent::reference
