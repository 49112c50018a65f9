// SPDX-License-Identifier: Apache-2.0
#include "gpu/driver.h"

#include <string>

#include "gpu/device_record.h"
#include "gpu/measure.h"
#include "gpu/timeline_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace kagent::gpu {
namespace {

bool has_driver() {
  static void* const library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  return library != nullptr;
}

constexpr const char* kNoDriver = "no NVIDIA driver: libcuda.so.1 not found";

TEST(Driver, AbsenceIsOneClearLine) {
  if (has_driver()) GTEST_SKIP() << "this machine has a driver";
  const auto driver = Driver::open();
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().kind, ErrorKind::environment);
  EXPECT_EQ(driver.error().message, kNoDriver);
}

TEST(Driver, AbsenceStopsEverythingThatNeedsACard) {
  if (has_driver()) GTEST_SKIP() << "this machine has a driver";
  const auto record = read_device(0);
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().message, kNoDriver);
  const auto timeline = start_timeline();
  ASSERT_FALSE(timeline);
  EXPECT_EQ(timeline.error().message, kNoDriver);
  const auto meter = Meter::create(sys::Fd(), nullptr);
  ASSERT_FALSE(meter);
  EXPECT_EQ(meter.error().message, kNoDriver);
}

TEST(Driver, HasEveryFunctionWhereThereIsOne) {
  if (!has_driver()) GTEST_SKIP() << "SKIPPED: no GPU";
  const auto driver = Driver::open();
  ASSERT_TRUE(driver) << driver.error().message;
}

TEST(TimelineLibrary, SaysWhyItCannotCollect) {
  const kagent_timeline_activity* activities = nullptr;
  std::size_t count = 7;
  EXPECT_EQ(kagent_timeline_collect(&activities, &count), -1);
  EXPECT_EQ(count, 0u);
  EXPECT_STREQ(kagent_timeline_error(), "the timeline was not started");
}

TEST(TimelineLibrary, FailsToStartWithoutADriverAndStaysUsable) {
  if (has_driver()) GTEST_SKIP() << "this machine has a driver";
  EXPECT_EQ(kagent_timeline_start(), -1);
  EXPECT_NE(std::string(kagent_timeline_error()), "");
  EXPECT_EQ(kagent_timeline_started(), 0);
  EXPECT_EQ(InitializeInjection(), 1) << "an injected library must not stop the program";
}

}  // namespace
}  // namespace kagent::gpu
