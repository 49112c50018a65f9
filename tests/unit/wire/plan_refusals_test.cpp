// SPDX-License-Identifier: Apache-2.0
// What a hostile recorder might write, and what is said about it.
#include "../../fakes/sample_plan.h"
#include "wire/json.h"

#include <gtest/gtest.h>

#include <string>

namespace kagent::wire {
namespace {

struct Refusal {
  const char* pointer;  // what is replaced; "-" at its end appends
  const char* value;    // JSON
  const char* message;
};

Json changed(const char* pointer, const char* value) {
  auto json = *parse_text(fakes::kSamplePlan, "plan");
  json[Json::json_pointer(pointer)] = Json::parse(value);
  return json;
}

void expect_refused(const Json& json, const std::string& message) {
  const auto plan = parse<Plan>(json);
  if (plan) {
    ADD_FAILURE() << "accepted; expected: " << message;
  } else {
    EXPECT_EQ(plan.error().message, message);
  }
}

class PlanRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(PlanRefusals, NameTheField) {
  expect_refused(changed(GetParam().pointer, GetParam().value), GetParam().message);
}

constexpr Refusal kShapes[] = {
    {"/schema", R"("kagent.plan/2")", "schema: this kagent reads kagent.plan/1"},
    {"/backend", R"("tpu")", "backend: \"tpu\" is none of cuda, cpu"},
    {"/values", "{}", "values: expected a list"},
    {"/values/0", "3", "values[0]: expected an object"},
    {"/values/0/dtype", R"("float31")",
     "values[0].dtype: \"float31\" is none of float64, float32, float16, bfloat16, float8_e4m3fn, "
     "float8_e5m2, "
     "complex64, complex128, int64, int32, int16, int8, uint8, bool"},
    {"/values/0/dtype", "7", "values[0].dtype: expected text"},
    {"/values/3/shape", R"("32")", "values[3].shape: expected a list of integers"},
    {"/values/3/shape", "[32, 1]", "values[3]: shape and stride differ in length"},
    {"/values/3/shape/0", "-1", "values[3].shape[0]: must be at least 0"},
    {"/values/3/shape/0", "32.0", "values[3].shape[0]: expected an integer of 64 bits"},
    {"/values/3/stride/0", "-1", "values[3].stride[0]: must be at least 0"},
    {"/values/3/shape/0", "9223372036854775807", "values[3]: more than 2^40 bytes"},
    {"/values/3/shape", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
     "values[3].shape: more than 16 elements"},
    {"/values/5/stride", "[1, 17179869184]", "values[5]: strides reach over more than 2^40 bytes"},
    {"/values/5/stride", "[9223372036854775807, 9223372036854775807]",
     "values[5]: strides reach over more than 2^40 bytes"},
    {"/values/3/origin", R"("file")",
     "values[3].origin: \"file\" is none of input, weight, constant, prepared, computed"},
    {"/values/0/input", "-1", "values[0].input: must be from 0 to 65536"},
    {"/values/2/data", R"("AAAA")", "values[2].data: has 3 bytes, and its shape needs 8"},
    {"/values/2/data", R"("*")", "values[2].data: not base64"},
    {"/values/2/data", "1", "values[2].data: expected text"},
    {"/kernels/0/options", R"(["-x", 3])", "kernels[0].options[1]: expected text"},
    {"/kernels/0/at/line", "-3", "kernels[0].at.line: must be from 0 to 1073741824"},
    {"/forward/0", "{}", "forward[0]: a step has \"op\" or \"launch\""},
    {"/forward/1/op", "3", "forward[1].op: expected text"},
    {"/forward/1/args", "null", "forward[1]: missing \"args\""},
    {"/forward/1/args/0", R"({"tensor": 5000})",
     "forward[1].args[0].tensor: must be from 0 to 4095"},
    {"/forward/2/args/0/list/1", R"({"int": "64"})",
     "forward[2].args[0].list[1].int: expected an integer of 64 bits"},
    {"/forward/3/grid", "[64, 1]", "forward[3].grid: expected three integers"},
    {"/forward/3/grid/0", "0", "forward[3].grid[0]: must be from 1 to 2147483647"},
    {"/forward/3/block/2", "2147483648", "forward[3].block[2]: must be from 1 to 2147483647"},
    {"/forward/3/shared_bytes", "-1", "forward[3].shared_bytes: must be from 0 to 2147483647"},
    {"/forward/3/cooperative", "1", "forward[3].cooperative: expected true or false"},
    {"/forward/3/args/0", R"({"string": "x"})",
     "forward[3].args[0]: a launch takes tensor, int, float, bool or tensor_map"},
    {"/forward/3/args/0", R"({"none": true})",
     "forward[3].args[0]: a launch takes tensor, int, float, bool or tensor_map"},
    {"/forward/3/args/5/tensor_map/swizzle", R"("12B")",
     "forward[3].args[5].tensor_map.swizzle: no such value"},
    {"/forward/3/args/5/tensor_map/box", "[64]",
     "forward[3].args[5].tensor_map: box and element_strides differ in length"},
    {"/forward/3/args/5/tensor_map/box/0", "0",
     "forward[3].args[5].tensor_map.box[0]: must be at least 1"},
    {"/outputs/dict/keys", R"(["y"])", "outputs.dict: keys and items differ in length"},
    {"/outputs/dict/keys", R"(["y", "y"])", "outputs.dict.keys: a key appears twice"},
    {"/outputs", R"({"set": []})", "outputs.set: no such kind of output"},
    {"/tunables/0/values", "[]", "tunables[0].values: has no value"},
};
INSTANTIATE_TEST_SUITE_P(Shapes, PlanRefusals, testing::ValuesIn(kShapes));

constexpr Refusal kReferences[] = {
    {"/forward/1/args/0/tensor", "99", "forward[1].args[0]: there is no value 99"},
    {"/forward/1/args/0/tensor", "7", "forward[1].args[0]: value 7 is used before it is computed"},
    {"/forward/1/args/0/tensor", "6", "forward[1].args[0]: value 6 is used before it is computed"},
    {"/forward/1/args/0/tensor", "3",
     "forward[1].args[0]: value 3 belongs to prepare; forward sees it as a value of origin "
     "prepared"},
    {"/forward/1/results/0", "5", "forward[1].results[0]: value 5 is computed twice"},
    {"/forward/1/results/0", "3", "forward[1].results[0]: value 3 is computed twice"},
    {"/forward/1/results/0", "0", "forward[1].results[0]: value 0 is not of origin computed"},
    {"/forward/1/results/0", "99", "forward[1].results[0]: there is no value 99"},
    {"/forward/1/results", "[]", "forward[3].args[1]: value 6 is used before it is computed"},
    {"/forward/2/args/0/list/1", R"({"tensor": 99})",
     "forward[2].args[0].list[1]: there is no value 99"},
    {"/prepare/0/args/0/tensor", "0",
     "prepare[0].args[0]: value 0 is an input, which prepare can't use"},
    {"/prepare/0/args/0/tensor", "4",
     "prepare[0].args[0]: value 4 is there only once prepare has ended"},
    {"/prepared/folded", "0",
     "values[4]: differs in dtype, shape or stride from what prepare made"},
    {"/prepared/folded", "4", "prepared.folded: value 4 is there only once prepare has ended"},
    {"/prepared/other", "7", "prepared.other: value 7 is used before it is computed"},
    {"/prepared", "{}", "values[4].path: no such key in prepared"},
    {"/values/4/shape/0", "31",
     "values[4]: differs in dtype, shape or stride from what prepare made"},
    {"/forward/3/launch", "1", "forward[3].launch: there is no kernel 1"},
    {"/forward/3/args/0/tensor", "99", "forward[3].args[0]: there is no value 99"},
    {"/forward/3/args/5/tensor_map/tensor", "99",
     "forward[3].args[5].tensor_map.tensor: there is no value 99"},
    {"/outputs", R"({"tensor": 99})", "outputs: there is no value 99"},
    {"/outputs", R"({"tensor": 3})",
     "outputs: value 3 belongs to prepare; forward sees it as a value of origin prepared"},
    {"/outputs", R"({"list": [{"scalar": {"tensor": 7}}]})",
     "outputs[0]: a scalar can't be a tensor"},
    {"/values/-", R"({"dtype": "int8", "shape": [], "stride": [], "origin": "computed"})",
     "values[8]: no step computes it"},
};
INSTANTIATE_TEST_SUITE_P(References, PlanRefusals, testing::ValuesIn(kReferences));

TEST(PlanCaps, Hold) {
  const auto repeated = [](const char* pointer, int count) {
    auto json = *parse_text(fakes::kSamplePlan, "plan");
    Json& list = json[Json::json_pointer(pointer)];
    const Json item = list.at(0);
    while (static_cast<int>(list.size()) < count) list.push_back(item);
    return json;
  };
  expect_refused(repeated("/values", 4097), "values: more than 4096 elements");
  expect_refused(repeated("/kernels", 257), "kernels: more than 256 elements");
  expect_refused(repeated("/forward", 2049), "forward: more than 2048 elements");
  expect_refused(repeated("/prepare", 2049), "prepare: more than 2048 elements");
  expect_refused(repeated("/forward/3/args", 65), "forward[3].args: more than 64 elements");
  expect_refused(repeated("/forward/2/args/0/list", 8193),
                 "forward[2].args[0].list: more than 8192 list elements in all");
}

TEST(PlanCaps, ListElementsCountOverTheWholePlan) {
  auto json = *parse_text(fakes::kSamplePlan, "plan");
  Json list = Json::array();
  for (int i = 0; i < 200; ++i) list.push_back({{"int", i}});
  for (int i = 0; i < 50; ++i) json["forward"][2]["args"].push_back({{"list", list}});
  expect_refused(json, "forward[2].args[46].list: more than 8192 list elements in all");
}

TEST(PlanCaps, DepthOfListsAndTrees) {
  std::string deep = R"({"int": 1})";
  for (int i = 0; i < 9; ++i) deep = R"({"list": [)" + deep + "]}";
  const auto plan = parse<Plan>(changed("/forward/2/args/0", deep.c_str()));
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("lists are nested deeper than 8"), std::string::npos);
  std::string tree = R"({"tensor": 7})";
  for (int i = 0; i < 9; ++i) tree = R"({"tuple": [)" + tree + "]}";
  const auto outputs = parse<Plan>(changed("/outputs", tree.c_str()));
  ASSERT_FALSE(outputs);
  EXPECT_NE(outputs.error().message.find("nested deeper than 8"), std::string::npos);
}

TEST(PlanCaps, ConstantsAndText) {
  auto json = *parse_text(fakes::kSamplePlan, "plan");
  json["values"][2]["dtype"] = "uint8";
  json["values"][2]["shape"] = {33 << 20};
  json["values"][2]["data"] = std::string((33u << 20) / 3 * 4, 'A');
  const auto bytes = (33 << 20) / 3 * 3;
  json["values"][2]["shape"] = {bytes};
  json["values"].push_back(json["values"][2]);
  expect_refused(json, "values[8].data: constants of more than 64 MiB in all");

  auto wordy = *parse_text(fakes::kSamplePlan, "plan");
  for (int i = 0; i < 300; ++i) {
    wordy["forward"][2]["args"][0]["list"].push_back({{"string", std::string(60000, 'x')}});
  }
  const auto plan = parse<Plan>(wordy);
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("more than 16 MiB of text"), std::string::npos);
}

TEST(PlanRefusalsOfHostileText, AreOneLine) {
  auto json = *parse_text(fakes::kSamplePlan, "plan");
  json["prepared"]["a\n\x1b[31m"] = 99;
  expect_refused(json, "prepared.a\\n\\x1b[31m: there is no value 99");
}

}  // namespace
}  // namespace kagent::wire
