// SPDX-License-Identifier: Apache-2.0
#include "gpu/measure.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <unordered_set>

#include "gpu/instruments.h"

namespace kagent::gpu {
namespace {

constexpr int kFirstWarmUps = 3;
constexpr int kMaxGatedLaunches = 800;   // the launch queue holds about 1024 (pitfall 29)
constexpr std::uint64_t kGateLimitNs = 1'000'000'000;
constexpr int kCollectAttempts = 50;     // a millisecond apart
constexpr const char* kSyncNote = "syncs inside: measured ungated";
constexpr const char* kManyNote = "more than 800 launches: measured ungated";

/// Two buffers of twice L2 each, shared by the Meters of a process.
struct FlushBuffers {
  DeviceBuffer written;
  DeviceBuffer read;
};

Result<std::shared_ptr<FlushBuffers>> flush_buffers(const Driver& driver) {
  static std::weak_ptr<FlushBuffers> shared;   // measured on one thread
  if (auto buffers = shared.lock()) return buffers;
  CUdevice device = 0;
  int l2_bytes = 0;
  KAGENT_TRY_VOID(driver.check(driver.cuCtxGetDevice(&device), "cuCtxGetDevice"));
  KAGENT_TRY_VOID(driver.check(
      driver.cuDeviceGetAttribute(&l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device),
      "cuDeviceGetAttribute"));
  const std::int64_t bytes = std::max<std::int64_t>(2LL * l2_bytes, 1 << 20) / 16 * 16;
  auto buffers = std::make_shared<FlushBuffers>();
  KAGENT_TRY(buffers->written, DeviceBuffer::allocate(driver, bytes));
  KAGENT_TRY(buffers->read, DeviceBuffer::allocate(driver, bytes));
  KAGENT_TRY_VOID(driver.check(driver.cuMemsetD8(buffers->read.address(), 0x5a,
                                                 static_cast<std::size_t>(bytes)),
                               "cuMemsetD8"));
  shared = buffers;
  return buffers;
}

/// The words that host and card share: [0] last ticket let go, [1] last ticket that timed out.
class GateControl {
 public:
  static Result<GateControl> create(const Driver& driver) {
    GateControl control;
    KAGENT_TRY(control.memory_, MappedHostBuffer::allocate(driver, 64));
    return control;
  }
  CUdeviceptr device() const { return memory_.device(); }
  void release(std::uint32_t ticket) const {
    std::atomic_ref<std::uint32_t>(words()[0]).store(ticket, std::memory_order_seq_cst);
  }
  bool timed_out(std::uint32_t ticket) const {
    return std::atomic_ref<std::uint32_t>(words()[1]).load() == ticket;
  }

 private:
  std::uint32_t* words() const { return static_cast<std::uint32_t*>(memory_.host()); }
  MappedHostBuffer memory_;
};

/// Lets the stream go at the end of its life, also when call() throws.
class GateHold {
 public:
  GateHold(const GateControl& control, std::uint32_t ticket) : control_(control), ticket_(ticket) {}
  GateHold(const GateHold&) = delete;
  GateHold& operator=(const GateHold&) = delete;
  ~GateHold() { control_.release(ticket_); }

 private:
  const GateControl& control_;
  std::uint32_t ticket_;
};

class CudaMeter : public Meter {
 public:
  CudaMeter(const Driver& driver, Instruments instruments, GateControl control,
            std::shared_ptr<FlushBuffers> buffers, CUstream stream)
      : driver_(driver),
        instruments_(std::move(instruments)),
        control_(std::move(control)),
        buffers_(std::move(buffers)),
        stream_(stream) {}

  Result<std::vector<Sample>> measure(int samples, const std::function<void()>& before,
                                      const std::function<void()>& call,
                                      const std::vector<std::string>& own_kernels,
                                      std::vector<std::string>& notes) override {
    if (samples <= 0) return std::vector<Sample>{};
    const std::unordered_set<std::string_view> own(own_kernels.begin(), own_kernels.end());
    KAGENT_TRY_VOID(warm_up(before, call, own));
    KAGENT_TRY(Block block, run_block(samples, ungated_because_ == nullptr, before, call, own));
    if (block.timed_out) {
      ungated_because_ = kSyncNote;
      KAGENT_TRY(block, run_block(samples, false, before, call, own));
    }
    if (ungated_because_ != nullptr) notes.emplace_back(ungated_because_);
    if (block.windows.early > 0 && ungated_because_ == nullptr) {
      notes.emplace_back("work on another stream began before the gate opened");
    }
    if (block.windows.late > 0) {
      notes.emplace_back("work on another stream ended after the call's own stream");
    }
    return std::move(block.windows.samples);
  }

