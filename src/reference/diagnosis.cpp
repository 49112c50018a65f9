// SPDX-License-Identifier: Apache-2.0
#include "reference/diagnosis.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "reference/pattern.h"
#include "reference/wrong_sample.h"

#include <ATen/ATen.h>

namespace kagent::reference {
namespace {

constexpr std::int64_t kSample = 4096;
constexpr std::size_t kListed = 8;   // wrong elements spelled out in the detail

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

// One bool per element of the output, also where the flat view holds pairs.
at::Tensor per_element(const at::Tensor& mask, DType dtype) {
  const bool pairs = dtype == DType::complex64 || dtype == DType::complex128;
  return pairs ? mask.view({-1, 2}).any(1) : mask;
}

std::vector<bool> hits_along(const at::Tensor& mask, const std::vector<std::int64_t>& shape,
                             std::size_t dimension) {
  std::int64_t inner = 1;
  for (std::size_t d = dimension + 1; d < shape.size(); ++d) inner *= shape[d];
  const at::Tensor any =
      mask.view({-1, shape[dimension], inner}).any(2).any(0).cpu().contiguous();
  const bool* first = any.const_data_ptr<bool>();
  return std::vector<bool>(first, first + any.numel());
}

struct Where {
  std::string text;    // "all wrong elements are …", or empty
  bool tail = false;
};

Where locate(const at::Tensor& mask, const std::vector<std::int64_t>& shape, std::int64_t wrong,
             std::int64_t first) {
  if (wrong == mask.numel() || wrong < 2) return {};
  std::string text;
  bool tail = false;
  std::int64_t box = 1;   // elements that the patterns together name
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::vector<bool> hits = hits_along(mask, shape, d);
    box *= std::count(hits.begin(), hits.end(), true);
    const std::string pattern = pattern_along(hits, static_cast<int>(d));
    if (pattern.empty()) continue;
    tail = tail || is_tail(pattern);
    text += (text.empty() ? "all wrong elements are " : " and ") + pattern;
  }
  if (box != wrong && wrong == mask.numel() - first) {
    return {"all wrong elements are the last " + std::to_string(wrong) + " in row-major order", true};
  }
  return {text, tail};
}

std::string hint_for(const Finding& finding, bool unwritten, bool tail, DType dtype) {
  if (unwritten) {
    return tail ? "the kernel never writes the tail: round the grid up and guard the last block"
                : "the kernel never writes these elements: check the grid, the strides and the guard";
  }
  if (finding.kind == FaultKind::non_finite) {
    return "look for a division by zero, an exp that overflows (subtract the maximum first), or "
           "memory read before it is written";
  }
  if (finding.spread) {
    return "every element is slightly off: look for a wrong constant (an epsilon, a scale), a type "
           "that is too narrow, or one accumulator for a very long sum (use several, or double)";
  }
  if (tail) return "check the bounds of the last block or tile";
  if (!is_floating(dtype)) {
    return "integers and bools are compared exactly; where values tie, torch's choice counts";
  }
  return "";
}

std::string listing(const Expected& expected, const WrongSample& sample) {
  std::string text;
  const std::size_t count = std::min(kListed, sample.positions.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    text += index_text(unravel(sample.positions[i], expected.shape)) + ": expected " +
            print_value(sample.expected, at, expected.dtype) + ", got " +
            print_value(sample.got, at, expected.dtype) + "\n";
  }
  return text;
}

std::string spread_message(const std::string& name, const Expected& expected,
                           const Finding& finding) {
  return name + " is imprecise everywhere: RMS error " + figure(finding.rms) + " where " +
         figure(expected.allowed_rms) + " is allowed (eager PyTorch: " + figure(expected.noise_rms) +
         ")";
}

}  // namespace

Fault diagnose(int output, const Expected& expected, const at::Tensor& got, const Finding& finding,
               std::optional<std::uint8_t> poison) {
  const at::Tensor mask = per_element(finding.mask, expected.dtype);
  const std::int64_t wrong = mask.sum().item<std::int64_t>();
  const WrongSample sample = sample_wrong(expected, got, mask, kSample);
  KAGENT_CHECK(!sample.positions.empty());
  const bool unwritten = fill_byte(sample, poison).has_value();
  const Where where = locate(mask, expected.shape, wrong, sample.positions[0]);
  const std::string values = unwritten ? "they were never written (they hold the fill pattern)"
                                       : common_value(expected, sample);

  Fault fault;
  fault.kind = finding.kind;
  fault.output = output;
  fault.index = unravel(sample.positions[0], expected.shape);
  fault.expected = print_value(sample.expected, 0, expected.dtype);
  fault.got = print_value(sample.got, 0, expected.dtype);
  const std::string name = "output " + std::to_string(output);
  fault.message = finding.spread
                      ? spread_message(name, expected, finding)
                      : name + (finding.kind == FaultKind::non_finite ? " is not finite" : " is wrong") +
                            " in " + std::to_string(wrong) + " of " + std::to_string(mask.numel()) +
                            " elements";
  fault.message += ", first at " + index_text(fault.index) + ": expected " + fault.expected +
                   ", got " + fault.got;
  if (!where.text.empty()) fault.message += "; " + where.text;
  if (!values.empty()) fault.message += "; " + values;
  fault.hint = hint_for(finding, unwritten, where.tail, expected.dtype);
  fault.detail = listing(expected, sample);
  return fault;
}

}  // namespace kagent::reference
