// SPDX-License-Identifier: Apache-2.0
#include "llm/price_table.h"

#include <gtest/gtest.h>

#include "fakes/test_folder.h"

namespace kagent::llm {
namespace {

const char* kTable = R"({"models": {
  "p/m-5": {"input": 5, "cached": 0.5, "cache_write": 6.25, "output": 25},
  "p/m-5-mini": {"input": 1, "cached": 0.1, "cache_write": 1, "output": 2}}})";

TEST(PriceTable, NamesAreWholeButForADate) {
  const fakes::TestFolder folder;
  folder.write("prices.json", kTable);
  const auto input = [&](const std::string& model) {
    const auto price = find_price(folder / "prices.json", model);
    EXPECT_TRUE(price) << price.error().message;
    return price && *price ? (*price)->input : 0.0;
  };
  for (const char* name : {"p/m-5", "p/m-5-20260101", "p/m-5-2026-01-01", "p/m-5-latest"}) EXPECT_EQ(input(name), 5) << name;
  EXPECT_EQ(input("p/m-5-mini"), 1);
  EXPECT_EQ(input("p/m-5-mini-20260101"), 1);
  // Other models, whose price is not known: 0 is said, another's is not used.
  for (const char* name : {"p/m-5.4", "p/m-5-1", "p/m-50", "p/m-5-pro", "p/m", "q/m-5", "p/m-5-20260101-x", "p/m-512345678"}) {
    EXPECT_EQ(input(name), 0) << name;
  }
}

TEST(PriceTable, CachedTokensAreCheaper) {
  const Price price{5, 0.5, 6.25, 25};
  EXPECT_DOUBLE_EQ(price.cost({1'000'000, 600'000, 100'000, 300'000, 0}), 0.1 * 5 + 0.6 * 0.5 + 0.3 * 6.25 + 0.1 * 25);
}

TEST(PriceTable, OursIsWhole) {
  for (const char* name : {"anthropic/claude-opus-5", "openai/gpt-5.4-mini", "deepseek/deepseek-chat"}) {
    const auto price = find_price(KAGENT_PRICES, name);
    ASSERT_TRUE(price) << price.error().message;
    ASSERT_TRUE(*price) << name;
    EXPECT_LT((*price)->cached, (*price)->input);
    EXPECT_LT((*price)->input, (*price)->output);
  }
}

TEST(PriceTable, KnowsWhatQuickstartAsks) {
  const auto script = sys::read_file(KAGENT_QUICKSTART, 1u << 20);
  ASSERT_TRUE(script);
  int found = 0;
  const std::string start = "KAGENT_MODEL=";
  for (std::size_t at = 0; (at = script->find(start, at)) != std::string::npos;) {
    at += start.size();
    const std::string name = script->substr(at, script->find_first_of(" \n", at) - at);
    if (name.find('/') == std::string::npos || name == "provider/model") continue;
    const auto price = find_price(KAGENT_PRICES, name);
    EXPECT_TRUE(price && *price) << name;
    ++found;
  }
  EXPECT_EQ(found, 2);
}

TEST(PriceTable, ABrokenRowIsNamed) {
  const fakes::TestFolder folder;
  folder.write("prices.json", R"({"models": {"p/m": {"input": "5"}}})");
  const auto price = find_price(folder / "prices.json", "p/m");
  ASSERT_FALSE(price);
  EXPECT_NE(price.error().message.find("p/m.input: expected a number"), std::string::npos);
}

}  // namespace
}  // namespace kagent::llm
