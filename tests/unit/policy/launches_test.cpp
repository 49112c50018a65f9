// SPDX-License-Identifier: Apache-2.0
#include "policy/launches.h"

#include <gtest/gtest.h>

namespace kagent::policy {
namespace {

DeviceRecord h200() {
  DeviceRecord device;
  device.architecture = "sm_90a";
  device.capability_major = 9;
  device.multiprocessors = 132;
  device.max_threads_per_block = 1024;
  device.max_threads_per_multiprocessor = 2048;
  device.registers_per_multiprocessor = 65536;
  device.warp_size = 32;
  device.shared_bytes_per_block = 232448;
  device.shared_bytes_per_multiprocessor = 233472;
  return device;
}

KernelParameter pointer(DType pointee, std::string type) {
  KernelParameter parameter;
  parameter.pointee = pointee;
  parameter.type = std::move(type);
  return parameter;
}

KernelParameter scalar(ParameterKind kind, int bytes, std::string type) {
  KernelParameter parameter;
  parameter.kind = kind;
  parameter.bytes = bytes;
  parameter.type = std::move(type);
  return parameter;
}

/// softmax_rows<1024>(float*, float const*, int), launched as softmax(y, x, 512).
struct Launches : testing::Test {
  Launches() {
    plan.values.resize(4);
    plan.values[0].spec = {DType::float32, {64, 512}, {512, 1}};
    plan.values[1].spec = {DType::float16, {64, 512}, {512, 1}};
    plan.values[2].spec = {DType::boolean, {64}, {1}};
    plan.values[3].spec = {DType::float32, {2, 2, 2, 2, 2, 2}, {32, 16, 8, 4, 2, 1}};
    plan.kernels.push_back({"kernels/softmax.cu", "softmax_rows<1024>", {}, {}});
    step.kernel = 0;
    step.grid = {64, 1, 1};
    step.block = {256, 1, 1};
    step.arguments = {ValueId{0}, ValueId{0}, std::int64_t{512}};
    kernel.kernel = 0;
    kernel.unit = 0;
    kernel.registers = 32;
    kernel.parameters = {pointer(DType::float32, "float*"), pointer(DType::float32, "float const*"),
                         scalar(ParameterKind::signed_integer, 4, "int")};
  }

  std::string verdict() {
    plan.forward = {{step, {"model_new.py", 20}}};
    const auto fault = check_launches(plan, BuildResult{"nvrtc", {{}}, {kernel}}, device);
    if (!fault) return "ok";
    EXPECT_EQ(fault->kind, FaultKind::bad_launch);
    EXPECT_EQ(fault->at, (SourceLine{"model_new.py", 20}));
    hint = fault->hint;
    return fault->message;
  }

  /// Verdict on one other third argument for one other third parameter.
  std::string verdict_on(LaunchArgument argument, KernelParameter parameter) {
    step.arguments[2] = std::move(argument);
    kernel.parameters[2] = std::move(parameter);
    return verdict();
  }

