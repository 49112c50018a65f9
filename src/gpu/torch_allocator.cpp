// SPDX-License-Identifier: Apache-2.0
#include "gpu/torch_allocator.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/cuda/CUDAPluggableAllocator.h>

namespace kagent::gpu {
namespace {

using c10::cuda::CUDACachingAllocator::AllocatorState;
using c10::cuda::CUDACachingAllocator::CheckpointDelta;
using c10::cuda::CUDACachingAllocator::CreateContextFn;
using c10::cuda::CUDACachingAllocator::CUDAAllocator;
using c10::cuda::CUDACachingAllocator::DeviceStats;
using c10::cuda::CUDACachingAllocator::OutOfMemoryObserver;
using c10::cuda::CUDACachingAllocator::RecordContext;
using c10::cuda::CUDACachingAllocator::ShareableHandle;
using c10::cuda::CUDACachingAllocator::SnapshotInfo;
using c10::cuda::CUDACachingAllocator::StreamSegmentSize;

[[noreturn]] void refuse(const char* what) {
  C10_THROW_ERROR(NotImplementedError, std::string("kagent's allocator has no ") + what);
}

/// What torch asks of an allocator beyond allocate and free is either meaningless here (statistics,
/// fractions) or never reached by a plan's operators (graph pools, IPC, snapshots): refused by name.
class PoolAllocator final : public CUDAAllocator {
 public:
  PoolAllocator(BlockPool& pool, int device_index);

  c10::DataPtr allocate(std::size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* target, const void* source, std::size_t bytes) const override;

  void* raw_alloc(std::size_t bytes) override;
  void* raw_alloc_with_stream(std::size_t bytes, cudaStream_t) override { return raw_alloc(bytes); }
  void raw_delete(void* address) override;
  void init(int) override { initialized_ = true; }
  bool initialized() override { return initialized_; }
  void emptyCache(c10::MempoolId_t) override;
  // Everything that a plan does is on one stream, and the pool's memory is bound to it.
  void recordStream(const c10::DataPtr&, c10::cuda::CUDAStream) override {}
  double getMemoryFraction(c10::DeviceIndex) override { return 1.0; }
  void setMemoryFraction(double, c10::DeviceIndex) override {}
  void enable(bool) override {}
  bool isEnabled() const override { return true; }
  void cacheInfo(c10::DeviceIndex device, std::size_t* largest_block) override;
  void* getBaseAllocation(void* address, std::size_t* bytes) override;
  cudaError_t memcpyAsync(void* target, int, const void* source, int, std::size_t bytes,
                          cudaStream_t stream, bool) override;
  DeviceStats getDeviceStats(c10::DeviceIndex) override { return {}; }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {}
  std::string name() override { return "kagent"; }
  void attachOutOfMemoryObserver(OutOfMemoryObserver) override {}
  void attachAllocatorTraceTracker(
      c10::cuda::CUDACachingAllocator::AllocatorTraceTracker) override {}
  std::vector<StreamSegmentSize> getExpandableSegmentSizes(c10::DeviceIndex) override { return {}; }
  void enablePeerAccess(c10::DeviceIndex, c10::DeviceIndex) override { refuse("peer access"); }
  SnapshotInfo snapshot(c10::MempoolId_t, bool) override { refuse("snapshots"); }
  void beginAllocateToPool(c10::DeviceIndex, c10::MempoolId_t,
                           std::function<bool(cudaStream_t)>) override {
    refuse("graph pools");
  }
  void endAllocateToPool(c10::DeviceIndex, c10::MempoolId_t) override { refuse("graph pools"); }
  void releasePool(c10::DeviceIndex, c10::MempoolId_t) override { refuse("graph pools"); }
  ShareableHandle shareIpcHandle(void*) override { refuse("IPC handles"); }
  std::shared_ptr<void> getIpcDevPtr(std::string) override { refuse("IPC handles"); }
  void recordHistory(bool, CreateContextFn, std::size_t, RecordContext, bool,
                     const std::vector<std::string>&) override {
    refuse("history");
  }
  std::shared_ptr<AllocatorState> getCheckpointState(c10::DeviceIndex, c10::MempoolId_t) override {
    refuse("checkpoints");
  }
  CheckpointDelta setCheckpointPoolState(c10::DeviceIndex,
                                         std::shared_ptr<AllocatorState>) override {
    refuse("checkpoints");
  }

