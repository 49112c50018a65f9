// SPDX-License-Identifier: Apache-2.0
// Operators of a plan, run by the real runner.
#include "runner_fixture.h"

#include <sys/eventfd.h>

#include <cmath>
#include <limits>

namespace kagent::testing {
namespace {

using OperatorsTest = RunnerTest;

Argument number(std::int64_t value) { return {value}; }

TEST_F(OperatorsTest, HelloNamesTorchAndEveryOperatorOfTheTableIsThere) {
  const Json answer = server().ask({{"type", "hello"}});
  ASSERT_TRUE(answer.contains("ok")) << answer.dump();
  EXPECT_EQ(answer["ok"]["torch"].get<std::string>().substr(0, 2), "2.");
  EXPECT_EQ(server().log().find("lacks"), std::string::npos) << server().log();
}

TEST_F(OperatorsTest, GemmViewsAndCat) {
  PlanMaker maker;
  const ValueId x = maker.input(contiguous({2, 3}), counting(6));
  const ValueId w = maker.weight("linear.weight", contiguous({2, 3}), counting(6));
  const ValueId b = maker.weight("linear.bias", contiguous({2}), bytes_of<float>({10, 20}));
  const ValueId t = maker.op("aten::t", {{w}}, {DType::float32, {3, 2}, {1, 3}});
  const ValueId y =
      maker.op("aten::addmm", {{b}, {x}, {t}, number(1), number(1)}, contiguous({2, 2}));
  const ValueId view = maker.op("aten::view", {{y}, ints({4})}, contiguous({4}));
  const ValueId tail =
      maker.op("aten::slice.Tensor", {{view}, number(0), number(1), number(INT64_MAX), number(1)},
               contiguous({3}));
  const ValueId all = maker.op("aten::cat", {tensors({view, tail}), number(0)}, contiguous({7}));
  const Evaluation evaluation = maker.finish({y, all});
  const Json answer = evaluate(evaluation);
  ASSERT_TRUE(answer.contains("ok")) << answer.dump();
  // x = [[0 1 2] [3 4 5]], w = x: x w^T = [[5 14] [14 50]]
  EXPECT_EQ(evaluation.outputs.read<float>(0), (std::vector<float>{15, 34, 24, 70}));
  EXPECT_EQ(evaluation.outputs.read<float>(1), (std::vector<float>{15, 34, 24, 70, 34, 24, 70}));
}

TEST_F(OperatorsTest, ConvolutionByTheLibrary) {
  PlanMaker maker;
  const ValueId x = maker.input(contiguous({1, 1, 3, 3}), counting(9));
  const ValueId w =
      maker.weight("conv.weight", contiguous({1, 1, 2, 2}), bytes_of<float>({1, 0, 0, 1}));
  const ValueId y = maker.op("aten::convolution",
                             {{x},
                              {w},
                              none(),
                              ints({1, 1}),
                              ints({0, 0}),
                              ints({1, 1}),
                              {false},
                              ints({0, 0}),
                              number(1)},
                             contiguous({1, 1, 2, 2}));
  const Evaluation evaluation = maker.finish({y});
  const Json answer = evaluate(evaluation);
  ASSERT_TRUE(answer.contains("ok")) << answer.dump();
  EXPECT_EQ(evaluation.outputs.read<float>(0), (std::vector<float>{4, 6, 10, 12}));
}

// Large enough that oneDNN takes scratch memory from the allocator.
TEST_F(OperatorsTest, LargerConvolutionInBothModesOfTheAllocator) {
  PlanMaker maker;
  const ValueId x = maker.input(contiguous({8, 32, 28, 28}), "");
  const ValueId w = maker.weight("w", contiguous({32, 32, 3, 3}), "");
  const ValueId bias = maker.weight("b", contiguous({32}), counting(32));
  const ValueId y = maker.op("aten::convolution",
                             {{x},
                              {w},
                              {bias},
                              ints({1, 1}),
                              ints({1, 1}),
                              ints({1, 1}),
                              {false},
                              ints({0, 0}),
                              number(1)},
                             contiguous({8, 32, 28, 28}));
  const Evaluation evaluation = maker.finish({y});
  RunnerChild child(server());
  child.start(evaluation);
  for (int i = 0; i < 2; ++i) {
    const Json answer = child.run();
    ASSERT_TRUE(answer.contains("ok")) << answer.dump();
  }
  const sys::Fd go(::eventfd(1, EFD_CLOEXEC));
  const sys::Fd signal(::eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE));
  const Json timed = child.ask({{"type", "loop"}, {"set", 0}, {"calls", 1}, {"touch", 0}},
                               {go.get(), signal.get()});
  ASSERT_TRUE(timed.contains("ok")) << timed.dump();
  ASSERT_TRUE(child.run().contains("ok"));
  EXPECT_EQ(evaluation.outputs.read<float>(0).at(5 * 28 * 28), 5.0f);
}

TEST_F(OperatorsTest, ArgumentsKeepTheirTypes) {
  PlanMaker maker;
  const ValueId x = maker.input(contiguous({2}), bytes_of<float>({1, 3}));
  const ValueId half = maker.op(
      "aten::full",
      {ints({2}), {0.5}, {DType::float32}, {Argument::Layout{}}, {Argument::Device{}}, {false}},
      contiguous({2}));
  const ValueId sum = maker.op("aten::add.Tensor", {{x}, {half}, {2.0}}, contiguous({2}));
  const ValueId whole =
      maker.op("aten::_to_copy",
               {{sum}, {DType::int64}, {Argument::Layout{}}, none(), none(), {false}, none()},
               contiguous({2}, DType::int64));
  const ValueId infinite = maker.op("aten::full_like",
                                    {{x},
                                     {-std::numeric_limits<double>::infinity()},
                                     none(),
                                     none(),
                                     none(),
                                     {false},
                                     {MemoryFormat::preserve}},
                                    contiguous({2}));
  const Evaluation evaluation = maker.finish({whole, infinite});
  const Json answer = evaluate(evaluation);
  ASSERT_TRUE(answer.contains("ok")) << answer.dump();
  EXPECT_EQ(evaluation.outputs.read<std::int64_t>(0), (std::vector<std::int64_t>{2, 4}));
  EXPECT_TRUE(std::isinf(evaluation.outputs.read<float>(1)[0]));
}

TEST_F(OperatorsTest, NumbersStandForTensorsWithoutPromotingThem) {
  PlanMaker maker;
  const ValueId x = maker.input(contiguous({2}, DType::float16),
                                bytes_of<std::uint16_t>({0x3C00, 0x4000}));  // 1, 2
  const ValueId y = maker.op("aten::add.Tensor", {{x}, {0.5}, {std::int64_t{1}}},
                             contiguous({2}, DType::float16));
  const Evaluation evaluation = maker.finish({y});
  const Json answer = evaluate(evaluation);
  ASSERT_TRUE(answer.contains("ok")) << answer.dump();
  EXPECT_EQ(evaluation.outputs.read<std::uint16_t>(0),
            (std::vector<std::uint16_t>{0x3E00, 0x4100}));  // 1.5, 2.5
}

TEST_F(OperatorsTest, OutputsMayAliasInputsAndEachOther) {
  PlanMaker maker;
  const ValueId x = maker.input(contiguous({4}), counting(4));
  const ValueId doubled = maker.op("aten::mul.Scalar", {{x}, {2.0}}, contiguous({4}));
  const ValueId head =
      maker.op("aten::slice.Tensor", {{doubled}, number(0), number(0), number(3), number(1)},
               contiguous({3}));
  const Evaluation evaluation = maker.finish({x, doubled, head, head});
  const Json answer = evaluate(evaluation);
  ASSERT_TRUE(answer.contains("ok")) << answer.dump();
  EXPECT_EQ(evaluation.outputs.read<float>(0), (std::vector<float>{0, 1, 2, 3}));
  EXPECT_EQ(evaluation.outputs.read<float>(1), (std::vector<float>{0, 2, 4, 6}));
  EXPECT_EQ(evaluation.outputs.read<float>(2), (std::vector<float>{0, 2, 4}));
  EXPECT_EQ(evaluation.outputs.read<float>(3), (std::vector<float>{0, 2, 4}));
}

TEST_F(OperatorsTest, PreparedValuesAreMadeOnceAndAgainOnOtherWeights) {
  PlanMaker maker;
  const ValueId w = maker.weight("w", contiguous({3}), counting(3));
  const ValueId two = maker.constant(contiguous({}), bytes_of<float>({2}));
  maker.prepare_steps();
  const ValueId folded = maker.op("aten::mul.Tensor", {{w}, {two}}, contiguous({3}));
  maker.forward_steps();
  const ValueId seen = maker.prepared("folded", folded);
  const ValueId x = maker.input(contiguous({3}), bytes_of<float>({1, 1, 1}));
  const ValueId y = maker.op("aten::add.Tensor", {{x}, {seen}, number(1)}, contiguous({3}));
  Evaluation evaluation = maker.finish({y});
  RunnerChild child(server());
  child.start(evaluation);
  ASSERT_TRUE(child.run().contains("ok"));
  ASSERT_TRUE(child.run().contains("ok"));
  EXPECT_EQ(evaluation.outputs.read<float>(0), (std::vector<float>{1, 3, 5}));
  evaluation.weights.write_bytes(0, bytes_of<float>({10, 10, 10}));
  const Json again = child.ask({{"type", "prepare"}});
  ASSERT_TRUE(again.contains("ok")) << again.dump();
  EXPECT_GT(again["ok"]["prepare_us"].get<double>(), 0);
  ASSERT_TRUE(child.run().contains("ok"));
  EXPECT_EQ(evaluation.outputs.read<float>(0), (std::vector<float>{21, 21, 21}));
}

TEST_F(OperatorsTest, ResultUnlikeTheRecordedOneIsOurError) {
  PlanMaker maker;
  const ValueId x = maker.input(contiguous({2, 3}), counting(6));
  const ValueId y = maker.op("aten::t", {{x}}, contiguous({3, 2}));  // really stride [1, 3]
  const Json answer = evaluate(maker.finish({y}));
  ASSERT_TRUE(answer.contains("error")) << answer.dump();
  const std::string message = answer["error"]["message"];
  EXPECT_NE(message.find("model_new.py:1: aten::t gave float32 [3, 2] stride [1, 3]"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("stride [2, 1]"), std::string::npos) << message;
}

TEST_F(OperatorsTest, OperatorsOutsideTheTableAreRefused) {
  for (const char* overload : {"aten::no_such_operator", "aten::resize_", "aten::from_file",
                               "aten::set_.source_Storage", "kagent::launch"}) {
    PlanMaker maker;
    const ValueId x = maker.input(contiguous({2}), counting(2));
    const ValueId y = maker.op(overload, {{x}}, contiguous({2}));
    RunnerChild child(server());
    const Json answer = child.load(maker.finish({y}));
    ASSERT_TRUE(answer.contains("fault")) << answer.dump();
    EXPECT_EQ(answer["fault"]["kind"], "forbidden_op");
    EXPECT_EQ(answer["fault"]["at"]["line"], 1);
  }
}

TEST_F(OperatorsTest, ArgumentsThatDoNotFitTheSchemaAreRefused) {
  struct Case {
    std::vector<Argument> arguments;
    const char* message;
  };
  PlanMaker names;
  const ValueId x{0};
  const std::vector<Case> cases{{{{x}}, "1 arguments where the operator has 3"},
                                {{{x}, none(), number(1)}, "argument 1 (other)"},
                                {{{x}, {x}, {std::string("one")}}, "argument 2 (alpha)"},
                                {{{x}, {x}, none()}, "argument 2 (alpha)"}};
  for (const Case& bad : cases) {
    PlanMaker maker;
    maker.input(contiguous({2}), counting(2));
    const ValueId y = maker.op("aten::add.Tensor", bad.arguments, contiguous({2}));
    RunnerChild child(server());
    const Json answer = child.load(maker.finish({y}));
    ASSERT_TRUE(answer.contains("fault")) << answer.dump();
    const std::string message = answer["fault"]["message"];
    EXPECT_NE(message.find(bad.message), std::string::npos) << message;
  }
}

TEST_F(OperatorsTest, PinnedMemoryIsRefused) {
  PlanMaker maker;
  const ValueId y = maker.op(
      "aten::empty.memory_format",
      {ints({2}), {DType::float32}, {Argument::Layout{}}, {Argument::Device{}}, {true}, none()},
      contiguous({2}));
  RunnerChild child(server());
  const Json answer = child.load(maker.finish({y}));
  ASSERT_TRUE(answer.contains("fault")) << answer.dump();
  EXPECT_NE(answer["fault"]["message"].get<std::string>().find("pinned"), std::string::npos);
}

TEST_F(OperatorsTest, StridedViewStaysInsideItsStorage) {
  struct Case {
    Argument size, stride, offset;
    TensorSpec result;
    bool fine;
  };
  const std::vector<Case> cases{
      {ints({2, 2}), ints({2, 1}), number(0), {DType::float32, {2, 2}, {2, 1}}, true},
      {ints({2}), ints({1}), number(2), {DType::float32, {2}, {1}}, true},
      {ints({5}), ints({1}), number(0), {DType::float32, {5}, {1}}, false},
      {ints({2}), ints({1}), number(3), {DType::float32, {2}, {1}}, false},
      {ints({2}), ints({INT64_MAX}), number(0), {DType::float32, {2}, {1}}, false},
      {ints({2}), ints({-1}), number(3), {DType::float32, {2}, {1}}, false},
      {ints({1}), ints({1}), number(-1), {DType::float32, {1}, {1}}, false}};
  for (const Case& each : cases) {
    PlanMaker maker;
    const ValueId x = maker.input(contiguous({4}), counting(4));
    const ValueId y =
        maker.op("aten::as_strided", {{x}, each.size, each.stride, each.offset}, each.result);
    const Json answer = evaluate(maker.finish({y}));
    EXPECT_EQ(answer.contains("ok"), each.fine) << answer.dump();
    if (each.fine) continue;
    ASSERT_TRUE(answer.contains("fault")) << answer.dump();
    EXPECT_EQ(answer["fault"]["kind"], "out_of_bounds");
    EXPECT_EQ(answer["fault"]["at"]["file"], "model_new.py");
  }
}

TEST_F(OperatorsTest, TooMuchMemoryIsAFault) {
  PlanMaker maker;
  const ValueId y = maker.empty(contiguous({1 << 19, 1 << 18}));  // 512 GiB
  PlanMaker small;
  const ValueId z = small.empty(contiguous({4}));
  Evaluation evaluation = small.finish({z});
  Evaluation huge = maker.finish({});
  static_cast<void>(y);
  const Json answer = evaluate(huge);
  ASSERT_TRUE(answer.contains("fault")) << answer.dump();
  EXPECT_EQ(answer["fault"]["kind"], "out_of_memory");
  EXPECT_EQ(answer["fault"]["at"]["line"], 1);
  EXPECT_TRUE(evaluate(evaluation).contains("ok"));
}

TEST_F(OperatorsTest, WhatTorchThrowsBecomesAFaultWithItsLine) {
  PlanMaker maker;
  const ValueId x = maker.input(contiguous({4}), counting(4));
  const ValueId at = maker.input(contiguous({1}, DType::int64), bytes_of<std::int64_t>({9}));
  const ValueId y = maker.op("aten::index_select", {{x}, number(0), {at}}, contiguous({1}));
  const Json answer = evaluate(maker.finish({y}));
  ASSERT_TRUE(answer.contains("fault")) << answer.dump();
  EXPECT_EQ(answer["fault"]["kind"], "crash");
  const std::string message = answer["fault"]["message"];
  EXPECT_EQ(message.substr(0, 37), "model_new.py:1: aten::index_select fa") << message;
}

TEST_F(OperatorsTest, MemoryStartsPoisoned) {
  PlanMaker maker;
  const ValueId y = maker.empty(contiguous({3}, DType::uint8));
  const Evaluation evaluation = maker.finish({y});
  RunnerChild child(server());
  child.start(evaluation);
  for (const int poison : {0, 0x5A, 0xFF}) {
    ASSERT_TRUE(child.run(0, poison).contains("ok"));
    EXPECT_EQ(evaluation.outputs.read_bytes(0), std::string(3, static_cast<char>(poison)));
  }
}

TEST_F(OperatorsTest, RequestsOutOfOrderAndOutOfRangeAreErrors) {
  PlanMaker maker;
  const ValueId x = maker.input(contiguous({2}), counting(2));
  const Evaluation evaluation = maker.finish({x});
  RunnerChild child(server());
  EXPECT_TRUE(child.run().contains("error"));
  EXPECT_TRUE(child.ask({{"type", "prepare"}}).contains("error"));
  ASSERT_TRUE(child.load(evaluation).contains("ok"));
  EXPECT_TRUE(child.run().contains("error"));  // not prepared
  EXPECT_TRUE(child.load(evaluation).contains("error"));
  ASSERT_TRUE(child.ask({{"type", "prepare"}}).contains("ok"));
  EXPECT_TRUE(child.run(1).contains("error"));
  EXPECT_TRUE(child.run(-1).contains("error"));
  EXPECT_TRUE(child.run(0, 256).contains("error"));
  EXPECT_TRUE(child.ask({{"type", "time"}, {"set", 0}, {"samples", 1}}).contains("error"));
  EXPECT_TRUE(child.ask({{"type", "sing"}}).contains("error"));
  EXPECT_TRUE(child.run().contains("ok"));
  EXPECT_TRUE(server().ask({{"type", "wait"}, {"pid", 1}}).contains("error"));
  EXPECT_TRUE(server().ask({{"type", "fork"}}).contains("error"));
}

}  // namespace
}  // namespace kagent::testing
