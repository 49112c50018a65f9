// SPDX-License-Identifier: Apache-2.0
#include "policy/value_text.h"

#include "base/pack_scalar.h"
#include "base/text.h"
#include "wire/json.h"

namespace kagent::policy {
namespace {

struct GivenText {
  const Plan& plan;
  std::string operator()(ValueId id) const {
    return spec_text(plan.values[static_cast<std::size_t>(id.index)].spec);
  }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return base::number_text(value); }
  std::string operator()(const TensorMap&) const { return "a tensor map"; }
};

}  // namespace

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  sizes.reserve(shape.size());
  for (const std::int64_t size : shape) sizes.push_back(std::to_string(size));
  return "[" + base::join(sizes, ", ") + "]";
}

std::string spec_text(const TensorSpec& spec) {
  return wire::word(spec.dtype) + shape_text(spec.shape);
}

std::string given_text(const LaunchArgument& argument, const Plan& plan) {
  return std::visit(GivenText{plan}, argument);
}

std::string dimensions_text(const std::array<std::int64_t, 3>& dimensions) {
  return std::to_string(dimensions[0]) + "x" + std::to_string(dimensions[1]) + "x" +
         std::to_string(dimensions[2]);
}

}  // namespace kagent::policy
