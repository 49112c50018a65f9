// SPDX-License-Identifier: Apache-2.0
// Crashes, told from outside: each happens in a process of its own.
#include "card.h"
#include "gpu/device_range.h"
#include "peers.h"

namespace kagent::test {
namespace {

using FaultTest = GpuTest;
using nlohmann::json;

std::string message(const json& fault) { return fault.value("message", std::string()); }

TEST_F(FaultTest, AWriteBeyondTheGapIsACrashWithTheDriversWords) {
  const json answer = play("crash", {{"stop", false}, {"offset", 4096}}, {});
  figure("peer says %s", answer.dump().c_str());
  ASSERT_FALSE(answer.contains("error"));
  EXPECT_TRUE(answer["launch"].is_null());
  ASSERT_TRUE(answer["fault"].is_object()) << "the byte behind the block is mapped";
  EXPECT_EQ(answer["fault"]["kind"], "crash");
  EXPECT_NE(message(answer["fault"]).find("CUDA_ERROR_ILLEGAL_ADDRESS (700)"), std::string::npos);
  EXPECT_EQ(answer["guards"].value("kind", std::string()), "crash");
  EXPECT_EQ(answer["next_launch"].value("kind", std::string()), "crash");
  EXPECT_NE(answer["next_allocation"], "worked");
}

TEST_F(FaultTest, ATrapIsACrash) {
  const json answer = play("crash", {{"stop", true}}, {});
  figure("peer says %s", answer.dump().c_str());
  ASSERT_FALSE(answer.contains("error"));
  EXPECT_EQ(answer["fault"].value("kind", std::string()), "crash");
}

TEST_F(FaultTest, ADiagnosticRunTellsWhatTheKernelDid) {
  constexpr std::int64_t kBytes = 1000 * 256;
  auto range = gpu::DeviceRange::allocate(card()->driver(), 0, kBytes, gpu::Sharing::exportable);
  ASSERT_TRUE(range) << range.error().message;
  ASSERT_EQ(card()->driver().cuMemsetD8(range->address(), 1, kBytes), CUDA_SUCCESS);
  const auto file = range->share();
  ASSERT_TRUE(file) << file.error().message;
  const json answer = play("diagnose", {{"bytes", kBytes}}, {file->get()});
  figure("peer says %s", answer.dump().c_str());
  ASSERT_FALSE(answer.contains("error"));
  EXPECT_TRUE(answer["clean"].is_null());
  EXPECT_EQ(answer["input"].value("kind", std::string()), "input_modified");
  EXPECT_TRUE(answer["repaired"].is_null());
  EXPECT_EQ(answer["kept"].value("kind", std::string()), "input_modified");
  EXPECT_EQ(answer["canary"].value("kind", std::string()), "out_of_bounds");
  EXPECT_EQ(answer["far"].value("kind", std::string()), "out_of_bounds");
  unsigned char byte = 0;
  ASSERT_EQ(card()->driver().cuMemcpyDtoH(&byte, range->address() + 100, 1), CUDA_SUCCESS);
  EXPECT_EQ(byte, 1) << "the reference's memory changed";
}

TEST_F(FaultTest, WhatPrepareMadeIsReadOnly) {
  const json answer = play("protected_write", json::object(), {});
  figure("peer says %s", answer.dump().c_str());
  ASSERT_FALSE(answer.contains("error"));
  EXPECT_EQ(answer["readable"], 100.0);
  ASSERT_TRUE(answer["fault"].is_object());
  EXPECT_EQ(answer["fault"]["kind"], "crash") << "protection fell back to comparing";
}

TEST_F(FaultTest, AuditModeIsPlain) {
  const json answer = play("audit", json::object(), {});
  figure("peer says %s", answer.dump().c_str());
  ASSERT_FALSE(answer.contains("error"));
  EXPECT_EQ(answer["poison"], 5 * 0x40);
  EXPECT_TRUE(answer["launch"].is_null());
  EXPECT_TRUE(answer["fault"].is_null());
  EXPECT_TRUE(answer["guards"].is_null());
  EXPECT_TRUE(answer["time_refused"].get<bool>());
}

}  // namespace
}  // namespace kagent::test
