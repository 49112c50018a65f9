// SPDX-License-Identifier: Apache-2.0
// A candidate's own kernels on the CPU: right, out of bounds, writing where they must not, endless.
#include "runner_fixture.h"

#include <sched.h>

#include <chrono>
#include <csignal>

namespace kagent::testing {
namespace {

using KernelsTest = RunnerTest;
using Clock = std::chrono::steady_clock;

// launch_0: y[i] = scale * x[i] for i < n, plus what `reach` asks for beyond it.
// launch_1: spins for ever. launch_2: throws. launch_3: writes the denormal sum of x[0] and x[1].
constexpr const char* kSource = R"(
#include <cstdint>
#include <stdexcept>
template <typename T> T take(const void* p) { return *static_cast<const T*>(p); }
extern "C" void kagent_launch_0(const void* const* a, const std::int64_t* grid) {
  float* y = take<float*>(a[0]); const float* x = take<const float*>(a[1]);
  const int n = take<int>(a[2]); const float scale = take<float>(a[3]); const int reach = take<int>(a[4]);
  for (std::int64_t b = 0; b < grid[0]; ++b)
    for (int i = 0; i < n; ++i) y[i] = scale * x[i];
  if (reach > 0) for (int i = 0; i < reach; ++i) y[n + i] = 7;
  if (reach < 0) for (int i = reach; i < 0; ++i) y[i] = 7;
}
extern "C" void kagent_launch_1(const void* const*, const std::int64_t*) {
  volatile bool go = true; while (go) {}
}
extern "C" void kagent_launch_2(const void* const*, const std::int64_t*) {
  throw std::runtime_error("no such tile");
}
extern "C" void kagent_launch_3(const void* const* a, const std::int64_t*) {
  float* y = take<float*>(a[0]); const float* x = take<const float*>(a[1]);
  y[0] = x[0] + x[1];
}
)";

const std::vector<Parameter> kScaleParameters{
    {"float*"}, {"const float*"}, {"int"}, {"float"}, {"int"}};

struct Scale {
  PlanMaker maker;
  ValueId x, y;
  int kernel = -1;
};

/// x of `count` floats scaled into a new y; reach as in the kernel. The launch is on line 2.
Scale scale_plan(std::int64_t count, std::int64_t reach) {
  Scale made;
  made.x = made.maker.input(contiguous({count}), counting(count));
  made.kernel = made.maker.kernel(made.maker.unit(kSource), 0, "scale<float>", kScaleParameters);
  made.y = made.maker.empty(contiguous({count}));
  made.maker.launch(made.kernel, {made.y, made.x, count, 3.0, reach});
  return made;
}

TEST_F(KernelsTest, KernelRunsOnItsArguments) {
  Scale scale = scale_plan(5, 0);
  const Evaluation evaluation = scale.maker.finish({scale.y});
  for (int i = 0; i < 2; ++i) {  // two evaluations in a row, each in a child of its own
    const Json answer = evaluate(evaluation);
    ASSERT_TRUE(answer.contains("ok")) << answer.dump();
    EXPECT_EQ(evaluation.outputs.read<float>(0), (std::vector<float>{0, 3, 6, 9, 12}));
  }
}

TEST_F(KernelsTest, OutOfBoundsWritesAreNamed) {
  struct Case {
    std::int64_t count, reach;
    const char* message;
  };
  const std::vector<Case> cases{
      {5, 1, "wrote bytes 0 to 3 past the end of a tensor of 20 bytes (argument 0)"},
      {1024, 16, "wrote bytes 0 to 63 past the end of a tensor of 4096 bytes (argument 0)"},
      {5, -2, "wrote bytes 0 to 7 before the start of a tensor of 20 bytes (argument 0)"}};
  for (const Case& each : cases) {
    Scale scale = scale_plan(each.count, each.reach);
    const Json answer = evaluate(scale.maker.finish({scale.y}));
    ASSERT_TRUE(answer.contains("fault")) << answer.dump();
    EXPECT_EQ(answer["fault"]["kind"], "out_of_bounds");
    const std::string message = answer["fault"]["message"];
    EXPECT_EQ(message, std::string("model_new.py:2: kernel scale<float> ") + each.message);
    EXPECT_EQ(answer["fault"]["at"]["line"], 2);
    const std::string detail = answer["fault"]["detail"];
    EXPECT_NE(detail.find("argument 0: float32"), std::string::npos) << detail;
    EXPECT_NE(detail.find("made at model_new.py:1"), std::string::npos) << detail;
  }
}

TEST_F(KernelsTest, FarOutOfBoundsIsACrashWithItsLine) {
  Scale scale = scale_plan(5, 1 << 20);
  const Evaluation evaluation = scale.maker.finish({scale.y});
  RunnerChild child(server());
  child.start(evaluation);
  EXPECT_TRUE(child.run().contains("closed"));
  const Json ended = child.wait();
  ASSERT_TRUE(ended.contains("ok")) << ended.dump();
  EXPECT_EQ(ended["ok"]["signal"], SIGSEGV);
  EXPECT_EQ(ended["ok"]["last_step"]["line"], 2);
}

TEST_F(KernelsTest, WriteToAnInputIsASignalAndThenDiagnosed) {
  Scale scale = scale_plan(5, 0);
  scale.maker.launch(scale.kernel, {scale.x, scale.y, std::int64_t{5}, 1.0, std::int64_t{0}});
  const Evaluation evaluation = scale.maker.finish({scale.y});
  RunnerChild child(server());
  child.start(evaluation);
  EXPECT_TRUE(child.run().contains("closed"));
  const Json ended = child.wait();
  ASSERT_TRUE(ended.contains("ok")) << ended.dump();
  EXPECT_EQ(ended["ok"]["signal"], SIGSEGV);
  EXPECT_TRUE(ended["ok"]["exited"].is_null());
  EXPECT_EQ(ended["ok"]["last_step"],
            (Json{{"file", "model_new.py"}, {"line", 3}, {"kernel", "scale<float>"}}));
  EXPECT_EQ(evaluation.inputs[0].read<float>(0), (std::vector<float>{0, 1, 2, 3, 4}));

  RunnerChild again(server());
  again.start(evaluation, true);
  for (int i = 0; i < 2; ++i) {  // the private copies are made anew for each run
    const Json diagnosed = again.run();
    ASSERT_TRUE(diagnosed.contains("fault")) << diagnosed.dump();
    EXPECT_EQ(diagnosed["fault"]["kind"], "input_modified");
    EXPECT_EQ(diagnosed["fault"]["at"]["line"], 3);
    const std::string message = diagnosed["fault"]["message"];
    EXPECT_NE(message.find("wrote to its argument 0, an input or weight"), std::string::npos)
        << message;
  }
  EXPECT_EQ(evaluation.inputs[0].read<float>(0), (std::vector<float>{0, 1, 2, 3, 4}));
}

TEST_F(KernelsTest, OperatorThatWritesToAnInputIsDiagnosedToo) {
  PlanMaker maker;
  const ValueId x = maker.input(contiguous({4}), counting(4));
  const ValueId y = maker.op("aten::add_.Scalar", {{x}, {1.0}, {std::int64_t{1}}}, contiguous({4}));
  const Evaluation evaluation = maker.finish({y});
  RunnerChild child(server());
  child.start(evaluation);
  EXPECT_TRUE(child.run().contains("closed"));
  EXPECT_EQ(child.wait()["ok"]["last_step"]["kernel"], "aten::add_.Scalar");
  RunnerChild again(server());
  again.start(evaluation, true);
  const Json diagnosed = again.run();
  ASSERT_TRUE(diagnosed.contains("fault")) << diagnosed.dump();
  EXPECT_EQ(diagnosed["fault"]["kind"], "input_modified");
  EXPECT_EQ(diagnosed["fault"]["message"],
            "model_new.py:1: aten::add_.Scalar wrote to an input or weight");
}

TEST_F(KernelsTest, OpenMpRunsOnTheUsableCoresInTorchsPool) {
  PlanMaker maker;
  const ValueId y = maker.empty(contiguous({2}));
  const int unit = maker.unit(R"(
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <omp.h>
#include <set>
#include <string>
extern "C" void kagent_launch_0(const void* const* a, const std::int64_t*) {
  float* y = *static_cast<float* const*>(a[0]);
#pragma omp parallel
#pragma omp single
  y[0] = static_cast<float>(omp_get_num_threads());
  std::set<std::string> libraries;
  char line[4096];
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    if (std::strstr(line, "gomp") != nullptr) libraries.insert(std::strchr(line, '/'));
  }
  y[1] = static_cast<float>(libraries.size());
}
)",
                              "-O1 -fopenmp");
  maker.launch(maker.kernel(unit, 0, "threads", {{"float*"}}), {y});
  const Evaluation evaluation = maker.finish({y});
  const Json answer = evaluate(evaluation);
  ASSERT_TRUE(answer.contains("ok")) << answer.dump();
  cpu_set_t usable;
  CPU_ZERO(&usable);
  ASSERT_EQ(::sched_getaffinity(0, sizeof usable, &usable), 0);
  EXPECT_EQ(evaluation.outputs.read<float>(0)[0], static_cast<float>(CPU_COUNT(&usable)));
  EXPECT_EQ(evaluation.outputs.read<float>(0)[1], 1) << "two OpenMP runtimes, two pools";
}

