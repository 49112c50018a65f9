// SPDX-License-Identifier: Apache-2.0
// Who owns which block when, on a card of host memory.
#include "gpu/block_pool.h"

#include <cstring>
#include <string>
#include <vector>

#include "gpu_fake_card.h"
#include "sys/files.h"

#include <gtest/gtest.h>

namespace kagent::gpu {
namespace {

constexpr std::int64_t kMebi = 1 << 20;
constexpr std::uint32_t kCanary = 0xc0ffee11;

class BlockPoolTest : public testing::Test {
 protected:
  void SetUp() override {
    test::reset_fake_card(64 * kMebi);
    auto file = sys::sealed_memory_file("image", "\177ELF" + std::string(100, 'x'));
    ASSERT_TRUE(file) << file.error().message;
    auto loaded = Instruments::load(test::fake_driver(), *file);
    ASSERT_TRUE(loaded) << loaded.error().message;
    instruments_ = *std::move(loaded);
    pool_ = std::make_unique<BlockPool>(test::fake_driver(), 0, instruments_, kCanary, nullptr);
    base_ = test::fake_card().used;
  }

  CUdeviceptr allocate(std::int64_t bytes) {
    const auto block = pool_->allocate(bytes);
    EXPECT_TRUE(block) << (block ? "" : block.error().message);
    EXPECT_TRUE(block->has_value()) << "out of memory";
    return block->value_or(0);
  }
  std::optional<GuardViolation> violation() {
    auto found = pool_->check_guards();
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    return *found;
  }
  static unsigned char* bytes_at(CUdeviceptr address) {
    return reinterpret_cast<unsigned char*>(address);
  }

  Instruments instruments_;
  std::unique_ptr<BlockPool> pool_;
  std::int64_t base_ = 0;   // bytes of the card in use before any block
};

TEST_F(BlockPoolTest, GuardedBlocksArePoisonedAlignedAndEndAtTheGap) {
  pool_->set_mode(BlockPool::Mode::guarded, 0xab);
  for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{256}, std::int64_t{1000},
                                   2 * kMebi, 2 * kMebi + 1}) {
    const CUdeviceptr address = allocate(bytes);
    EXPECT_EQ(address % 256, 0u);
    const CUdeviceptr end = address + static_cast<CUdeviceptr>((bytes + 255) / 256 * 256);
    EXPECT_EQ(end % static_cast<CUdeviceptr>(2 * kMebi), 0u) << "the mapping ends where the block does";
    for (std::int64_t i = 0; i < bytes; ++i) ASSERT_EQ(bytes_at(address)[i], 0xab) << i;
    EXPECT_FALSE(violation().has_value()) << bytes;
    pool_->release(address);
  }
  EXPECT_EQ(pool_->live_bytes(), 0);
}

TEST_F(BlockPoolTest, AWriteBesideABlockIsFoundWithItsOffset) {
  pool_->set_mode(BlockPool::Mode::guarded, 0);
  const CUdeviceptr address = allocate(1000);
  bytes_at(address)[1000] ^= 1;
  auto found = violation();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->offset, 1000);
  EXPECT_EQ(found->block_bytes, 1000);
  bytes_at(address)[1000] ^= 1;
  EXPECT_FALSE(violation().has_value());
  bytes_at(address)[-1] ^= 1;
  found = violation();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->offset, -1);
}

TEST_F(BlockPoolTest, FreedBlocksAreCheckedOnceAndComeBackWhole) {
  pool_->set_mode(BlockPool::Mode::guarded, 0);
  const CUdeviceptr address = allocate(1000);
  bytes_at(address)[1020] ^= 1;
  pool_->release(address);
  const CUdeviceptr other = allocate(1000);
  EXPECT_NE(other, address) << "not given out again before it was checked";
  ASSERT_TRUE(violation().has_value());
  EXPECT_FALSE(violation().has_value());
  const CUdeviceptr again = allocate(1000);
  EXPECT_EQ(again, address);
  EXPECT_FALSE(violation().has_value()) << "canaries are written anew";
}

