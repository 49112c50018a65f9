// SPDX-License-Identifier: Apache-2.0
// Shared arenas, guards, poison, reuse, memory shortage.
#include "card.h"
#include "gpu/device_range.h"
#include "peers.h"

namespace kagent::test {
namespace {

using MemoryTest = GpuTest;
using SharingTest = GpuTest;
using nlohmann::json;

constexpr std::int64_t kArenaBytes = 5000 * 256;

struct SharedArena {
  gpu::DeviceRange range;
  sys::Fd file;
};

/// An arena of ones, exported.
SharedArena make_arena() {
  auto range =
      gpu::DeviceRange::allocate(card()->driver(), 0, kArenaBytes, gpu::Sharing::exportable);
  KAGENT_CHECK(static_cast<bool>(range));
  auto file = range->share();
  KAGENT_CHECK(static_cast<bool>(file));
  KAGENT_CHECK(card()->driver().cuMemsetD8(range->address(), 1, kArenaBytes) == CUDA_SUCCESS);
  return {*std::move(range), *std::move(file)};
}

std::int64_t sum_of(const SharedArena& arena) {
  std::vector<unsigned char> bytes(kArenaBytes);
  KAGENT_CHECK(card()->driver().cuMemcpyDtoH(bytes.data(), arena.range.address(), kArenaBytes) ==
               CUDA_SUCCESS);
  std::int64_t sum = 0;
  for (const unsigned char byte : bytes) sum += byte;
  return sum;
}

TEST_F(SharingTest, ReadOnlyArenaFaultsInTheOtherProcessOnly) {
  const SharedArena arena = make_arena();
  EXPECT_EQ(arena.range.address() % 256, 0u);
  const json answer =
      play("share", {{"bytes", kArenaBytes}, {"writable", false}}, {arena.file.get()});
  figure("peer says %s", answer.dump().c_str());
  ASSERT_FALSE(answer.contains("error"));
  EXPECT_EQ(answer["sum"], kArenaBytes);
  EXPECT_TRUE(answer["launch"].is_null());
  ASSERT_TRUE(answer["fault"].is_object());
  EXPECT_EQ(answer["fault"]["kind"], "crash");
  EXPECT_NE(answer["fault"]["message"].get<std::string>().find("CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
            std::string::npos);
  EXPECT_EQ(sum_of(arena), kArenaBytes) << "the owner's memory changed";
}

TEST_F(SharingTest, WritableArenaIsTheSameMemory) {
  const SharedArena arena = make_arena();
  const json answer =
      play("share", {{"bytes", kArenaBytes}, {"writable", true}}, {arena.file.get()});
  figure("peer says %s", answer.dump().c_str());
  ASSERT_FALSE(answer.contains("error"));
  EXPECT_TRUE(answer["fault"].is_null());
  EXPECT_EQ(sum_of(arena), kArenaBytes + 6);
}

TEST_F(MemoryTest, TorchTakesItsMemoryFromThePool) {
  const at::Tensor tensor = cuda_empty({1000}, at::kFloat);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data_ptr()) % 256, 0u);
  card()->backend().poison_allocations(0xa7);
  for (const std::int64_t count : {1, 255, 256, 257, 1 << 20, (2 << 20) + 3}) {
    const at::Tensor poisoned = cuda_empty({count}, at::kByte);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(poisoned.data_ptr()) % 256, 0u) << count;
    EXPECT_EQ(poisoned.cpu().eq(0xa7).sum().item<std::int64_t>(), count);
  }
  const auto fault = card()->backend().check_guards();
  EXPECT_FALSE(fault.has_value()) << fault->message;
}

TEST_F(MemoryTest, PoisonIsVisibleAgainInMemoryUsedBefore) {
  for (const int pattern : {0xff, 0x00, 0x5a}) {
    card()->backend().poison_allocations(static_cast<std::uint8_t>(pattern));
    const at::Tensor tensor = cuda_empty({300}, at::kByte);
    EXPECT_EQ(tensor.cpu().eq(pattern).sum().item<std::int64_t>(), 300) << pattern;
    tensor.fill_(1);
  }
  card()->backend().poison_allocations(0xff);
  EXPECT_TRUE(cuda_empty({10}, at::kFloat).isnan().all().item<bool>());
}

TEST_F(MemoryTest, SharedMemoryIsOverwritten) {
  for (const int pattern : {0xff, 0x3c}) {
    card()->backend().poison_allocations(static_cast<std::uint8_t>(pattern));
    const at::Tensor seen = at::tensor({-1, 0}, at::kInt).to(card()->backend().device());
    const std::int64_t bytes = card()->record().shared_bytes_per_block;
    ASSERT_FALSE(card()->launch(step("read_shared", card()->record().multiprocessors, 256, bytes),
                                seen.data_ptr(), static_cast<std::uint32_t>(bytes / 4)));
    const at::Tensor words = seen.cpu();
    const auto all = static_cast<std::uint32_t>(words[0].item<int>());
    const auto any = static_cast<std::uint32_t>(words[1].item<int>());
    figure("pattern %02x: shared memory reads and=%08x or=%08x", pattern, all, any);
    EXPECT_EQ(all, static_cast<std::uint32_t>(pattern) * 0x01010101u);
    EXPECT_EQ(any, static_cast<std::uint32_t>(pattern) * 0x01010101u);
  }
}