TEST_F(KernelsTest, PreparedValuesAndConstantsAreReadOnlyAfterPrepare) {
  for (const bool constant : {false, true}) {
    PlanMaker maker;
    const ValueId w = maker.weight("w", contiguous({4}), counting(4));
    const ValueId fixed = maker.constant(contiguous({4}), counting(4));
    maker.prepare_steps();
    const ValueId made = maker.op("aten::clone", {{w}, none()}, contiguous({4}));
    maker.forward_steps();
    const ValueId kept = maker.prepared("copy", made);
    const int kernel = maker.kernel(maker.unit(kSource), 0, "scale", kScaleParameters);
    maker.launch(kernel, {constant ? fixed : kept, w, std::int64_t{4}, 1.0, std::int64_t{0}});
    const Evaluation evaluation = maker.finish({kept});
    RunnerChild child(server());
    child.start(evaluation);
    EXPECT_TRUE(child.run().contains("closed"));
    EXPECT_EQ(child.wait()["ok"]["signal"], SIGSEGV);
  }
}

TEST_F(KernelsTest, EndlessKernelIsKilledWhenTheOtherSideCloses) {
  PlanMaker maker;
  const ValueId y = maker.empty(contiguous({2}));
  maker.launch(maker.kernel(maker.unit(kSource), 1, "spin", {}), {});
  const Evaluation evaluation = maker.finish({y});
  RunnerChild child(server());
  child.start(evaluation);
  const Json answer =
      child.ask({{"type", "run"}, {"set", 0}, {"poison", 1}}, {}, std::chrono::milliseconds(300));
  EXPECT_TRUE(answer.contains("timeout")) << answer.dump();
  const auto start = Clock::now();
  child.close();
  const Json ended = child.wait();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(ended["ok"]["signal"], SIGKILL);
  EXPECT_EQ(ended["ok"]["last_step"]["kernel"], "spin");
  EXPECT_EQ(ended["ok"]["last_step"]["line"], 2);
}

