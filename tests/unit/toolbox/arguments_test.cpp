// SPDX-License-Identifier: Apache-2.0
#include "toolbox/arguments.h"

#include <gtest/gtest.h>

namespace kagent::toolbox {
namespace {

const Parameters kParameters{
    {"path", ParameterType::text, Presence::required, "where", 0, 0},
    {"limit", ParameterType::integer, Presence::optional, "how many", 1, 10},
    {"all", ParameterType::flag, Presence::optional, "everywhere", 0, 0}};

TEST(Arguments, ReadsWhatFits) {
  const auto checked = check_arguments(kParameters, R"({"path": "a", "limit": 3, "all": true})");
  const auto& given = std::get<Arguments>(checked);
  EXPECT_EQ(given.text("path"), "a");
  EXPECT_EQ(given.integer("limit", 7), 3);
  EXPECT_TRUE(given.flag("all"));
}

TEST(Arguments, HasDefaultsForWhatIsAbsentOrNull) {
  const auto checked = check_arguments(kParameters, R"({"path": "a", "limit": null})");
  const auto& given = std::get<Arguments>(checked);
  EXPECT_EQ(given.integer("limit", 7), 7);
  EXPECT_FALSE(given.flag("all"));
}

TEST(Arguments, MendsOnlyWhatHasOneMeaning) {
  const auto checked =
      check_arguments(kParameters, R"({"path": "a", "limit": "3", "all": "false"})");
  const auto& given = std::get<Arguments>(checked);
  EXPECT_EQ(given.integer("limit", 7), 3);
  EXPECT_FALSE(given.flag("all"));
  EXPECT_TRUE(std::holds_alternative<Arguments>(check_arguments({}, "  ")));
}

TEST(Arguments, NamesTheFieldThatDoesNotFit) {
  const std::pair<const char*, const char*> bad[] = {
      {R"({"limit": 3})", "\"path\" is missing"},
      {R"({"path": null})", "\"path\" is missing"},
      {R"({"path": 3})", "\"path\" must be a string"},
      {R"({"path": "a", "limit": "three"})", "\"limit\" must be an integer"},
      {R"({"path": "a", "limit": 3.5})", "\"limit\" must be an integer"},
      {R"({"path": "a", "limit": 18446744073709551615})", "\"limit\" must be an integer"},
      {R"({"path": "a", "limit": 11})", "\"limit\" must be between 1 and 10"},
      {R"({"path": "a", "all": 1})", "\"all\" must be true or false"},
      {R"({"path": "a", "colour": 1})", "\"colour\" is not a parameter"},
      {R"(["a"])", "not a JSON object"},
      {R"({"path": "a)", "arguments"},
  };
  for (const auto& [text, expected] : bad) {
    const auto checked = check_arguments(kParameters, text);
    const auto* outcome = std::get_if<ToolOutcome>(&checked);
    ASSERT_NE(outcome, nullptr) << text;
    EXPECT_TRUE(outcome->is_error && outcome->malformed);
    EXPECT_NE(outcome->text.find(expected), std::string::npos) << outcome->text;
    EXPECT_NE(outcome->text.find("additionalProperties"), std::string::npos) << "shows the schema";
  }
}

TEST(Arguments, SchemaIsJson) {
  const auto schema = *wire::parse_text(schema_of(kParameters), "schema");
  EXPECT_EQ(schema["required"], wire::Json::array({"path"}));
  EXPECT_EQ(schema["properties"]["limit"]["maximum"], 10);
  EXPECT_EQ(schema["additionalProperties"], false);
}

}  // namespace
}  // namespace kagent::toolbox
