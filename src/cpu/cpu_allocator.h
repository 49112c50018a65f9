// SPDX-License-Identifier: Apache-2.0
// LibTorch's allocator for CPU tensors in a runner. Guarded: every tensor in a GuardedBlock filled
// with a pattern. Otherwise it hands on to LibTorch's own, which is what eager PyTorch is timed
// with.
#pragma once

#include "cpu/guarded_block.h"

#include <c10/core/Allocator.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace kagent::cpu {

class CpuAllocator final : public c10::Allocator {
 public:
  /// The process's one; put in LibTorch's place at the first call and never destroyed, since
  /// tensors may outlive everything else.
  static CpuAllocator& install();

  /// New blocks from now on are guarded and filled. Forgets overruns seen so far.
  void guard(std::uint8_t pattern);
  void stop_guarding();

  /// A request beyond this is out of memory, before the machine's own killer wakes up.
  void set_limit(std::size_t bytes);

  /// The first overrun seen in any guarded block since guard(), freed ones included.
  std::optional<Overrun> check();

  /// Later writes to the block that holds `address` are a SIGSEGV. False where it is not guarded.
  bool make_read_only(const void* address);

  c10::DataPtr allocate(std::size_t bytes) override;
  /// oneDNN's scratch memory comes and goes by raw pointers.
  c10::DeleterFnPtr raw_deleter() const override { return &CpuAllocator::release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override;

 private:
  CpuAllocator() = default;
  static void release(void* address);
  void* allocate_guarded(std::size_t bytes);
  bool release_guarded(void* address);  // false: not one of the guarded blocks

  std::mutex mutex_;  // LibTorch also allocates inside its parallel regions
  std::unordered_map<void*, GuardedBlock> blocks_;
  std::optional<Overrun> overrun_;
  std::size_t guarded_bytes_ = 0;
  std::size_t limit_ = SIZE_MAX;
  std::uint8_t pattern_ = 0;
  bool guarding_ = false;
};

}  // namespace kagent::cpu