TEST_F(BlockPoolTest, ReusedBlocksComeBackLastFreedFirst) {
  pool_->set_mode(BlockPool::Mode::reused, 0);
  const CUdeviceptr first = allocate(10000);
  const CUdeviceptr second = allocate(10000);
  bytes_at(second)[0] = 77;
  const std::int64_t used = test::fake_card().used;
  pool_->release(first);
  pool_->release(second);
  EXPECT_EQ(allocate(9900), second);
  EXPECT_EQ(bytes_at(second)[0], 77) << "left as it was";
  EXPECT_EQ(allocate(10000), first);
  EXPECT_EQ(test::fake_card().used, used);
  pool_->release(first);
  EXPECT_NE(allocate(1000), first) << "a far larger block is not wasted";
}

TEST_F(BlockPoolTest, NoBytesAreNoBlock) {
  EXPECT_EQ(allocate(0), 0u);
  pool_->release(0);
  EXPECT_EQ(test::fake_card().used, base_);
}

TEST_F(BlockPoolTest, ShortageGivesBackFreedBlocksOfEitherKindBeforeItFails) {
  std::vector<CUdeviceptr> blocks;
  pool_->set_mode(BlockPool::Mode::reused, 0);
  for (;;) {
    const auto block = pool_->allocate(10 * kMebi);
    ASSERT_TRUE(block);
    if (!block->has_value()) break;
    blocks.push_back(**block);
  }
  EXPECT_EQ(blocks.size(), 6u);
  for (const CUdeviceptr block : blocks) pool_->release(block);
  pool_->set_mode(BlockPool::Mode::guarded, 1);
  const std::int64_t odd = 50 * kMebi - 1000;   // leaves room for a canary in front
  const CUdeviceptr large = allocate(odd);
  bytes_at(large)[-1] ^= 1;
  pool_->release(large);
  pool_->set_mode(BlockPool::Mode::reused, 0);
  pool_->release(allocate(50 * kMebi));
  const auto found = violation();
  ASSERT_TRUE(found.has_value()) << "what was broken before memory ran short is told";
  EXPECT_EQ(found->block_bytes, odd);
}

TEST_F(BlockPoolTest, ABrokenCardIsNoShortage) {
  pool_->set_mode(BlockPool::Mode::guarded, 1);
  test::fake_card().state = CUDA_ERROR_ILLEGAL_ADDRESS;
  const auto block = pool_->allocate(1000);
  ASSERT_FALSE(block);
  EXPECT_NE(block.error().message.find("(700)"), std::string::npos);
}

TEST_F(BlockPoolTest, AbsurdSizesAreShortage) {
  for (const auto mode : {BlockPool::Mode::guarded, BlockPool::Mode::reused, BlockPool::Mode::exact}) {
    pool_->set_mode(mode, 1);
    const auto block = pool_->allocate(std::int64_t{1} << 62);
    ASSERT_TRUE(block);
    EXPECT_FALSE(block->has_value());
  }
}

TEST_F(BlockPoolTest, ProtectionEndsWithTheBlock) {
  pool_->set_mode(BlockPool::Mode::guarded, 1);
  const CUdeviceptr address = allocate(1000);
  EXPECT_TRUE(pool_->protect(address + 500));
  EXPECT_EQ(test::fake_card().protection, CU_MEM_ACCESS_FLAGS_PROT_READ);
  EXPECT_FALSE(pool_->protect(address + 1000)) << "behind the block";
  EXPECT_FALSE(pool_->protect(address - 1)) << "in front of it";
  pool_->release(address);
  EXPECT_EQ(test::fake_card().protection, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

TEST_F(BlockPoolTest, ExactBlocksAreExactAndGoBackAtOnce) {
  pool_->set_mode(BlockPool::Mode::exact, 0x5a);
  const CUdeviceptr address = allocate(1001);
  EXPECT_EQ(test::fake_card().used, base_ + 1001);
  EXPECT_EQ(bytes_at(address)[1000], 0x5a);
  pool_->release(address);
  EXPECT_EQ(test::fake_card().used, base_);
}

TEST_F(BlockPoolTest, NothingIsLeftInTheEnd) {
  for (const auto mode : {BlockPool::Mode::guarded, BlockPool::Mode::reused, BlockPool::Mode::exact}) {
    pool_->set_mode(mode, 1);
    for (int i = 0; i < 5; ++i) pool_->release(allocate(1000 * (i + 1)));
    allocate(100);
  }
  pool_.reset();
  EXPECT_EQ(test::fake_card().used, base_);
}

}  // namespace
}  // namespace kagent::gpu
