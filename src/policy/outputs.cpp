// SPDX-License-Identifier: Apache-2.0
#include "policy/outputs.h"

#include "base/pack_scalar.h"
#include "base/text.h"
#include "wire/json.h"
#include "wire/tensor_text.h"

#include <cmath>

namespace kagent::policy {
namespace {

using Kind = OutputTree::Kind;

std::string kind_text(const OutputTree& tree) {
  switch (tree.kind) {
    case Kind::tensor: return "a tensor";
    case Kind::scalar: return "a scalar";
    case Kind::list: return "a list of " + std::to_string(tree.items.size());
    case Kind::tuple: return "a tuple of " + std::to_string(tree.items.size());
    case Kind::dict: return "a dict of " + std::to_string(tree.items.size());
  }
  return "";
}

std::string scalar_text(const Argument& scalar) {
  if (const auto* number = std::get_if<double>(&scalar.value)) return base::number_text(*number);
  return base::one_line(wire::dump(*wire::to_json(scalar).begin()), 80);
}

/// NaN stands for itself here.
bool same_scalar(const Argument& a, const Argument& b) {
  const auto* x = std::get_if<double>(&a.value);
  const auto* y = std::get_if<double>(&b.value);
  if (x != nullptr && y != nullptr && std::isnan(*x)) return std::isnan(*y);
  return a == b;
}

class OutputCheck {
 public:
  OutputCheck(const Plan& plan, const ArenaLayout& outputs) : plan_(plan), outputs_(outputs) {}

  std::optional<Fault> compare(const OutputTree& got, const OutputTree& expected,
                               const std::string& path) const {
    if (got.kind != expected.kind || got.items.size() != expected.items.size()) {
      return structure(path, kind_text(expected), kind_text(got));
    }
    if (got.kind == Kind::tensor) return compare_tensors(got.tensor, expected.tensor, path);
    if (got.kind == Kind::scalar && !same_scalar(got.scalar, expected.scalar)) {
      Fault fault = structure(path, scalar_text(expected.scalar), scalar_text(got.scalar));
      fault.kind = FaultKind::mismatch;
      return fault;
    }
    if (got.keys != expected.keys) {
      return structure(path, "the keys " + base::join(expected.keys, ", "),
                       base::one_line(base::join(got.keys, ", ")));
    }
    for (std::size_t i = 0; i < got.items.size(); ++i) {
      const std::string key =
          got.kind == Kind::dict ? "\"" + got.keys[i] + "\"" : std::to_string(i);
      auto fault = compare(got.items[i], expected.items[i], path + "[" + key + "]");
      if (fault) return fault;
    }
    return std::nullopt;
  }

 private:
  Fault structure(const std::string& path, const std::string& expected,
                  const std::string& got) const {
    Fault fault;
    fault.kind = FaultKind::shape;
    fault.message =
        base::one_line(path, 200) + " is " + got + ", and the reference returns " + expected;
    fault.expected = expected;
    fault.got = got;
    fault.at = {"model_new.py", 0};
    return fault;
  }

  std::optional<Fault> compare_tensors(ValueId got_id, ValueId expected_id,
                                       const std::string& path) const {
    const TensorSpec& got = plan_.values[static_cast<std::size_t>(got_id.index)].spec;
    const auto index = static_cast<std::size_t>(expected_id.index);
    if (expected_id.index < 0 || index >= outputs_.entries.size()) {
      // The reference runs task.py, so that even its answers are only believed.
      return structure(path, "a tensor that it did not share", "a tensor");
    }
    const TensorSpec& expected = outputs_.entries[index].spec;
    if (got.shape == expected.shape && got.dtype == expected.dtype) return std::nullopt;
    const bool shape = got.shape != expected.shape;
    Fault fault =
        structure(path, shape ? wire::shape_text(expected.shape) : wire::word(expected.dtype),
                  shape ? wire::shape_text(got.shape) : wire::word(got.dtype));
    fault.kind = shape ? FaultKind::shape : FaultKind::dtype;
    fault.message = base::one_line(path, 200) + " has " + (shape ? "shape " : "dtype ") +
                    fault.got + ", and the reference's has " + fault.expected;
    fault.output = expected_id.index;
    return fault;
  }

  const Plan& plan_;
  const ArenaLayout& outputs_;
};

}  // namespace

std::optional<Fault> check_outputs(const Plan& plan, const OutputTree& reference,
                                   const ArenaLayout& reference_outputs) {
  return OutputCheck(plan, reference_outputs).compare(plan.outputs, reference, "output");
}

}  // namespace kagent::policy
