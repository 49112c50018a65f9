// SPDX-License-Identifier: Apache-2.0
#include "wire/tensor_text.h"

#include "base/text.h"
#include "wire/json.h"

namespace kagent::wire {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  sizes.reserve(shape.size());
  for (const std::int64_t size : shape) sizes.push_back(std::to_string(size));
  return "[" + base::join(sizes, ", ") + "]";
}

std::string spec_text(const TensorSpec& spec) { return word(spec.dtype) + shape_text(spec.shape); }

std::string dimensions_text(const std::array<std::int64_t, 3>& dimensions) {
  return std::to_string(dimensions[0]) + "x" + std::to_string(dimensions[1]) + "x" +
         std::to_string(dimensions[2]);
}

}  // namespace kagent::wire