/// Writes one byte at `offset` of a fresh tensor of 1000 floats; the fault that the guards give.
std::optional<Fault> fault_of_write(std::int64_t offset, bool free_first) {
  card()->backend().poison_allocations(0xff);
  at::Tensor tensor = cuda_empty({1000}, at::kFloat);
  EXPECT_FALSE(card()->launch(step("write_at"), tensor.data_ptr(), offset, 7));
  if (free_first) tensor.reset();
  auto fault = card()->backend().check_guards();
  EXPECT_FALSE(card()->backend().check_guards().has_value() && free_first)
      << "told twice for a freed block";
  return fault;
}

TEST_F(MemoryTest, CanariesTellWritesBehindAndInFront) {
  EXPECT_FALSE(fault_of_write(3999, false).has_value());
  // Freed before the check: a live block keeps its damage and would be told again when it goes.
  const auto behind = fault_of_write(4000, true);
  ASSERT_TRUE(behind.has_value());
  figure("%s", behind->message.c_str());
  EXPECT_EQ(behind->kind, FaultKind::out_of_bounds);
  EXPECT_EQ(behind->message, "wrote at byte 4000 of a tensor of 4000 bytes");
  const auto end = fault_of_write(4095, true);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->message, "wrote at byte 4095 of a tensor of 4000 bytes");
  const auto front = fault_of_write(-1, true);
  ASSERT_TRUE(front.has_value());
  EXPECT_EQ(front->message, "wrote 1 bytes in front of a tensor of 4000 bytes");
  EXPECT_FALSE(fault_of_write(0, true).has_value()) << "canaries are made anew";
}

TEST_F(MemoryTest, ProtectedBlocksCanBeUsedAgainAfterwards) {
  card()->backend().poison_allocations(0xff);
  {
    const at::Tensor kept = at::ones({100}, cuda_empty({0}, at::kFloat).options());
    card()->backend().protect({kept});
    EXPECT_EQ(kept.sum().item<float>(), 100.0f);
  }
  card()->backend().protect({});
  EXPECT_FALSE(card()->backend().check_guards().has_value());
  const at::Tensor next = cuda_empty({100}, at::kFloat);
  next.fill_(2);
  EXPECT_EQ(next.sum().item<float>(), 200.0f);
}

TEST_F(MemoryTest, WhatDoesNotFitIsOutOfMemoryAndNothingIsLost) {
  EXPECT_THROW(cuda_empty({std::int64_t{1} << 42}, at::kByte), c10::OutOfMemoryError);
  for (const bool guarded : {false, true}) {
    if (guarded) {
      card()->backend().poison_allocations(0xff);
    } else {
      card()->backend().reuse_allocations();
    }
    std::vector<at::Tensor> tensors;
    std::string words;
    try {
      for (int i = 0; i < 1000; ++i) {
        tensors.push_back(cuda_empty({std::int64_t{8} << 30}, at::kByte));
      }
    } catch (const c10::OutOfMemoryError& error) {
      words = error.what_without_backtrace();
    }
    figure("%s: %zu blocks of 8 GiB, then '%s'", guarded ? "guarded" : "reused", tensors.size(),
           words.c_str());
    EXPECT_NE(words.find("CUDA out of memory"), std::string::npos);
    EXPECT_GT(tensors.size(), 0u);
    tensors.clear();
    // Freed blocks of the other kind are given back when memory is short.
    EXPECT_NO_THROW(cuda_empty({std::int64_t{4} << 30}, at::kByte));
  }
  EXPECT_FALSE(card()->backend().check_guards().has_value());
  card()->backend().reuse_allocations();
  EXPECT_NO_THROW(cuda_empty({std::int64_t{8} << 30}, at::kByte));
}

TEST_F(MemoryTest, ReuseGivesTheSameBlockBack) {
  void* first = cuda_empty({1 << 20}, at::kFloat).data_ptr();
  void* second = cuda_empty({1 << 20}, at::kFloat).data_ptr();
  EXPECT_EQ(first, second);
}

TEST_F(MemoryTest, TorchOperatorsRunOnBothKindsOfMemory) {
  const auto options = at::TensorOptions().dtype(at::kFloat);
  const at::Tensor image = at::randn({8, 16, 32, 32}, options);
  const at::Tensor filter = at::randn({24, 16, 3, 3}, options);
  const at::Tensor left = at::randn({256, 512}, options);
  const at::Tensor right = at::randn({512, 128}, options);
  const at::Device device = card()->backend().device();
  for (const bool guarded : {true, false, false}) {
    if (guarded) {
      card()->backend().poison_allocations(0xff);
    } else {
      card()->backend().reuse_allocations();
    }
    const auto start = std::chrono::steady_clock::now();
    const at::Tensor convolved =
        at::conv2d(image.to(device), filter.to(device), {}, 1, 1).cpu();
    const auto middle = std::chrono::steady_clock::now();
    const at::Tensor product = at::mm(left.to(device), right.to(device)).cpu();
    const auto end = std::chrono::steady_clock::now();
    using Milliseconds = std::chrono::duration<double, std::milli>;
    figure("%s: conv2d %.1f ms, mm %.1f ms (first calls load libraries)",
           guarded ? "guarded" : "reused", Milliseconds(middle - start).count(),
           Milliseconds(end - middle).count());
    EXPECT_TRUE(at::allclose(convolved, at::conv2d(image, filter, {}, 1, 1), 1e-2, 1e-2));
    EXPECT_TRUE(at::allclose(product, at::mm(left, right), 1e-3, 1e-3));
  }
  const auto fault = card()->backend().check_guards();
  EXPECT_FALSE(fault.has_value()) << fault->message;
}

}  // namespace
}  // namespace kagent::test