 private:
  static void give_back(void* address);

  static PoolAllocator* instance_;
  std::mutex mutex_;
  BlockPool& pool_;
  c10::Device device_;
  bool initialized_ = false;
};

PoolAllocator* PoolAllocator::instance_ = nullptr;

PoolAllocator::PoolAllocator(BlockPool& pool, int device_index)
    : pool_(pool), device_(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device_index)) {
  KAGENT_CHECK(instance_ == nullptr);
  instance_ = this;
}

void PoolAllocator::give_back(void* address) { instance_->raw_delete(address); }

c10::DataPtr PoolAllocator::allocate(std::size_t bytes) {
  void* address = raw_alloc(bytes);
  return {address, address, &give_back, device_};
}

void* PoolAllocator::raw_alloc(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  constexpr std::size_t most = std::size_t{1} << 62;
  const auto block = pool_.allocate(static_cast<std::int64_t>(std::min(bytes, most)));
  if (!block) C10_THROW_ERROR(Error, block.error().message);
  if (!block->has_value()) {
    C10_THROW_ERROR(OutOfMemoryError,
                    "CUDA out of memory: " + std::to_string(bytes) + " bytes asked for, " +
                        std::to_string(pool_.live_bytes()) + " held by the plan's tensors");
  }
  return reinterpret_cast<void*>(**block);
}

void PoolAllocator::raw_delete(void* address) {
  const std::lock_guard lock(mutex_);
  pool_.release(reinterpret_cast<CUdeviceptr>(address));
}

void PoolAllocator::emptyCache(c10::MempoolId_t) {
  const std::lock_guard lock(mutex_);
  const auto done = pool_.trim();
  if (!done) C10_THROW_ERROR(Error, done.error().message);
}

/// cuDNN asks how large a workspace it may count on.
void PoolAllocator::cacheInfo(c10::DeviceIndex, std::size_t* largest_block) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  *largest_block = cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess ? free_bytes : 0;
}

void* PoolAllocator::getBaseAllocation(void* address, std::size_t* bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes != nullptr) {
    const auto block = pool_.block_of(reinterpret_cast<CUdeviceptr>(address));
    *bytes = block ? static_cast<std::size_t>(block->bytes) : 0;
  }
  return address;
}

cudaError_t PoolAllocator::memcpyAsync(void* target, int, const void* source, int,
                                       std::size_t bytes, cudaStream_t stream, bool) {
  return cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, stream);
}

void PoolAllocator::copy_data(void* target, const void* source, std::size_t bytes) const {
  const cudaError_t code = cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice,
                                           c10::cuda::getCurrentCUDAStream().stream());
  if (code != cudaSuccess) C10_THROW_ERROR(Error, cudaGetErrorString(code));
}

}  // namespace

Result<void> install_torch_allocator(BlockPool& pool, int device_index) {
  // Leaked: torch's own statics outlive every owner of ours, and free through it at exit.
  static auto* const allocator =
      new std::shared_ptr<CUDAAllocator>(std::make_shared<PoolAllocator>(pool, device_index));
  try {
    torch::cuda::CUDAPluggableAllocator::changeCurrentAllocator(*allocator);
    // Torch itself goes by the line above; this is for what asks c10 by device type.
    c10::SetAllocator(c10::DeviceType::CUDA, allocator->get());
  } catch (const c10::Error& error) {
    return Error{ErrorKind::internal, std::string("torch's allocator cannot be replaced: ") +
                                          error.what_without_backtrace()};
  }
  return {};
}

}  // namespace kagent::gpu
