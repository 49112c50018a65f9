// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_allocator.h"

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <utility>

namespace kagent::cpu {

CpuAllocator& CpuAllocator::install() {
  static CpuAllocator* const allocator = [] {
    auto* made = new CpuAllocator;
    c10::SetCPUAllocator(made, /*priority=*/100);
    return made;
  }();
  return *allocator;
}

void CpuAllocator::guard(std::uint8_t pattern) {
  const std::lock_guard lock(mutex_);
  pattern_ = pattern;
  guarding_ = true;
  overrun_.reset();
}

void CpuAllocator::stop_guarding() {
  const std::lock_guard lock(mutex_);
  guarding_ = false;
}

void CpuAllocator::set_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

c10::DataPtr CpuAllocator::allocate(std::size_t bytes) {
  bool guarded = false;
  bool fits = false;
  {
    const std::lock_guard lock(mutex_);
    guarded = guarding_;
    fits = bytes <= limit_ && guarded_bytes_ <= limit_ - bytes;
  }
  TORCH_CHECK_WITH(OutOfMemoryError, fits, bytes, " bytes for a tensor are more than the ", limit_,
                   " bytes that a candidate may use here");
  const c10::Device device(c10::DeviceType::CPU);
  if (bytes == 0) return {nullptr, nullptr, &CpuAllocator::release, device};
  void* address =
      guarded ? allocate_guarded(bytes) : c10::GetDefaultCPUAllocator()->raw_allocate(bytes);
  return {address, address, &CpuAllocator::release, device};
}

void* CpuAllocator::allocate_guarded(std::size_t bytes) {
  auto block = GuardedBlock::create(bytes, pattern_);
  TORCH_CHECK_WITH(OutOfMemoryError, bool(block), block ? "" : block.error().message);
  void* address = block->data();
  const std::lock_guard lock(mutex_);
  guarded_bytes_ += block->mapped_bytes();
  blocks_.emplace(address, *std::move(block));
  return address;
}

void CpuAllocator::release(void* address) {
  if (address == nullptr || install().release_guarded(address)) return;
  c10::GetDefaultCPUAllocator()->raw_deallocate(address);
}

bool CpuAllocator::release_guarded(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return false;
  if (!overrun_) overrun_ = found->second.check();
  guarded_bytes_ -= found->second.mapped_bytes();
  blocks_.erase(found);
  return true;
}

std::optional<Overrun> CpuAllocator::check() {
  const std::lock_guard lock(mutex_);
  for (const auto& [address, block] : blocks_) {
    if (overrun_) break;
    overrun_ = block.check();
  }
  return overrun_;
}

bool CpuAllocator::make_read_only(const void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(const_cast<void*>(address));  // only looked up
  if (found == blocks_.end()) return false;
  found->second.make_read_only();
  return true;
}

void CpuAllocator::copy_data(void* to, const void* from, std::size_t bytes) const {
  default_copy_data(to, from, bytes);
}

}  // namespace kagent::cpu
