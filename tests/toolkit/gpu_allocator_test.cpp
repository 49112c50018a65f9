// SPDX-License-Identifier: Apache-2.0
// Without a card: is it really our allocator that torch asks for CUDA memory?
#include "gpu/torch_allocator.h"

#include <ATen/cuda/CUDAContextLight.h>
#include <c10/core/Allocator.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <gtest/gtest.h>

namespace kagent::gpu {
namespace {

TEST(TorchAllocator, IsTheOneThatTorchAsks) {
  const Driver driver;             // never called: no memory is asked for here
  const Instruments instruments;
  static BlockPool pool(driver, 0, instruments, 1, nullptr);
  const auto installed = install_torch_allocator(pool, 0);
  ASSERT_TRUE(installed) << installed.error().message;
  EXPECT_EQ(c10::cuda::CUDACachingAllocator::get()->name(), "kagent");
  EXPECT_EQ(at::cuda::getCUDADeviceAllocator(), c10::cuda::CUDACachingAllocator::get());
  EXPECT_EQ(c10::GetAllocator(c10::DeviceType::CUDA), c10::cuda::CUDACachingAllocator::get());
  // Nothing of the card is touched for no bytes, and what is freed is known.
  const c10::DataPtr nothing = at::cuda::getCUDADeviceAllocator()->allocate(0);
  EXPECT_EQ(nothing.get(), nullptr);
  EXPECT_EQ(pool.live_bytes(), 0);
}

}  // namespace
}  // namespace kagent::gpu
