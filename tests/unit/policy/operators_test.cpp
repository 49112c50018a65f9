// SPDX-License-Identifier: Apache-2.0
#include "policy/operators.h"

#include <gtest/gtest.h>

namespace kagent::policy {
namespace {

using Names = std::vector<std::string>;

Step op(std::string overload, std::string torch_name = {}, std::vector<Argument> arguments = {}) {
  OperatorStep step;
  step.overload = std::move(overload);
  step.torch_name = std::move(torch_name);
  step.arguments = std::move(arguments);
  return {std::move(step), {"model_new.py", 14}};
}

Step launch() {
  return {LaunchStep{.kernel = 0, .cluster = {}, .arguments = {}}, {"model_new.py", 20}};
}

Plan plan_of(std::vector<Step> forward, std::vector<Step> prepare = {}) {
  Plan plan;
  plan.kernels.push_back({"kernels/a.cu", "a", {}, {}});
  plan.forward = std::move(forward);
  plan.prepare = std::move(prepare);
  return plan;
}

JudgeSettings allowing(Names allow_ops) {
  JudgeSettings settings;
  settings.allow_ops = std::move(allow_ops);
  return settings;
}

std::string verdict(const Plan& plan, const Names& allow_ops) {
  const auto fault = check_operators(plan, allowing(allow_ops));
  if (!fault) return "ok";
  return fault->kind == FaultKind::forbidden_op ? fault->message : "no_custom_kernel";
}

std::string allow_error(const Names& allow_ops) {
  const auto result = check_allow_ops(allow_ops);
  if (result) return "ok";
  EXPECT_EQ(result.error().kind, ErrorKind::usage);
  return result.error().message;
}

TEST(CheckOperators, AllowsGroupsByPolicy) {
  const struct {
    const char* overload;
    const char* none;
    const char* by_default;
    const char* any;
  } cases[] = {
      {"aten::view", "ok", "ok", "ok"},
      {"aten::empty_like", "ok", "ok", "ok"},
      {"aten::cat", "ok", "ok", "ok"},
      {"aten::_to_copy", "ok", "ok", "ok"},
      {"aten::constant_pad_nd", "ok", "ok", "ok"},
      {"aten::mm", "aten::mm cannot be replayed under this policy", "ok", "ok"},
      {"aten::_addmm_activation", "aten::_addmm_activation cannot be replayed under this policy",
       "ok", "ok"},
      {"aten::cudnn_convolution_relu",
       "aten::cudnn_convolution_relu cannot be replayed under this policy", "ok", "ok"},
      {"aten::_softmax", "aten::_softmax cannot be replayed under this policy",
       "aten::_softmax cannot be replayed under this policy", "ok"},
      {"aten::set_.source_Storage",
       "aten::set_.source_Storage cannot be replayed under any policy: it is not in the operator "
       "table",
       "aten::set_.source_Storage cannot be replayed under any policy: it is not in the operator "
       "table",
       "aten::set_.source_Storage cannot be replayed under any policy: it is not in the operator "
       "table"},
  };
  for (const auto& row : cases) {
    std::vector<Argument> arguments(8, Argument{Argument::None{}});
    const Plan plan = plan_of({op(row.overload, {}, arguments), launch()});
    EXPECT_EQ(verdict(plan, {"none"}), row.none) << row.overload;
    EXPECT_EQ(verdict(plan, {"gemm", "conv"}), row.by_default) << row.overload;
    EXPECT_EQ(verdict(plan, {"any"}), row.any) << row.overload;
  }
}

TEST(CheckOperators, AllowsSingleNames) {
  const Plan plan = plan_of({op("aten::_softmax"), op("aten::mm"), launch()});
  EXPECT_EQ(verdict(plan, {"aten::_softmax", "gemm"}), "ok");
  EXPECT_EQ(verdict(plan, {"aten::_softmax", "conv"}),
            "aten::mm cannot be replayed under this policy");
  EXPECT_EQ(verdict(plan, {"aten::_softmax", "aten::mm"}), "ok");
}

TEST(CheckOperators, SaysWhereAndWhatToDo) {
  const auto fault =
      check_operators(plan_of({launch(), op("aten::_softmax", "torch.softmax")}), JudgeSettings());
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::forbidden_op);
  EXPECT_EQ(fault->message, "torch.softmax cannot be replayed under this policy");
  EXPECT_EQ(fault->hint,
            "write it in a kernel, allow it with --allow-ops gemm,conv,aten::_softmax (labelled), "
            "or judge the file as "
            "it is with --runtime python");
  EXPECT_EQ(fault->at, (SourceLine{"model_new.py", 14}));
}

TEST(CheckOperators, NamesEverythingThatWouldHaveToBeAllowed) {
  const auto hint = [](std::vector<Step> steps, const Names& allow_ops) {
    steps.push_back(launch());
    return check_operators(plan_of(std::move(steps)), allowing(allow_ops))->hint;
  };
  EXPECT_NE(
      hint({op("aten::mul.Scalar"), op("aten::relu"), op("aten::relu"), op("aten::t")}, {"none"})
          .find("--allow-ops aten::mul.Scalar,aten::relu (labelled)"),
      std::string::npos);
  std::vector<Step> many;
  for (const char* name : {"exp", "log", "sin", "cos", "tan", "erf", "abs"}) {
    many.push_back(op(std::string("aten::") + name));
  }
  EXPECT_NE(hint(many, {"gemm"}).find("--allow-ops any (labelled)"), std::string::npos);
}

TEST(CheckOperators, EscapesHostileNames) {
  const auto fault = check_operators(plan_of({op("aten::x\x1b[31m\n", "a\nb")}), JudgeSettings());
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->message,
            "a\\nb (aten::x\\x1b[31m\\n) cannot be replayed under any policy: it is not in the "
            "operator table");
}

