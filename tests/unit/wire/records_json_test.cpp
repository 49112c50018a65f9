// SPDX-License-Identifier: Apache-2.0
// Records: what is written to evaluation.json and the trajectory must come back the same.
#include "wire/json.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kagent::wire {
namespace {

template <typename T>
void expect_round_trip(const T& value) {
  const auto text = parse_text(dump(to_json(value)), "record");
  ASSERT_TRUE(text);
  const auto again = parse<T>(*text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, value) << dump(*text);
}

template <typename T>
std::string refusal(const Json& json) {
  const auto value = parse<T>(json);
  return value ? "accepted" : value.error().message;
}

BuildResult sample_build() {
  BuildResult build;
  build.compiler = "nvrtc 13.0";
  build.units = {{"kernels/a.cu", {"-O3"}, "abc", "warning: x\n", 12.5}};
  KernelParameter pointer;
  pointer.pointee = DType::float16;
  pointer.read_only = true;
  pointer.type = "__half const*";
  KernelParameter scalar;
  scalar.kind = ParameterKind::signed_integer;
  scalar.bytes = 4;
  scalar.type = "int";
  build.kernels = {{0, 0, "_Z1av", {pointer, scalar}, 32, 4, 8, 1024}};
  return build;
}

Fault sample_fault() {
  Fault fault;
  fault.kind = FaultKind::mismatch;
  fault.message = "differs";
  fault.hint = "look at the last block";
  fault.at = {"model_new.py", 14};
  fault.detail = "a\nb";
  fault.output = 1;
  fault.index = {3, 5};
  fault.expected = "1.5";
  fault.got = "nan";
  return fault;
}

Evaluation sample_evaluation() {
  Evaluation evaluation;
  evaluation.candidate = "abcd";
  evaluation.build = sample_build();
  evaluation.verdict.correct = true;
  evaluation.verdict.trials = {{18446744073709551615u, true, 1e-6, 0.25}};
  evaluation.verdict.labels = {"trust:native"};
  Measurement measurement;
  measurement.clock = "cupti gpu_span";
  measurement.rounds = 2;
  measurement.candidate = {{{10.5, 10, 9, 1, 9}, {11, 10, 9, 1, 9}}, 10.75, 10.6, 10.9, 10, 1};
  measurement.eager = measurement.candidate;
  measurement.over_eager = Speedup{1.5, 1.4, 1.6};
  measurement.own_kernel_share = 1;
  measurement.notes = {"ungated"};
  evaluation.measurement = measurement;
  evaluation.score = Score{Grade::faster_than_eager, 1.5, 0, true, false};
  evaluation.stage_ms = {{"build", 12.25}, {"total", 100}};
  return evaluation;
}

TEST(Records, ComeBackAsTheyWere) {
  expect_round_trip(sample_build());
  expect_round_trip(BuildResult());
  expect_round_trip(sample_fault());
  expect_round_trip(Fault());
  expect_round_trip(sample_evaluation());
  JudgeSettings settings;
  settings.backend = Backend::cpu;
  settings.numerics = Numerics::torch;
  settings.over = Baselines::compile;
  settings.min_gain = 0.1;
  settings.allow_ops = {"aten::_softmax"};
  expect_round_trip(settings);
  expect_round_trip(DeviceRecord{"NVIDIA H200", "GPU-1", "sm_90a", "580", 9, 0, 132, 1024, 2048,
                                 65536, 32, 232448, 233472, 62914560, 150'000'000'000});
}

TEST(Records, FailedEvaluationComesBack) {
  Evaluation evaluation;
  evaluation.candidate = "abcd";
  evaluation.verdict.fault = sample_fault();
  evaluation.verdict.trials = {{7, false, HUGE_VAL, HUGE_VAL}};
  expect_round_trip(evaluation);
}

TEST(Records, NotANumberIsAWord) {
  Verdict verdict;
  verdict.fault = Fault();
  verdict.trials = {{7, false, std::nan(""), -HUGE_VAL}};
  const Json json = to_json(verdict);
  EXPECT_EQ(json["trials"][0]["max_error"], "nan");
  EXPECT_EQ(json["trials"][0]["error_ratio"], "-inf");
  const auto again = parse<Verdict>(json);
  ASSERT_TRUE(again);
  EXPECT_TRUE(std::isnan(again->trials[0].max_error));
}

TEST(Signature, ComesBackAsItWas) {
  TaskSignature signature;
  signature.init_arguments = {{std::int64_t{512}}, {1.5}, {Argument::List{{true}}}};
  signature.inputs.resize(2);
  signature.inputs[0].tensor = TensorSpec{DType::float16, {4, 0}, {1, 1}};
  signature.inputs[1].scalar.value = 2.5;
  signature.weights = {{"a.b", {DType::int64, {}, {}}, false}};
  expect_round_trip(signature);
}

TEST(Arena, ComesBackAndRefusesWhatReachesBeyondIt) {
  ArenaLayout layout;
  layout.bytes = 512;
  layout.entries = {{"x", {DType::float32, {4}, {1}}, 256, 16}};
  expect_round_trip(layout);
  Json json = to_json(layout);
  json["entries"][0]["offset"] = 500;
  EXPECT_EQ(refusal<ArenaLayout>(json), "entries[0]: reaches beyond the arena");
}

TEST(Build, RefusesBrokenReferences) {
  Json json = to_json(sample_build());
  json["kernels"][0]["unit"] = 1;
  EXPECT_EQ(refusal<BuildResult>(json), "kernels[0].unit: there is no unit 1");
  json = to_json(sample_build());
  json["kernels"].push_back(json["kernels"][0]);
  EXPECT_EQ(refusal<BuildResult>(json), "kernels[1].kernel: kernel 0 is there twice");
  json = to_json(sample_build());
  json["kernels"][0]["parameters"][0]["kind"] = "reference";
  EXPECT_EQ(refusal<BuildResult>(json),
            "kernels[0].parameters[0].kind: \"reference\" is none of pointer, signed_integer, "
            "unsigned_integer, "
            "floating, boolean, half, bfloat16, tensor_map");
}

TEST(Samples, MustBeFiniteTimes) {
  Json json = to_json(Sample{1, 1, 1, 1, 1});
  json["span_us"] = -1;
  EXPECT_EQ(refusal<Sample>(json), "span_us: expected a finite number of at least 0");
  json["span_us"] = "inf";
  EXPECT_EQ(refusal<Sample>(json), "span_us: expected a finite number of at least 0");
  json["span_us"] = "soon";
  EXPECT_EQ(refusal<Sample>(json), "span_us: expected a number");
  json.erase("span_us");
  EXPECT_EQ(refusal<Sample>(json), "missing \"span_us\"");
}

TEST(Verdicts, HaveAFaultExactlyWhereTheyAreNotCorrect) {
  EXPECT_EQ(
      refusal<Verdict>({{"correct", false}, {"trials", Json::array()}, {"labels", Json::array()}}),
      "not correct, and no fault");
  EXPECT_EQ(refusal<Verdict>({{"correct", true},
                              {"trials", Json::array()},
                              {"labels", Json::array()},
                              {"fault", to_json(Fault())}}),
            "correct, and yet there is a fault");
}

TEST(Faults, NeedOnlyKindAndMessage) {
  const auto fault = parse<Fault>({{"kind", "crash"}, {"message", "gone"}});
  ASSERT_TRUE(fault) << fault.error().message;
  EXPECT_EQ(fault->kind, FaultKind::crash);
  EXPECT_EQ(refusal<Fault>({{"kind", "crash"}}), "missing \"message\"");
  EXPECT_EQ(refusal<Fault>(Json()), "expected an object");
}

TEST(Scores, HaveNoGradeZero) {
  Json json = to_json(Score());
  json["grade"] = 0;
  EXPECT_EQ(refusal<Score>(json), "grade: a grade is -1, 1, 2 or 3");
}

}  // namespace
}  // namespace kagent::wire
