// SPDX-License-Identifier: Apache-2.0
#include "gpu/block_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gpu/arena_layout.h"

namespace kagent::gpu {
namespace {

constexpr std::int64_t kFrontGuard = 64 << 10;             // bytes checked before a block
constexpr std::int64_t kMaxQuarantine = std::int64_t{8} << 30;
constexpr std::int64_t kSmallStep = 512;                   // sizes of reused blocks, as torch rounds
constexpr std::int64_t kLargeStep = 2 << 20;
constexpr std::int64_t kSmallLimit = 1 << 20;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 46;  // beyond any card

std::int64_t reused_size(std::int64_t bytes) {
  return round_up(bytes, bytes <= kSmallLimit ? kSmallStep : kLargeStep);
}

/// Where a guarded block lies in its mapping: it ends at the gap, rounded up to 256 bytes.
struct GuardedPlace {
  CUdeviceptr address;
  CUdeviceptr front;           // first byte of the canary in front
  CUdeviceptr end;             // end of the mapping
};

GuardedPlace place_in(const DeviceRange& range, std::int64_t bytes) {
  GuardedPlace place{};
  place.end = range.mapped_begin() + static_cast<CUdeviceptr>(range.mapped_bytes());
  place.address = place.end - static_cast<CUdeviceptr>(round_up(bytes, kTensorAlignment));
  const auto room = static_cast<std::int64_t>(place.address - range.mapped_begin());
  place.front = place.address - static_cast<CUdeviceptr>(std::min(room, kFrontGuard));
  return place;
}

}  // namespace

BlockPool::BlockPool(const Driver& driver, CUdevice device, const Instruments& instruments,
                     std::uint32_t canary, CUstream stream)
    : driver_(driver),
      device_(device),
      instruments_(instruments),
      canary_(canary),
      stream_(stream) {}

void BlockPool::set_mode(Mode mode, std::uint8_t pattern) {
  mode_ = mode;
  pattern_ = pattern;
}

CUdeviceptr BlockPool::address_of(const Block& block) const {
  if (block.buffer.address() != 0) return block.buffer.address();
  return place_in(block.range, block.bytes).address;
}

Result<std::optional<CUdeviceptr>> BlockPool::allocate(std::int64_t bytes) {
  if (bytes <= 0) return std::optional<CUdeviceptr>(0);
  if (bytes > kMaxBytes) return std::optional<CUdeviceptr>();
  KAGENT_TRY(std::optional<Block> block, make(bytes));
  if (!block) return std::optional<CUdeviceptr>();
  const CUdeviceptr address = address_of(*block);
  if (block->range.mapped_bytes() > 0) KAGENT_TRY_VOID(write_guards(*block));
  if (mode_ != Mode::reused) KAGENT_TRY_VOID(fill(address, bytes, pattern_));
  live_bytes_ += bytes;
  live_.emplace(address, std::move(*block));
  return std::optional<CUdeviceptr>(address);
}

Result<std::optional<BlockPool::Block>> BlockPool::make(std::int64_t bytes) {
  const auto attempt = [&] {
    switch (mode_) {
      case Mode::guarded: return make_guarded(bytes);
      case Mode::reused: return make_reused(bytes);
      case Mode::exact: break;
    }
    return make_exact(bytes);
  };
  Result<Block> block = attempt();
  if (block) return std::optional<Block>(*std::move(block));
  // A card that still answers has merely run out of memory; trim() fails on one that crashed.
  KAGENT_TRY_VOID(trim());
  block = attempt();
  if (block) return std::optional<Block>(*std::move(block));
  return std::optional<Block>();
}

Result<BlockPool::Block> BlockPool::make_guarded(std::int64_t bytes) {
  Block block;
  block.bytes = bytes;
  KAGENT_TRY(const std::int64_t granularity, mapping_granularity(driver_, device_));
  const auto spare = spare_ranges_.find(round_up(bytes, granularity));
  if (spare != spare_ranges_.end() && !spare->second.empty()) {
    block.range = std::move(spare->second.back());
    spare->second.pop_back();
    return block;
  }
  KAGENT_TRY(block.range, DeviceRange::allocate(driver_, device_, bytes, Sharing::none));
  return block;
}

Result<BlockPool::Block> BlockPool::make_reused(std::int64_t bytes) {
  Block block;
  block.bytes = bytes;
  const std::int64_t size = reused_size(bytes);
  const std::int64_t most = size + size / 8;   // a larger block would waste more than it saves
  for (auto spare = spare_buffers_.lower_bound(size);
       spare != spare_buffers_.end() && spare->first <= most; ++spare) {
    if (spare->second.empty()) continue;
    block.buffer = std::move(spare->second.back());
    spare->second.pop_back();
    return block;
  }
  KAGENT_TRY(block.buffer, DeviceBuffer::allocate(driver_, size));
  return block;
}

Result<BlockPool::Block> BlockPool::make_exact(std::int64_t bytes) {
  Block block;
  block.bytes = bytes;
  KAGENT_TRY(block.buffer, DeviceBuffer::allocate(driver_, bytes));
  return block;
}

Result<void> BlockPool::write_guards(const Block& block) {
  const GuardedPlace place = place_in(block.range, block.bytes);
  const auto words = [&](CUdeviceptr begin, CUdeviceptr end) -> Result<void> {
    if (begin == end) return {};
    return driver_.check(driver_.cuMemsetD32Async(begin, canary_, (end - begin) / 4, stream_),
                         "cuMemsetD32Async");
  };
  KAGENT_TRY_VOID(words(place.front, place.address));
  // The last piece of 256 bytes whole; the tensor's part of it is filled after.
  const CUdeviceptr tail =
      place.address + static_cast<CUdeviceptr>(block.bytes / kTensorAlignment * kTensorAlignment);
  return words(tail, place.end);
}

Result<void> BlockPool::fill(CUdeviceptr address, std::int64_t bytes, std::uint8_t pattern) {
  return driver_.check(
      driver_.cuMemsetD8Async(address, pattern, static_cast<std::size_t>(bytes), stream_),
      "cuMemsetD8Async");
}

void BlockPool::release(CUdeviceptr address) {
  if (address == 0) return;
  const auto found = live_.find(address);
  KAGENT_CHECK(found != live_.end());
  Block block = std::move(found->second);
  live_.erase(found);
  live_bytes_ -= block.bytes;
  if (block.range.mapped_bytes() > 0) {
    // Where it stays read-only, the next owner's poison fails and says so.
    if (block.read_only) static_cast<void>(block.range.set_protection(Protection::read_write));
    block.read_only = false;
    quarantine_bytes_ += block.range.mapped_bytes();
    quarantine_.push_back(std::move(block));
    // A card that broke tells so at the next call that can.
    if (quarantine_bytes_ > kMaxQuarantine) static_cast<void>(empty_quarantine());
    return;
  }
  // An exact block goes back at once (cuMemFree waits for the card), so that a tool around us
  // sees every use after free.
  if (mode_ == Mode::exact) return;
  const std::int64_t size = block.buffer.bytes();
  spare_buffers_[size].push_back(std::move(block.buffer));
}

Result<std::optional<GuardViolation>> BlockPool::check_guards() {
  KAGENT_TRY_VOID(empty_quarantine());
  return std::exchange(violation_, std::nullopt);
}

/// Checks live and freed guarded blocks, then lets the freed ones be given out again.
Result<void> BlockPool::empty_quarantine() {
  std::vector<const Block*> blocks;
  for (const auto& [address, block] : live_) {
    if (block.range.mapped_bytes() > 0) blocks.push_back(&block);
  }
  for (const Block& block : quarantine_) blocks.push_back(&block);
  std::vector<GuardRegion> regions;   // two for each block: in front, behind
  for (const Block* block : blocks) {
    const GuardedPlace place = place_in(block->range, block->bytes);
    const CUdeviceptr behind = place.address + static_cast<CUdeviceptr>(block->bytes);
    regions.push_back({place.front, place.address - place.front});
    regions.push_back({behind, place.end - behind});
  }
  KAGENT_TRY(const std::vector<std::uint64_t> offenders,
             instruments_.check(regions, canary_, stream_));
  for (std::size_t i = 0; i < offenders.size() && !violation_; ++i) {
    if (offenders[i] == ~std::uint64_t{0}) continue;
    const Block& block = *blocks[i / 2];
    const CUdeviceptr where = regions[i].address + offenders[i];
    violation_ = GuardViolation{
        block.bytes, static_cast<std::int64_t>(where) - static_cast<std::int64_t>(address_of(block))};
  }
  // Blocks with a broken canary get a new one when they are given out again.
  for (Block& block : quarantine_) {
    spare_ranges_[block.range.mapped_bytes()].push_back(std::move(block.range));
  }
  quarantine_.clear();
  quarantine_bytes_ = 0;
  return {};
}

Result<void> BlockPool::trim() {
  KAGENT_TRY_VOID(driver_.check(driver_.cuCtxSynchronize(), "cuCtxSynchronize"));
  if (!quarantine_.empty()) KAGENT_TRY_VOID(empty_quarantine());
  spare_ranges_.clear();
  spare_buffers_.clear();
  return {};
}

std::map<CUdeviceptr, BlockPool::Block>::const_iterator BlockPool::find(
    CUdeviceptr address) const {
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return live_.end();
  const auto candidate = std::prev(after);
  const auto end = candidate->first + static_cast<CUdeviceptr>(candidate->second.bytes);
  return address < end ? candidate : live_.end();
}

std::optional<BlockPool::Extent> BlockPool::block_of(CUdeviceptr address) const {
  const auto found = find(address);
  if (found == live_.end()) return std::nullopt;
  return Extent{found->first, found->second.bytes};
}

bool BlockPool::protect(CUdeviceptr address) {
  const auto found = find(address);
  if (found == live_.end() || found->second.range.mapped_bytes() == 0) return false;
  Block& block = live_.at(found->first);
  if (!block.read_only) {
    block.read_only = static_cast<bool>(block.range.set_protection(Protection::read_only));
  }
  return block.read_only;
}

}  // namespace kagent::gpu