  Plan plan;
  LaunchStep step;
  KernelBuild kernel;
  DeviceRecord device = h200();
  std::string hint;
};

TEST_F(Launches, PassWhereEverythingFits) { EXPECT_EQ(verdict(), "ok"); }

TEST_F(Launches, NameTypesWhereTheCountIsWrong) {
  step.arguments.pop_back();
  EXPECT_EQ(verdict(),
            "softmax_rows<1024> takes 3 arguments (float*, float const*, int), and was given 2: "
            "(float32[64, 512], float32[64, 512])");
  step.arguments = {ValueId{0}, true, 2.5, std::int64_t{3}};
  EXPECT_EQ(verdict(),
            "softmax_rows<1024> takes 3 arguments (float*, float const*, int), and was given 4: "
            "(float32[64, 512], True, 2.5, 3)");
}

TEST_F(Launches, CompareTensorsWithPointers) {
  step.arguments[1] = ValueId{1};
  EXPECT_EQ(verdict(),
            "softmax_rows<1024>, argument 2 of 3: float16[64, 512] passed as float const*, which "
            "needs a tensor of "
            "float32");
  EXPECT_EQ(hint, "the kernel is declared as softmax_rows<1024>(float*, float const*, int)");
  kernel.parameters[1] = pointer(DType::float16, "__half const*");
  EXPECT_EQ(verdict(), "ok");
  step.arguments[1] = ValueId{0};
  EXPECT_EQ(verdict(),
            "softmax_rows<1024>, argument 2 of 3: float32[64, 512] passed as __half const*, which "
            "needs a tensor of "
            "float16");
  kernel.parameters[1].pointee.reset();  // void*, float4*: nothing to compare with
  EXPECT_EQ(verdict(), "ok");
  step.arguments[1] = std::int64_t{0};
  EXPECT_EQ(
      verdict(),
      "softmax_rows<1024>, argument 2 of 3: an int (0) where a tensor is needed for __half const*");
}

TEST_F(Launches, LetBoolTensorsBeRead) {
  EXPECT_EQ(verdict_on(ValueId{2}, pointer(DType::boolean, "bool*")), "ok");
  EXPECT_EQ(verdict_on(ValueId{2}, pointer(DType::uint8, "unsigned char*")), "ok");
  EXPECT_NE(verdict_on(ValueId{2}, pointer(DType::int8, "signed char*")), "ok");
}

TEST_F(Launches, ConvertScalarsOrSayWhyNot) {
  const auto integer = scalar(ParameterKind::signed_integer, 4, "int");
  const auto real = scalar(ParameterKind::floating, 4, "float");
  EXPECT_EQ(verdict_on(2.5, integer),
            "softmax_rows<1024>, argument 3 of 3: a float (2.5) for a parameter of type int");
  EXPECT_EQ(verdict_on(std::int64_t{3'000'000'000}, integer),
            "softmax_rows<1024>, argument 3 of 3: an int (3000000000) does not fit into int");
  EXPECT_EQ(verdict_on(ValueId{0}, integer),
            "softmax_rows<1024>, argument 3 of 3: a tensor (float32[64, 512]) for a parameter of "
            "type int");
  EXPECT_EQ(verdict_on(std::int64_t{1}, real), "ok");
  EXPECT_EQ(verdict_on(true, real),
            "softmax_rows<1024>, argument 3 of 3: True for a parameter of type float");
  EXPECT_EQ(verdict_on(true, scalar(ParameterKind::boolean, 1, "bool")), "ok");
  EXPECT_EQ(verdict_on(1e6, scalar(ParameterKind::half, 2, "__half")),
            "softmax_rows<1024>, argument 3 of 3: a float (1e+06) does not fit into __half");
}

TEST_F(Launches, KeepTensorMapsAndTensorsApart) {
  const auto map_parameter = scalar(ParameterKind::tensor_map, 128, "CUtensorMap");
  TensorMap map;
  map.tensor = {0};
  map.box = {64, 16};
  map.element_strides = {1, 1};
  EXPECT_EQ(verdict_on(map, map_parameter), "ok");
  EXPECT_EQ(verdict_on(ValueId{0}, map_parameter),
            "softmax_rows<1024>, argument 3 of 3: a tensor where the kernel wants "
            "kagent.tensor_map(...)");
  EXPECT_EQ(verdict_on(map, pointer(DType::float32, "float*")),
            "softmax_rows<1024>, argument 3 of 3: a tensor map for a parameter of type float*: "
            "declare it as const "
            "__grid_constant__ CUtensorMap");
  map.box = {64};
  EXPECT_NE(verdict_on(map, map_parameter)
                .find("a tensor map whose box has 1 dimensions over a tensor that has 2"),
            std::string::npos);
  map.box = {512, 1};
  EXPECT_NE(verdict_on(map, map_parameter).find("longer than 256"), std::string::npos);
  map.tensor = {3};
  EXPECT_NE(verdict_on(map, map_parameter).find("rank 6"), std::string::npos);
  map = TensorMap{{0}, {64, 16}, {9, 1}};
  EXPECT_NE(verdict_on(map, map_parameter).find("above 8"), std::string::npos);
}

TEST_F(Launches, StayWithinTheCard) {
  const auto with = [&](auto change) {
    const LaunchStep before = step;
    change(step);
    const std::string said = verdict();
    step = before;
    return said;
  };
  EXPECT_EQ(with([](auto& s) { s.block = {1024, 1, 1}; }), "ok");
  EXPECT_EQ(with([](auto& s) {
              s.block = {1025, 1, 1};
            }),
            "softmax_rows<1024>: a block of 1025x1x1 threads; at most 1024 are possible");
  EXPECT_EQ(with([](auto& s) {
              s.block = {2147483647, 2147483647, 2147483647};
            }),
            "softmax_rows<1024>: a block of 2147483647x2147483647x2147483647 threads; at most 1024 "
            "are possible");
  EXPECT_EQ(with([](auto& s) {
              s.block = {1, 1, 65};
            }),
            "softmax_rows<1024>: a block of 1x1x65 threads; its third dimension is at most 64");
  EXPECT_EQ(with([](auto& s) { s.grid = {2147483647, 65535, 65535}; }), "ok");
  EXPECT_EQ(with([](auto& s) {
              s.grid = {1, 65536, 1};
            }),
            "softmax_rows<1024>: a grid of 1x65536x1 blocks; its second and third dimensions are "
            "at most 65535");
  EXPECT_EQ(with([](auto& s) { s.shared_bytes = 232448; }), "ok");
  EXPECT_EQ(with([](auto& s) { s.shared_bytes = 232449; }),
            "softmax_rows<1024>: 232449 bytes of shared memory (232449 dynamic, 0 static); this "
            "card gives a block "
            "232448");
  EXPECT_EQ(with([](auto& s) { s.cluster = {8, 1, 1}; }), "ok");
  EXPECT_EQ(with([](auto& s) {
              s.cluster = {16, 1, 1};
            }),
            "softmax_rows<1024>: a cluster of 16x1x1 blocks; at most 8 are possible");
  EXPECT_EQ(with([](auto& s) {
              s.grid = {65, 1, 1};
              s.cluster = {2, 1, 1};
            }),
            "softmax_rows<1024>: a grid of 65x1x1 blocks is no multiple of the cluster 2x1x1");
  EXPECT_EQ(with([](auto& s) { s.programmatic = true; }), "ok");
  EXPECT_EQ(with([](auto& s) {
              s.cooperative = true;
              s.grid = {132 * 8, 1, 1};
            }),
            "ok");
  EXPECT_EQ(with([](auto& s) {
              s.cooperative = true;
              s.grid = {132 * 8 + 1, 1, 1};
            }),
            "softmax_rows<1024>: a cooperative launch of 1057x1x1 blocks; on this card at most "
            "1056 of them are "
            "resident at once, and all must be");
  EXPECT_NE(with([](auto& s) {
              s.cooperative = true;
              s.grid = {200, 1, 1};
              s.shared_bytes = 120000;
            }),
            "ok");
  kernel.registers = 255;
  EXPECT_EQ(with([](auto& s) { s.block = {256, 1, 1}; }), "ok");
  EXPECT_EQ(with([](auto& s) {
              s.block = {512, 1, 1};
            }),
            "softmax_rows<1024>: a block of 512x1x1 threads with 255 registers each is more than a "
            "multiprocessor "
            "has: use fewer threads or __launch_bounds__");
}

TEST_F(Launches, KnowOlderCards) {
  device.capability_major = 8;
  step.programmatic = true;
  EXPECT_EQ(verdict(),
            "softmax_rows<1024>: programmatic dependent launches need compute capability 9.0");
  step.cluster = {2, 1, 1};
  EXPECT_EQ(verdict(), "softmax_rows<1024>: clusters need compute capability 9.0");
}

TEST_F(Launches, OnTheCpuAreOneThreadABlock) {
  plan.backend = Backend::cpu;
  EXPECT_EQ(verdict(),
            "softmax_rows<1024>: block is 256x1x1, and on the CPU backend a block is one thread: "
            "say k[grid, 1]");
  step.block = {1, 1, 1};
  EXPECT_EQ(verdict(), "ok");
  step.shared_bytes = 4;
  EXPECT_EQ(verdict(), "softmax_rows<1024>: there is no shared memory on the CPU backend");
  step.shared_bytes = 0;
  step.cooperative = true;
  EXPECT_NE(verdict(), "ok");
}

TEST_F(Launches, NeedTheirKernelBuilt) {
  kernel.kernel = 1;
  EXPECT_EQ(verdict(), "softmax_rows<1024> was not built");
}

TEST_F(Launches, InPrepareAreCheckedToo) {
  step.block = {2048, 1, 1};
  plan.prepare = {{step, {"model_new.py", 20}}};
  step.block = {256, 1, 1};
  EXPECT_NE(verdict(), "ok");
}

}  // namespace
}  // namespace kagent::policy
