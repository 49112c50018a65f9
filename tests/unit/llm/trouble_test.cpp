// SPDX-License-Identifier: Apache-2.0
#include "llm/trouble.h"

#include <gtest/gtest.h>

namespace kagent::llm {
namespace {

long long wait_of(const HttpHeaders& headers) {
  const auto wait = retry_after(headers);
  return wait ? static_cast<long long>(wait->count()) : -1;
}

TEST(RetryAfter, AllForms) {
  EXPECT_EQ(wait_of({{"retry-after-ms", "250"}, {"retry-after", "9"}}), 250);
  EXPECT_EQ(wait_of({{"retry-after", "2"}}), 2000);
  EXPECT_EQ(wait_of({{"retry-after", "0.5"}}), 500);
  EXPECT_EQ(wait_of({{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}, {"date", "Sun, 06 Nov 1994 08:49:07 GMT"}}), 30'000);
  EXPECT_EQ(wait_of({{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}, {"date", "Sun, 06 Nov 1994 09:00:00 GMT"}}), 0);
  // Without the server's clock ours might be off by any time.
  for (const char* text : {"Sun, 06 Nov 1994 08:49:37 GMT", "soon", "", "-1", "nan", "1e999", "12 s"}) {
    EXPECT_EQ(wait_of({{"retry-after", text}}), -1) << text;
  }
  EXPECT_EQ(wait_of({{"retry-after", "1e9"}}), 24 * 3600 * 1000);
  EXPECT_EQ(wait_of({}), -1);
}

TEST(Trouble, WhatIsWorthARetry) {
  for (const int status : {408, 409, 429, 500, 502, 503, 504, 529}) EXPECT_TRUE(trouble_of_status(status, {}, "{}").retry) << status;
  for (const int status : {301, 400, 401, 402, 403, 404, 405, 422}) EXPECT_FALSE(trouble_of_status(status, {}, "{}").retry) << status;
  EXPECT_FALSE(trouble_of_status(429, {}, R"({"error": {"code": "insufficient_quota"}})").retry);
  EXPECT_FALSE(trouble_of_status(500, {{"x-should-retry", "false"}}, "{}").retry);
  EXPECT_TRUE(trouble_of_status(400, {{"x-should-retry", "true"}}, "{}").retry);
  EXPECT_EQ(trouble_of_status(413, {}, "").kind, TroubleKind::context_exceeded);
}

}  // namespace
}  // namespace kagent::llm