TEST_F(KernelsTest, ChildEndsByItselfWhenTheOtherSideCloses) {
  RunnerChild child(server());
  child.close();
  const Json ended = child.wait();
  EXPECT_EQ(ended["ok"]["exited"], 0) << ended.dump();
  EXPECT_FALSE(ended["ok"].contains("last_step"));
}

TEST_F(KernelsTest, ExceptionOfAKernelIsACrash) {
  PlanMaker maker;
  const ValueId y = maker.empty(contiguous({2}));
  maker.launch(maker.kernel(maker.unit(kSource), 2, "throws", {}), {});
  const Json answer = evaluate(maker.finish({y}));
  ASSERT_TRUE(answer.contains("fault")) << answer.dump();
  EXPECT_EQ(answer["fault"]["kind"], "crash");
  EXPECT_EQ(answer["fault"]["message"], "model_new.py:2: kernel throws failed: no such tile");
}

TEST_F(KernelsTest, ArgumentsThatDoNotFitTheKernelAreBadLaunches) {
  PlanMaker parts;
  const ValueId y{1};
  const std::vector<std::pair<std::vector<LaunchArgument>, const char*>> cases{
      {{y, y}, "is given 2 arguments and takes 5"},
      {{y, y, std::int64_t{1}, 1.0, 2.5}, "argument 4: a float (2.5) for a parameter of type int"},
      {{y, y, y, 1.0, std::int64_t{0}}, "argument 2: a tensor for a parameter of type int"},
      {{std::int64_t{0}, y, std::int64_t{1}, 1.0, std::int64_t{0}}, "argument 0: "},
      {{y, TensorMap{}, std::int64_t{1}, 1.0, std::int64_t{0}}, "argument 1: a tensor map"}};
  for (const auto& [arguments, text] : cases) {
    PlanMaker maker;
    maker.input(contiguous({2}), counting(2));
    const ValueId made = maker.empty(contiguous({2}));
    std::vector<LaunchArgument> given = arguments;
    for (LaunchArgument& argument : given) {
      if (auto* map = std::get_if<TensorMap>(&argument)) *map = {made, {2}, {1}};
    }
    maker.launch(maker.kernel(maker.unit(kSource), 0, "scale", kScaleParameters), given);
    RunnerChild child(server());
    const Json answer = child.load(maker.finish({made}));
    ASSERT_TRUE(answer.contains("fault")) << answer.dump();
    EXPECT_EQ(answer["fault"]["kind"], "bad_launch");
    const std::string message = answer["fault"]["message"];
    EXPECT_NE(message.find(text), std::string::npos) << message;
  }
}

