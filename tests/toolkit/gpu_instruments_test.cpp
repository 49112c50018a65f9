// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "nvrtc_image.h"

#include <gtest/gtest.h>

namespace kagent {
namespace {

class Architecture : public testing::TestWithParam<const char*> {};

TEST_P(Architecture, InstrumentsCompileAndHoldEveryKernel) {
  const std::string image = test::compile(test::instruments_source(), GetParam());
  ASSERT_EQ(image.substr(0, 4), "\177ELF");
  for (const char* kernel : {"open", "end", "gate", "flush_write", "flush_read", "scrub_shared",
                             "check", "compare"}) {
    EXPECT_NE(image.find(std::string("kagent_instrument_") + kernel), std::string::npos) << kernel;
  }
}

INSTANTIATE_TEST_SUITE_P(Cards, Architecture,
                         testing::Values("sm_75", "sm_80", "sm_90a", "sm_100", "sm_120"),
                         [](const auto& card) { return std::string(card.param); });

}  // namespace
}  // namespace kagent
