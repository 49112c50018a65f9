// SPDX-License-Identifier: Apache-2.0
#include "policy/outputs.h"

#include "policy/bindings.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kagent::policy {
namespace {

using Kind = OutputTree::Kind;

OutputTree tensor(int index) {
  OutputTree tree;
  tree.tensor = {index};
  return tree;
}

OutputTree scalar(decltype(Argument::value) value) {
  OutputTree tree;
  tree.kind = Kind::scalar;
  tree.scalar.value = std::move(value);
  return tree;
}

OutputTree nest(Kind kind, std::vector<OutputTree> items, std::vector<std::string> keys = {}) {
  OutputTree tree;
  tree.kind = kind;
  tree.items = std::move(items);
  tree.keys = std::move(keys);
  return tree;
}

/// Values: 0 and 1 as the reference's outputs 0 and 1, 2 with another shape, 3 with another dtype.
struct Outputs : testing::Test {
  Outputs() {
    plan.values.resize(4);
    plan.values[0].spec = {DType::float32, {4, 8}, {8, 1}};
    plan.values[1].spec = {DType::int64, {4}, {1}};
    plan.values[2].spec = {DType::float32, {4, 7}, {7, 1}};
    plan.values[3].spec = {DType::float16, {4, 8}, {8, 1}};
    layout.entries = {{"0", plan.values[0].spec, 0, 128}, {"1", plan.values[1].spec, 256, 32}};
  }

  std::optional<Fault> check(OutputTree got, const OutputTree& reference) {
    plan.outputs = std::move(got);
    return check_outputs(plan, reference, layout);
  }
  std::string message(OutputTree got, const OutputTree& reference) {
    const auto fault = check(std::move(got), reference);
    return fault ? fault->message : "ok";
  }

  Plan plan;
  ArenaLayout layout;
};

TEST_F(Outputs, MayBeTheSame) {
  EXPECT_EQ(message(tensor(0), tensor(0)), "ok");
  const auto tree =
      nest(Kind::dict, {nest(Kind::tuple, {tensor(0), scalar(true)}), tensor(1)}, {"a", "b"});
  EXPECT_EQ(message(tree, tree), "ok");
  plan.values[0].spec.stride = {1, 4};  // strides may differ
  EXPECT_EQ(message(tensor(0), tensor(0)), "ok");
}

TEST_F(Outputs, DifferInShapeAndDtype) {
  auto fault = check(tensor(2), tensor(0));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::shape);
  EXPECT_EQ(fault->message, "output has shape [4, 7], and the reference's has [4, 8]");
  EXPECT_EQ(fault->output, 0);
  EXPECT_EQ(fault->expected, "[4, 8]");
  EXPECT_EQ(fault->got, "[4, 7]");
  fault =
      check(nest(Kind::tuple, {tensor(0), tensor(3)}), nest(Kind::tuple, {tensor(0), tensor(0)}));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::dtype);
  EXPECT_EQ(fault->message, "output[1] has dtype float16, and the reference's has float32");
}

TEST_F(Outputs, DifferInStructure) {
  const auto pair = nest(Kind::tuple, {tensor(0), tensor(1)});
  EXPECT_EQ(message(tensor(0), pair), "output is a tensor, and the reference returns a tuple of 2");
  EXPECT_EQ(message(nest(Kind::tuple, {tensor(0)}), pair),
            "output is a tuple of 1, and the reference returns a tuple of 2");
  EXPECT_EQ(message(nest(Kind::list, {tensor(0), tensor(1)}), pair),
            "output is a list of 2, and the reference returns a tuple of 2");
  EXPECT_EQ(message(nest(Kind::dict, {tensor(0)}, {"b\n"}), nest(Kind::dict, {tensor(0)}, {"a"})),
            "output is b\\n, and the reference returns the keys a");
  EXPECT_EQ(message(nest(Kind::dict, {scalar(true)}, {"a"}), nest(Kind::dict, {tensor(0)}, {"a"})),
            "output[\"a\"] is a scalar, and the reference returns a tensor");
}

TEST_F(Outputs, CompareScalarsByTypeAndValue) {
  EXPECT_EQ(message(scalar(std::nan("")), scalar(std::nan(""))), "ok");
  EXPECT_EQ(message(scalar(std::int64_t{1}), scalar(1.0)),
            "output is 1, and the reference returns 1.0");
  EXPECT_EQ(check(scalar(2.0), scalar(1.0))->kind, FaultKind::mismatch);
}

TEST_F(Outputs, SurviveAReferenceThatLies) {
  EXPECT_EQ(message(tensor(0), tensor(7)),
            "output is a tensor, and the reference returns a tensor that it did not share");
}

TEST(Bindings, MustBeTheTasks) {
  TaskSignature signature;
  signature.inputs.resize(2);
  signature.inputs[0].tensor = TensorSpec{DType::float32, {4}, {1}};
  signature.inputs[1].scalar.value = 2.5;
  signature.weights = {{"w", {DType::float32, {8}, {1}}, true}};
  Plan plan;
  plan.values.resize(2);
  plan.values[0] = {{DType::float32, {4}, {1}}, ValueOrigin::input, 0, {}, {}};
  plan.values[1] = {{DType::float32, {8}, {1}}, ValueOrigin::weight, -1, "w", {}};
  EXPECT_FALSE(check_bindings(plan, signature));
  const auto message = [&](std::size_t index, auto change) {
    Plan other = plan;
    change(other.values[index]);
    const auto fault = check_bindings(other, signature);
    EXPECT_TRUE(!fault || fault->kind == FaultKind::tampering);
    return fault ? fault->message : "ok";
  };
  EXPECT_EQ(message(0, [](auto& v) { v.input = 1; }),
            "the recorded plan uses input 1, which the task does not have");
  EXPECT_EQ(message(0, [](auto& v) { v.input = 9; }),
            "the recorded plan uses input 9, which the task does not have");
  EXPECT_EQ(message(1, [](auto& v) { v.path = "x"; }),
            "the recorded plan uses weight x, which the task does not have");
  EXPECT_EQ(message(1, [](auto& v) { v.spec.shape = {9}; }),
            "the recorded plan uses weight w as float32[9], and the task has float32[8] (or other "
            "strides)");
}

}  // namespace
}  // namespace kagent::policy