TEST(CheckOperators, PrepareHasALongerTable) {
  const auto in_prepare = [](const char* name, const Names& allow_ops) {
    return verdict(plan_of({launch()}, {op(name, {}, std::vector<Argument>(8))}), allow_ops);
  };
  EXPECT_EQ(in_prepare("aten::mul.Tensor", {"none"}), "ok");
  EXPECT_EQ(in_prepare("aten::mm", {"none"}), "ok");
  EXPECT_EQ(in_prepare("aten::avg_pool2d", {"none"}),
            "aten::avg_pool2d cannot be replayed in prepare under this policy");
  EXPECT_EQ(in_prepare("aten::avg_pool2d", {"aten::avg_pool2d"}), "ok");
  EXPECT_EQ(in_prepare("aten::from_file", {"any"}),
            "aten::from_file cannot be replayed under any policy: it is not in the operator table");
}

TEST(CheckOperators, WantsAKernelUnlessAnyIsAllowed) {
  const Plan plan = plan_of({op("aten::mm")}, {launch()});  // a launch in prepare does not count
  EXPECT_EQ(verdict(plan, {"gemm", "conv"}), "no_custom_kernel");
  EXPECT_EQ(verdict(plan, {"aten::mm"}), "no_custom_kernel");
  EXPECT_EQ(verdict(plan_of({}), {"none"}), "no_custom_kernel");
  EXPECT_EQ(verdict(plan, {"any"}), "ok");
}

TEST(CheckOperators, ReadsArgumentsThatChangeTheMeaning) {
  const Argument none{Argument::None{}};
  const Argument tensor{ValueId{0}};
  const auto batch_norm = [&](bool training, const Argument& running) {
    return verdict(
        plan_of({op("aten::native_batch_norm", "F.batch_norm",
                    {tensor, tensor, tensor, running, running, {training}, {0.1}, {1e-5}}),
                 launch()}),
        {"any"});
  };
  EXPECT_EQ(batch_norm(false, tensor), "ok");
  EXPECT_EQ(batch_norm(true, none), "ok");
  EXPECT_EQ(batch_norm(true, tensor),
            "F.batch_norm updates running statistics, which cannot be replayed");
  const auto attention = [&](const Argument& dropout) {
    return verdict(plan_of({op("aten::_scaled_dot_product_flash_attention", {},
                               {tensor, tensor, tensor, dropout, {false}, {false}, none}),
                            launch()}),
                   {"any"});
  };
  EXPECT_EQ(attention({0.0}), "ok");
  EXPECT_NE(attention({0.1}).find("draws random numbers"), std::string::npos);
  EXPECT_NE(attention({std::string("0")}).find("draws random numbers"), std::string::npos);
  const auto zeros = [&](const Argument& pinned) {
    return verdict(
        plan_of({op("aten::zeros", {}, {{Argument::List{}}, none, none, none, pinned}), launch()}),
        {"none"});
  };
  EXPECT_EQ(zeros({false}), "ok");
  EXPECT_EQ(zeros(none), "ok");
  EXPECT_EQ(zeros({true}), "aten::zeros asks for pinned memory, which cannot be replayed");
  EXPECT_NE(verdict(plan_of({op("aten::zeros", {}, {}), launch()}), {"none"}),
            "ok");  // too few arguments
}

TEST(CheckAllowOps, KnowsNames) {
  EXPECT_EQ(allow_error({"gemm", "conv"}), "ok");
  EXPECT_EQ(allow_error({"none"}), "ok");
  EXPECT_EQ(allow_error({"any"}), "ok");
  EXPECT_EQ(allow_error({"aten::_softmax", "gemm"}), "ok");
  EXPECT_EQ(allow_error({}), "--allow-ops: empty; say none, any, gemm, conv or aten:: names");
  EXPECT_EQ(allow_error({"any", "gemm"}), "--allow-ops: \"any\" stands alone");
  EXPECT_EQ(allow_error({"gemm", "none"}), "--allow-ops: \"none\" stands alone");
  EXPECT_EQ(allow_error({"pooling"}),
            "--allow-ops: \"pooling\" is none of gemm, conv, none, any, and no name that begins "
            "with aten::");
  EXPECT_EQ(
      allow_error({"aten::add"}),
      "--allow-ops: \"aten::add\" is no operator that can be replayed; there is aten::add.Scalar, "
      "aten::add.Tensor");
  EXPECT_EQ(allow_error({"aten::randn"}),
            "--allow-ops: \"aten::randn\" is no operator that can be replayed; docs/operators.md "
            "lists them");
}

TEST(Labels, SayWhatWasBeyondTheDefault) {
  EXPECT_EQ(labels(plan_of({op("aten::mm"), launch()}), JudgeSettings()), Names{});
  EXPECT_EQ(labels(plan_of({op("aten::_softmax"), op("aten::_softmax"), op("aten::relu")}),
                   allowing({"any"})),
            (Names{"torch_only", "allowed:aten::_softmax", "allowed:aten::relu"}));
  Plan plan = plan_of({launch()});
  plan.backend = Backend::cpu;
  EXPECT_EQ(labels(plan, JudgeSettings()), Names{"trust:native"});
}

}  // namespace
}  // namespace kagent::policy
