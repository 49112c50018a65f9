// SPDX-License-Identifier: Apache-2.0
#include "reference/expected.h"

#include <algorithm>
#include <cmath>

#include "reference/tensor_spec.h"

#include <ATen/ATen.h>

namespace kagent::reference {
namespace {

constexpr std::int64_t kBlockElements = std::int64_t{1} << 25;   // 256 MiB in double
constexpr std::int64_t kSmallestGroup = 32;                      // fewer say little about noise
constexpr std::int64_t kLargestGroup = 1 << 16;

// Rows of the last dimension, merged until they are long enough, cut where they are very long.
std::int64_t group_elements(const at::Tensor& tensor) {
  std::int64_t group = 1;
  for (std::int64_t d = tensor.dim(); d-- > 0 && group < kSmallestGroup;) group *= tensor.size(d);
  if (tensor.is_complex()) group *= 2;
  return std::clamp<std::int64_t>(group, 1, kLargestGroup);
}

struct Sums {
  double noise_squares = 0;
  double value_squares = 0;
  bool special = false;   // something was not finite
};

// Noise and scale of one block's groups; numbers that are not finite are left out.
void measure(const Block& block, const at::Tensor& value, const at::Tensor& honest,
             const Budget& budget, at::Tensor& group_floor, Sums& sums) {
  at::Tensor exact = block.of(value).to(at::kDouble);
  at::Tensor noise = (block.of(honest).to(at::kDouble) - exact).abs_();
  double noise_squares = noise.square().sum().item<double>();
  double value_squares = exact.square().sum().item<double>();
  if (!std::isfinite(noise_squares) || !std::isfinite(value_squares)) {
    const at::Tensor odd = noise.isfinite().logical_not_();
    sums.special = sums.special || odd.any().item<bool>();
    noise.masked_fill_(odd, 0);
    exact = exact.masked_fill(odd, 0);
    noise_squares = noise.square().sum().item<double>();
    value_squares = exact.square().sum().item<double>();
  }
  sums.noise_squares += noise_squares;
  sums.value_squares += value_squares;
  const at::Tensor scale = exact.square().mean(1).sqrt_();
  at::Tensor floor = at::maximum(noise.amax(1).mul_(budget.noise_element), scale * budget.scale);
  group_floor.narrow(0, block.first_group, block.groups).copy_(floor);
}

Result<Expected> learn_floating(const Answers& answers, Expected expected, double& noise_ratio) {
  const at::Tensor eager = flat_view(answers.eager);
  expected.exact = answers.exact.defined();
  expected.value = expected.exact ? flat_view(answers.exact) : eager;
  const at::Tensor honest = expected.exact                ? eager
                            : answers.perturbed.defined() ? flat_view(answers.perturbed)
                                                          : eager;
  const std::int64_t elements = eager.numel();
  const std::vector<Block> blocks = blocks_of(elements, expected.group);
  const std::int64_t groups = blocks.empty() ? 0 : blocks.back().first_group + blocks.back().groups;
  expected.group_floor = at::zeros({groups}, eager.options().dtype(at::kDouble));
  Sums sums;
  for (const Block& block : blocks) {
    measure(block, expected.value, honest, expected.budget, expected.group_floor, sums);
  }
  const double count = static_cast<double>(std::max<std::int64_t>(elements, 1));
  expected.noise_rms = std::sqrt(sums.noise_squares / count);
  expected.value_rms = std::sqrt(sums.value_squares / count);
  if (expected.value_rms > 0) {
    noise_ratio = std::max(noise_ratio, expected.noise_rms / expected.value_rms);
  }
  const double noise = std::max(expected.noise_rms, noise_ratio * expected.value_rms);
  expected.allowed_rms = std::max(expected.budget.noise_rms * noise,
                                  expected.budget.rms * expected.value_rms);
  // What luck hid in a small output's neighbourhoods shows in the ratio of all runs.
  if (elements < kSmallestGroup) {
    expected.group_floor.clamp_min_(expected.budget.noise_element * noise);
  }
  if (sums.special) expected.eager = eager;
  return expected;
}

}  // namespace

bool is_floating(DType dtype) { return epsilon(dtype) > 0; }

at::Tensor flat_view(const at::Tensor& tensor) {
  at::Tensor dense = tensor.detach().resolve_conj().resolve_neg().contiguous();
  if (dense.is_complex()) dense = at::view_as_real(dense);
  return dense.view({-1});
}

at::Tensor Block::of(const at::Tensor& flat) const {
  return flat.narrow(0, first, groups * width).view({groups, width});
}

at::Tensor Block::group_column(const at::Tensor& per_group) const {
  return per_group.narrow(0, first_group, groups).unsqueeze(1);
}

std::vector<Block> blocks_of(std::int64_t elements, std::int64_t group) {
  std::vector<Block> blocks;
  const std::int64_t whole = elements / group;
  const std::int64_t step = std::max<std::int64_t>(1, kBlockElements / group);
  for (std::int64_t at = 0; at < whole; at += step) {
    blocks.push_back({at * group, at, std::min(step, whole - at), group});
  }
  if (elements % group != 0) blocks.push_back({whole * group, whole, 1, elements % group});
  return blocks;
}

Result<Expected> learn(const Answers& answers, double depth, double& noise_ratio) {
  Expected expected;
  KAGENT_TRY(expected.dtype, dtype_of(answers.eager));
  expected.shape = answers.eager.sizes().vec();
  for (const at::Tensor* other : {&answers.exact, &answers.perturbed}) {
    if (other->defined() && other->sizes() != answers.eager.sizes()) {
      return Error{ErrorKind::task_invalid, "the output's shape changes from call to call"};
    }
  }
  if (is_floating(expected.dtype)) {
    expected.group = group_elements(answers.eager);
    expected.budget = budget_for(expected.dtype, depth, answers.exact.defined());
    return learn_floating(answers, std::move(expected), noise_ratio);
  }
  // Indices and masks have no rounding of their own, but the numbers that they are drawn from do:
  // where an fp64 run decides otherwise, both decisions pass.
  expected.value = flat_view(answers.eager);
  if (answers.exact.defined() && answers.exact.scalar_type() == answers.eager.scalar_type() &&
      !at::equal(answers.exact, answers.eager)) {
    expected.eager = expected.value;
    expected.value = flat_view(answers.exact);
  }
  return expected;
}

}  // namespace kagent::reference