 private:
  struct Block {
    Windows windows;
    bool timed_out = false;
  };

  Result<void> synchronize() const {
    return driver_.check(driver_.cuCtxSynchronize(), "measured call");
  }

  /// Lazy loading and first allocations synchronise, so the first calls have no gate.
  Result<void> warm_up(const std::function<void()>& before, const std::function<void()>& call,
                       const std::unordered_set<std::string_view>& own) {
    if (warmed_) {
      before();
      call();
      return synchronize();
    }
    KAGENT_TRY(const Block block, run_block(kFirstWarmUps, false, before, call, own));
    if (block.windows.samples.back().launches > kMaxGatedLaunches) ungated_because_ = kManyNote;
    warmed_ = true;
    return {};
  }

  Result<Block> run_block(int samples, bool gated, const std::function<void()>& before,
                          const std::function<void()>& call,
                          const std::unordered_set<std::string_view>& own) {
    // What was recorded before is nobody's; a block that broke off may have left markers.
    KAGENT_TRY_VOID(synchronize());
    KAGENT_TRY([[maybe_unused]] const std::vector<Activity> earlier, collect_timeline());
    const std::uint32_t first = next_ticket_;
    next_ticket_ += static_cast<std::uint32_t>(samples) + 1;
    Block block;
    for (int i = 0; i < samples && !block.timed_out; ++i) {
      const std::uint32_t ticket = first + static_cast<std::uint32_t>(i);
      KAGENT_TRY_VOID(run_sample(ticket, gated, before, call));
      block.timed_out = gated && control_.timed_out(ticket);
    }
    if (block.timed_out) return block;   // nothing of it is used
    KAGENT_TRY_VOID(instruments_.open(first + static_cast<std::uint32_t>(samples), stream_));
    KAGENT_TRY_VOID(synchronize());
    KAGENT_TRY(std::vector<Activity> activities, collect_block(samples));
    KAGENT_TRY(block.windows, split_windows(std::move(activities), first, samples, own));
    return block;
  }

  Result<void> run_sample(std::uint32_t ticket, bool gated, const std::function<void()>& before,
                          const std::function<void()>& call) {
    KAGENT_TRY_VOID(instruments_.open(ticket, stream_));
    before();
    KAGENT_TRY_VOID(driver_.check(driver_.cuCtxResetPersistingL2Cache(),
                                  "cuCtxResetPersistingL2Cache"));
    KAGENT_TRY_VOID(instruments_.flush_l2(buffers_->written, buffers_->read, ticket, stream_));
    {
      if (!gated) control_.release(ticket);
      const GateHold hold(control_, ticket);
      KAGENT_TRY_VOID(instruments_.gate(control_.device(), ticket, kGateLimitNs, stream_));
      call();
      KAGENT_TRY_VOID(instruments_.end(ticket, stream_));
    }
    return synchronize();
  }

  /// CUPTI hands finished records over from a thread of its own; wait for the last marker.
  Result<std::vector<Activity>> collect_block(int samples) const {
    std::vector<Activity> all;
    for (int attempt = 0; attempt < kCollectAttempts; ++attempt) {
      if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      KAGENT_TRY(const std::vector<Activity> some, collect_timeline());
      all.insert(all.end(), some.begin(), some.end());
      const auto markers = std::count_if(all.begin(), all.end(), [](const Activity& activity) {
        return role_of(activity.name) == Role::open_marker;
      });
      if (markers >= samples + 1) break;
    }
    return all;
  }

  const Driver& driver_;
  Instruments instruments_;
  GateControl control_;
  std::shared_ptr<FlushBuffers> buffers_;
  CUstream stream_;
  std::uint32_t next_ticket_ = 1;
  bool warmed_ = false;
  const char* ungated_because_ = nullptr;   // the note that says so
};

}  // namespace

Result<std::unique_ptr<Meter>> Meter::create(const sys::Fd& cubin, void* stream) {
  KAGENT_TRY(const Driver* driver, Driver::initialize());
  CUcontext context = nullptr;
  KAGENT_TRY_VOID(driver->check(driver->cuCtxGetCurrent(&context), "cuCtxGetCurrent"));
  if (context == nullptr) {
    return Error{ErrorKind::internal, "meter: no CUDA context is current on this thread"};
  }
  KAGENT_TRY(Instruments instruments, Instruments::load(*driver, cubin));
  KAGENT_TRY(GateControl control, GateControl::create(*driver));
  KAGENT_TRY(std::shared_ptr<FlushBuffers> buffers, flush_buffers(*driver));
  return std::unique_ptr<Meter>(std::make_unique<CudaMeter>(
      *driver, std::move(instruments), std::move(control), std::move(buffers),
      static_cast<CUstream>(stream)));
}

}  // namespace kagent::gpu
