// SPDX-License-Identifier: Apache-2.0
#include "scoring/slowdown.h"

#include <gtest/gtest.h>

namespace kagent::scoring {
namespace {

TEST(Slowdown, IsTimeNowOverTimeThen) {
  const auto found = slowdown({{10, 11}, {20, 22}, {10, 11}});
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->point, 0.1, 1e-12);
}

TEST(Slowdown, OneBadPairOfNineMovesNothing) {
  std::vector<GatePair> pairs(8, GatePair{2, 2});
  pairs.push_back({2, 4});   // a hiccup: twice as slow
  const auto found = slowdown(pairs);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->low, 0);
  EXPECT_DOUBLE_EQ(found->high, 0);
  EXPECT_EQ(judge(*found, 0.05), GateVerdict::passed);
}

TEST(Slowdown, StraddlingIsInconclusive) {
  EXPECT_EQ(judge({0.05, 0.04, 0.06, {}}, 0.05), GateVerdict::inconclusive);
  EXPECT_EQ(judge({0.1, 0.051, 0.2, {}}, 0.05), GateVerdict::failed);
  EXPECT_EQ(judge({0.01, -0.02, 0.05, {}}, 0.05), GateVerdict::passed);
}

TEST(Slowdown, PairsWithoutTimeSayNothing) {
  EXPECT_FALSE(slowdown({}));
  EXPECT_FALSE(slowdown({{0, 3}, {3, 0}}));
  EXPECT_EQ(slowdown({{0, 3}, {2, 3}})->pairs.size(), 1u);
}

}  // namespace
}  // namespace kagent::scoring
