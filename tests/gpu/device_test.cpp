// SPDX-License-Identifier: Apache-2.0
#include "gpu/device_record.h"

#include <cstdlib>

#include "card.h"

namespace kagent::test {
namespace {

using DeviceTest = GpuTest;

TEST_F(DeviceTest, RecordIsPlausible) {
  const DeviceRecord& record = card()->record();
  figure("%s %s driver %s, %s, %d SMs, L2 %lld MiB, memory %lld MiB, shared %lld per block",
         record.name.c_str(), record.uuid.c_str(), record.driver.c_str(),
         record.architecture.c_str(), record.multiprocessors,
         static_cast<long long>(record.l2_bytes >> 20),
         static_cast<long long>(record.memory_bytes >> 20),
         static_cast<long long>(record.shared_bytes_per_block));
  EXPECT_FALSE(record.name.empty());
  EXPECT_EQ(record.uuid.size(), 40u);
  EXPECT_GT(record.multiprocessors, 0);
  EXPECT_EQ(record.warp_size, 32);
  EXPECT_GE(record.max_threads_per_block, 1024);
  EXPECT_GT(record.registers_per_multiprocessor, 0);
  EXPECT_GE(record.shared_bytes_per_multiprocessor, record.shared_bytes_per_block);
  EXPECT_GT(record.l2_bytes, 0);
  EXPECT_GT(record.memory_bytes, std::int64_t{1} << 30);
}

TEST_F(DeviceTest, TraitsAreRead) {
  const auto traits = gpu::read_traits(0);
  ASSERT_TRUE(traits) << traits.error().message;
  figure("pageable memory access %d, exclusive process %d, prohibited %d, shareable memory %d",
         traits->pageable_memory_access, traits->exclusive_process, traits->prohibited,
         traits->shareable_memory);
  EXPECT_TRUE(traits->shareable_memory);
  EXPECT_FALSE(traits->prohibited);
}

TEST_F(DeviceTest, NoSuchCardIsAnError) {
  const auto record = gpu::read_device(99);
  ASSERT_FALSE(record);
  figure("%s", record.error().message.c_str());
  EXPECT_NE(record.error().message.find("GPU number 99"), std::string::npos);
  EXPECT_NE(record.error().message.find("CUDA_ERROR_INVALID_DEVICE"), std::string::npos);
}

TEST_F(DeviceTest, BackendStartsQuickly) {
  figure("backend created and kernels loaded in %.0f ms", card()->create_ms());
  EXPECT_LT(card()->create_ms(), 5000);
}

TEST_F(DeviceTest, TimelineWorksInjected) {
  const std::string command = "CUDA_INJECTION64_PATH=" KAGENT_TIMELINE_FILE " " KAGENT_GPU_TESTS_FILE
                              " --injected";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

}  // namespace
}  // namespace kagent::test
