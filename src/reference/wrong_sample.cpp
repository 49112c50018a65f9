// SPDX-License-Identifier: Apache-2.0
#include "reference/wrong_sample.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "reference/pattern.h"

#include <ATen/ATen.h>

namespace kagent::reference {
namespace {

constexpr std::int64_t kScanElements = std::int64_t{1} << 25;
constexpr double kSameRatio = 1e-4;   // how well ratios agree to be called one factor
constexpr double kSameValue = 1e-5;
constexpr double kMost = 0.95;        // of the values, to call it a shift: rows end somewhere
constexpr std::int64_t kFewest = 8;

at::Tensor first_positions(const at::Tensor& mask, std::int64_t most) {
  std::vector<at::Tensor> parts;
  std::int64_t found = 0;
  for (std::int64_t at = 0; at < mask.numel() && found < most; at += kScanElements) {
    const at::Tensor part = mask.narrow(0, at, std::min(kScanElements, mask.numel() - at));
    at::Tensor places = part.nonzero().view({-1});
    places = places.narrow(0, 0, std::min<std::int64_t>(places.numel(), most - found)) + at;
    found += places.numel();
    parts.push_back(places);
  }
  return at::cat(parts);
}

at::Tensor pick(const at::Tensor& flat, const at::Tensor& positions, std::int64_t parts) {
  if (parts == 1) return flat.index_select(0, positions).cpu();
  return flat.view({-1, parts}).index_select(0, positions).cpu().contiguous();
}

bool close(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  const at::Tensor scale = at::maximum(a.abs(), b.abs());
  return (a - b).abs_().le(scale * tolerance).all().item<bool>();
}

std::string number(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// Whether the answers are the right ones of other places.
std::string shift_of(const Expected& expected, const WrongSample& sample, const at::Tensor& got) {
  const std::int64_t elements = expected.value.numel();
  std::vector<std::int64_t> shifts{1, -1};
  if (expected.shape.size() > 1 && expected.shape.back() > 1) {
    shifts.push_back(expected.shape.back());
    shifts.push_back(-expected.shape.back());
  }
  const at::Tensor positions = at::tensor(sample.positions, at::kLong);
  for (std::int64_t shift : shifts) {
    const at::Tensor moved = positions + shift;
    const at::Tensor inside = moved.ge(0).logical_and_(moved.lt(elements)).nonzero().view({-1});
    if (inside.numel() < kFewest) continue;
    const at::Tensor there =
        expected.value.index_select(0, moved.index_select(0, inside).to(expected.value.device()))
            .cpu()
            .to(at::kDouble);
    const at::Tensor here = got.index_select(0, inside);
    const auto equal = (there - here).abs_().le(there.abs() * kSameValue).sum().item<std::int64_t>();
    if (static_cast<double>(equal) < kMost * static_cast<double>(inside.numel())) continue;
    return std::string(equal == moved.numel() ? "every" : "nearly every") +
           " wrong value is the expected one " + std::to_string(std::abs(shift)) +
           (std::abs(shift) == 1 ? " element " : " elements ") + (shift > 0 ? "further" : "before");
  }
  return "";
}

}  // namespace

WrongSample sample_wrong(const Expected& expected, const at::Tensor& got, const at::Tensor& mask,
                         std::int64_t most) {
  const at::Tensor positions = first_positions(mask, most);
  const std::int64_t parts = expected.value.numel() / std::max<std::int64_t>(mask.numel(), 1);
  WrongSample sample;
  sample.expected = pick(expected.value, positions, parts);
  sample.got = pick(got, positions, parts);
  const at::Tensor host = positions.cpu();
  const auto* first = host.const_data_ptr<std::int64_t>();
  sample.positions.assign(first, first + host.numel());
  return sample;
}

std::optional<std::uint8_t> fill_byte(const WrongSample& sample,
                                      std::optional<std::uint8_t> poison) {
  const auto* bytes = static_cast<const std::uint8_t*>(sample.got.const_data_ptr());
  const std::size_t size = sample.got.nbytes();
  if (size == 0 || (sample.got.element_size() == 1 && !poison)) return std::nullopt;
  const std::uint8_t byte = poison.value_or(bytes[0]);
  const bool filled = std::all_of(bytes, bytes + size, [&](std::uint8_t b) { return b == byte; });
  if (!filled || (byte == 0 && !poison)) return std::nullopt;
  return byte;
}

std::string common_value(const Expected& expected, const WrongSample& sample) {
  const at::Tensor got = sample.got.to(at::kDouble);
  const at::Tensor wanted = sample.expected.to(at::kDouble);
  if (got.numel() < 2 || !got.isfinite().all().item<bool>()) return "";
  const double first = got.view({-1})[0].item<double>();
  if (got.eq(first).all().item<bool>()) return "every wrong value is " + number(first, "%.9g");
  if (sample.expected.dim() == 1) {
    std::string shifted = shift_of(expected, sample, got);
    if (!shifted.empty()) return shifted;
  }
  const at::Tensor usable = wanted.ne(0).nonzero();
  if (usable.numel() == 0) return "";
  const double ratio = (got.div(wanted)).masked_select(wanted.ne(0)).median().item<double>();
  if (ratio != 0 && close(got, wanted * ratio, kSameRatio)) {
    return "every wrong value is " + number(ratio, "%.6g") + " times the expected one";
  }
  if (const at::Tensor offset = got - wanted;
      close(offset, offset.median().expand_as(offset), kSameRatio)) {
    return "every wrong value is off by " + number(offset.median().item<double>(), "%.6g");
  }
  return "";
}

std::string print_value(const at::Tensor& values, std::int64_t position, DType dtype) {
  const at::Tensor value = values[position];
  if (value.dim() == 1) {
    return "(" + print_value(value, 0, dtype) + ", " + print_value(value, 1, dtype) + ")";
  }
  if (dtype == DType::boolean) return value.item<bool>() ? "true" : "false";
  if (!is_floating(dtype)) return std::to_string(value.item<std::int64_t>());
  const double eps = epsilon(dtype);
  return number(value.to(at::kDouble).item<double>(),
                eps < 1e-10 ? "%.17g" : eps < 1e-5 ? "%.9g" : "%.5g");
}

}  // namespace kagent::reference
