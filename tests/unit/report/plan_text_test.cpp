// SPDX-License-Identifier: Apache-2.0
#include "report/plan_text.h"

#include "../../fakes/sample_plan.h"
#include "report/operators_markdown.h"
#include "wire/json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace kagent::report {
namespace {

constexpr const char* kGolden =
    R"(plan for cuda: 4 steps in forward, 1 in prepare, 1 kernel

kernels
  model_new.py:6  softmax_rows<1024> from kernels/softmax.cu with -use_fast_math

given
  input0            float32[64, 32]
  self.norm.weight  float32[32]
  constant2         float32[2]

prepare (once for each set of weights)
  model_new.py:9  t3: float32[32] = aten::mul.Tensor(self.norm.weight, 2.0)  # elementwise
  self.prepared["folded"] = t3: float32[32]

forward
  model_new.py:12  t5: float32[32, 64] with strides [1, 32] = aten::t(input0)  # view
  model_new.py:12  t6: float32[64, 64] = aten::mm(input0, t5)  # gemm
  model_new.py:13  t7: float32[64, 64] = aten::empty.memory_format([64, 64], float32, False, contiguous)  # factory
  model_new.py:14  softmax_rows<1024>[grid 64x1x1, block 256x1x1, 128 B shared, cluster 2x1x1, programmatic](t7, t6, 64, 1.5, True, tensor_map(t6, box [64, 16], swizzle 128B))  # own kernel

returns
  {"y": t7: float32[64, 64], "rest": (3, [self.prepared["folded"]: float32[32]])}

tunables (the first value is the default)
  BLOCK  256, 512
)";

Plan sample() {
  auto plan = wire::parse<Plan>(*wire::parse_text(fakes::kSamplePlan, "plan"));
  if (!plan) {
    ADD_FAILURE() << plan.error().message;
    return {};
  }
  return *std::move(plan);
}

TEST(PlanText, ReadsAsAStory) { EXPECT_EQ(plan_text(sample()), kGolden); }

TEST(PlanText, LeavesOutWhatIsNotThere) {
  Plan plan;
  plan.backend = Backend::cpu;
  plan.values.push_back({{DType::int64, {}, {}}, ValueOrigin::input, 0, {}, {}});
  plan.outputs.tensor = {0};
  EXPECT_EQ(plan_text(plan),
            "plan for cpu: 0 steps in forward, 0 in prepare, 0 kernels\n\ngiven\n  input0  "
            "int64[]\n\nforward\n\n"
            "returns\n  input0: int64[]\n");
}

TEST(PlanText, EscapesHostileTexts) {
  Plan plan = sample();
  plan.kernels[0].name = "a\x1b[31m";
  plan.kernels[0].source = "b\n";
  plan.forward[0].at.file = "c\r";
  plan.values[1].path = "d\x9b";
  plan.tunables[0].name = "e\t";
  const std::string text = plan_text(plan);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\t'), std::string::npos);
  EXPECT_EQ(text.find('\x9b'), std::string::npos);
}

TEST(OperatorsMarkdown, IsThePageInDocs) {
  std::ifstream file(KAGENT_OPERATORS_PAGE);
  ASSERT_TRUE(file) << KAGENT_OPERATORS_PAGE;
  std::stringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), operators_markdown()) << "run scripts/update-operators-doc";
}

}  // namespace
}  // namespace kagent::report
