// SPDX-License-Identifier: Apache-2.0
#include <kagent/trajectory.h>

#include "wire/json.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kagent::wire {
namespace {

std::string error_of(const std::string& text) {
  const auto json = parse_text(text, "plan");
  return json ? "accepted" : json.error().message;
}

TEST(ParseText, NamesLineAndColumn) {
  EXPECT_EQ(
      error_of("{\"a\":\n [1,,2]}"),
      "plan: not valid JSON: line 2, column 5: syntax error while parsing value - unexpected ','; "
      "expected '[', '{', or a literal");
  EXPECT_NE(error_of("").find("line 1, column 1"), std::string::npos);
  EXPECT_NE(error_of("[1] x").find("not valid JSON"), std::string::npos);
  EXPECT_NE(error_of("1e999").find("not valid JSON"), std::string::npos);
  EXPECT_NE(error_of("\"\xFF\"").find("not valid JSON"), std::string::npos);
}

TEST(ParseText, CapsNesting) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(error_of(nested(64)), "accepted");
  EXPECT_EQ(error_of(nested(65)),
            "plan: not JSON that can be read: line 1, column 65: nested deeper than 64");
  EXPECT_NE(error_of(std::string(10'000'000, '[')).find("nested deeper"), std::string::npos);
  EXPECT_EQ(error_of("\"" + std::string(100, '[') + "\\\"[\""), "accepted");  // inside a text
}

TEST(ParseText, CapsTheNumberOfValues) {
  std::string text = "[0";
  for (int i = 0; i < 4'000'000; ++i) text += ",0";
  EXPECT_NE(error_of(text + "]").find("more than 4000000 values"), std::string::npos);
}

TEST(Dump, ReplacesInvalidUtf8) {
  EXPECT_EQ(dump(Json("a\xFF")), "\"a\xEF\xBF\xBD\"");
  EXPECT_EQ(dump(Json{{"a", 1}}, 1), "{\n \"a\": 1\n}");
}

TEST(NumberOr, TakesNumbersAndTheirWords) {
  const Json json{{"a", 2}, {"b", "inf"}, {"c", "x"}, {"d", nullptr}};
  EXPECT_EQ(number_or(json, "a", 7), 2);
  EXPECT_EQ(number_or(json, "b", 7), HUGE_VAL);
  EXPECT_EQ(number_or(json, "c", 7), 7);
  EXPECT_EQ(number_or(json, "d", 7), 7);
  EXPECT_EQ(number_or(json, "e", 7), 7);
  EXPECT_EQ(number_or(Json(3), "a", 7), 7);
}

TEST(Words, ComeBack) {
  EXPECT_STREQ(word(DType::boolean), "bool");
  EXPECT_STREQ(word(FaultKind::no_custom_kernel), "no_custom_kernel");
  EXPECT_STREQ(word(StopReason::target_reached), "target_reached");
  for (const FaultKind kind :
       {FaultKind::build_failed, FaultKind::bad_launch, FaultKind::unsupported}) {
    const auto parsed = parse_word<FaultKind>(word(kind));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, kind);
  }
  const auto wrong = parse_word<Mode>("Train");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "\"Train\" is none of eval, train");
}

}  // namespace
}  // namespace kagent::wire