TEST_F(KernelsTest, FastMathImagesLeaveDenormalNumbersAlone) {
  PlanMaker maker;
  const ValueId x = maker.input(contiguous({2}), bytes_of<float>({1e-40f, 1e-40f}));
  maker.unit(kSource, "-O1 -ffast-math");  // its constructor sets flush-to-zero
  const int kernel = maker.kernel(maker.unit(kSource), 3, "sum", {{"float*"}, {"const float*"}});
  const ValueId y = maker.empty(contiguous({1}));
  maker.launch(kernel, {y, x});
  const ValueId z = maker.op("aten::add.Tensor", {{x}, {x}, {std::int64_t{1}}}, contiguous({2}));
  const Evaluation evaluation = maker.finish({y, z});
  const Json answer = evaluate(evaluation);
  ASSERT_TRUE(answer.contains("ok")) << answer.dump();
  EXPECT_GT(evaluation.outputs.read<float>(0)[0], 1.9e-40f);
  EXPECT_GT(evaluation.outputs.read<float>(1)[0], 1.9e-40f);
}

TEST_F(KernelsTest, ImageThatNeedsWhatIsNotThereIsABuildFault) {
  PlanMaker maker;
  const ValueId y = maker.empty(contiguous({2}));
  const int unit = maker.unit(R"(#include <cstdint>
extern void elsewhere();
extern "C" void kagent_launch_0(const void* const*, const std::int64_t*) { elsewhere(); })");
  maker.launch(maker.kernel(unit, 0, "half", {}), {});
  RunnerChild child(server());
  const Json answer = child.load(maker.finish({y}));
  ASSERT_TRUE(answer.contains("fault")) << answer.dump();
  EXPECT_EQ(answer["fault"]["kind"], "build_failed");
}

}  // namespace
}  // namespace kagent::testing
