// SPDX-License-Identifier: Apache-2.0
#include "../../fakes/sample_plan.h"
#include "wire/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <limits>

namespace kagent::wire {
namespace {

Plan sample() {
  auto json = parse_text(fakes::kSamplePlan, "plan");
  auto plan = parse<Plan>(*json);
  if (!plan) {
    ADD_FAILURE() << plan.error().message;
    return {};
  }
  return *std::move(plan);
}

TEST(PlanJson, ReadsEveryPart) {
  const Plan plan = sample();
  EXPECT_EQ(plan.backend, Backend::cuda);
  ASSERT_EQ(plan.values.size(), 8u);
  EXPECT_EQ(plan.values[0].input, 0);
  EXPECT_EQ(plan.values[1].path, "norm.weight");
  EXPECT_EQ(plan.values[2].constant, std::string("\0\0\0\0\0\0\x80\x3F", 8));
  EXPECT_EQ(plan.values[5].spec, (TensorSpec{DType::float32, {32, 64}, {1, 32}}));
  EXPECT_EQ(plan.kernels[0].name, "softmax_rows<1024>");
  EXPECT_EQ(plan.kernels[0].options, std::vector<std::string>{"-use_fast_math"});
  EXPECT_EQ(plan.prepared.at("folded"), ValueId{3});
  const auto& multiply = std::get<OperatorStep>(plan.prepare.at(0).action);
  EXPECT_EQ(multiply.torch_name, "torch.mul");
  EXPECT_EQ(multiply.arguments[1].value, (decltype(Argument::value)(2.0)));
  EXPECT_EQ(plan.forward[1].at, (SourceLine{"model_new.py", 12}));
  const auto& launch = std::get<LaunchStep>(plan.forward.at(3).action);
  EXPECT_EQ(launch.shared_bytes, 128);
  EXPECT_EQ(launch.cluster, (std::array<std::int64_t, 3>{2, 1, 1}));
  EXPECT_TRUE(launch.programmatic);
  ASSERT_EQ(launch.arguments.size(), 6u);
  EXPECT_EQ(launch.arguments[2], LaunchArgument(std::int64_t{64}));
  EXPECT_EQ(launch.arguments[4], LaunchArgument(true));
  EXPECT_EQ(std::get<TensorMap>(launch.arguments[5]).swizzle, "128B");
  EXPECT_EQ(plan.outputs.keys, (std::vector<std::string>{"y", "rest"}));
  EXPECT_EQ(output_tensors(plan.outputs), (std::vector<ValueId>{{7}, {4}}));
  EXPECT_EQ(plan.tunables, (std::vector<Tunable>{{"BLOCK", {256, 512}}}));
}

TEST(PlanJson, ComesBackAsItWas) {
  const Plan plan = sample();
  const auto text = parse_text(dump(to_json(plan)), "plan");
  ASSERT_TRUE(text);
  const auto again = parse<Plan>(*text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, plan);
}

TEST(PlanJson, IgnoresUnknownFieldsAndMissingOptionalOnes) {
  auto json = *parse_text(fakes::kSamplePlan, "plan");
  json["colour"] = "blue";
  json["forward"][0]["note"] = {1, 2};
  json["forward"][0].erase("at");
  json["forward"][1]["at"] = nullptr;
  for (const char* field : {"shared_bytes", "cluster", "cooperative", "programmatic"}) {
    json["forward"][3].erase(field);
  }
  json["forward"][3]["args"][5]["tensor_map"].erase("fill_nan");
  json["kernels"][0].erase("options");
  json.erase("tunables");
  const auto plan = parse<Plan>(json);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->forward[0].at, SourceLine());
  EXPECT_EQ(std::get<LaunchStep>(plan->forward[3].action).shared_bytes, 0);
}

TEST(ArgumentJson, KeepsEveryKindApart) {
  using Value = decltype(Argument::value);
  const double huge = std::numeric_limits<double>::max();
  const double tiny = std::numeric_limits<double>::denorm_min();
  const Value values[] = {
      Argument::None{},
      ValueId{7},
      true,
      false,
      std::int64_t{1},
      INT64_MIN,
      INT64_MAX,
      1.0,
      -0.0,
      0.1,
      huge,
      tiny,
      -HUGE_VAL,
      HUGE_VAL,
      std::string("a\"b"),
      DType::bfloat16,
      MemoryFormat::channels_last,
      Argument::Layout{},
      Argument::Device{},
      Argument::List{{std::int64_t{1}}, {Argument::None{}}, {Argument::List{}}}};
  for (const Value& value : values) {
    const Json json = to_json(Argument{value});
    const auto again = parse<Argument>(json);
    ASSERT_TRUE(again) << dump(json) << again.error().message;
    EXPECT_EQ(again->value, value) << dump(json);
    if (const auto* number = std::get_if<double>(&value)) {
      EXPECT_EQ(std::signbit(std::get<double>(again->value)), std::signbit(*number));
    }
  }
  const auto nan = parse<Argument>(to_json(Argument{std::nan("")}));
  EXPECT_TRUE(std::isnan(std::get<double>(nan->value)));
}

TEST(ArgumentJson, ReadsPythonsHexadecimalFloats) {
  const std::pair<const char*, double> floats[] = {
      {"0x1.8000000000000p+0", 1.5},
      {"-0x0.0p+0", -0.0},
      {"0x0.0000000000001p-1022", 4.9406564584124654e-324},
      {"0x1.fffffffffffffp+1023", 1.7976931348623157e308},
      {"0x1.999999999999ap-4", 0.1}};
  for (const auto& [text, value] : floats) {
    const auto argument = parse<Argument>({{"float", text}});
    ASSERT_TRUE(argument) << text << argument.error().message;
    EXPECT_EQ(std::get<double>(argument->value), value) << text;
  }
}

TEST(ArgumentJson, RefusesOtherTags) {
  const std::pair<Json, const char*> cases[] = {
      {{{"int", 1.5}}, "int: expected an integer of 64 bits"},
      {{{"int", 9223372036854775808u}}, "int: expected an integer of 64 bits"},
      {{{"float", 1.5}}, "float: expected text"},
      {{{"float", "1.5"}},
       "float: expected a float as hexadecimal text like \"0x1.8p+0\", or inf, -inf, nan"},
      {{{"float", "0x"}},
       "float: expected a float as hexadecimal text like \"0x1.8p+0\", or inf, -inf, nan"},
      {{{"float", "0x-1p+0"}},
       "float: expected a float as hexadecimal text like \"0x1.8p+0\", or inf, -inf, nan"},
      {{{"none", false}}, "none: expected true"},
      {{{"device", "cuda:1"}}, "device: expected \"plan\""},
      {{{"layout", "sparse"}}, "layout: expected \"strided\""},
      {{{"tensor", -1}}, "tensor: must be from 0 to 4095"},
      {{{"storage", 1}}, "storage: no such tag"},
      {{{"int", 1}, {"float", "inf"}}, "expected an object with exactly one member"},
      {Json::array(), "expected an object with exactly one member"}};
  for (const auto& [json, message] : cases) {
    const auto argument = parse<Argument>(json);
    ASSERT_FALSE(argument) << dump(json);
    EXPECT_EQ(argument.error().message, message);
  }
}

/// As large as the caps allow: 2,048 steps of 4 arguments.
Json large_plan() {
  auto json = *parse_text(fakes::kSamplePlan, "plan");
  json["values"] = {json["values"][0], json["values"][1]};
  const Json computed{
      {"dtype", "float32"}, {"shape", {64, 64}}, {"stride", {64, 1}}, {"origin", "computed"}};
  Json step = json["forward"][2];
  json["forward"] = Json::array();
  json["prepare"] = Json::array();
  json["prepared"] = Json::object();
  for (int i = 0; i < 2048; ++i) {
    json["values"].push_back(computed);
    step["results"] = {i + 2};
    json["forward"].push_back(step);
  }
  json["outputs"] = {{"tensor", 2049}};
  return json;
}

TEST(PlanJson, ReadsALargePlanQuickly) {
  const std::string text = dump(large_plan(), 1);
  ASSERT_GT(text.size(), 1u << 20);
  const std::clock_t start = std::clock();  // of this process: other load does not count
  const auto json = parse_text(text, "plan");
  ASSERT_TRUE(json);
  const auto plan = parse<Plan>(*json);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->forward.size(), 2048u);
  RecordProperty("bytes", static_cast<int>(text.size()));
  RecordProperty("milliseconds", static_cast<int>(seconds * 1000));
  EXPECT_LT(seconds, 2.0);  // some 20 ms when optimised; sanitizers cost a factor of ten
}

}  // namespace
}  // namespace kagent::wire
