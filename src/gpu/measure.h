// SPDX-License-Identifier: Apache-2.0
// Measured calls on a card: gate, cold L2, CUPTI timeline (design §6, research: timing.md §5).
// Used the same way by the runner (a plan) and the reference (eager, torch.compile).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kagent/evaluation.h>
#include <kagent/result.h>

#include "gpu/timeline.h"
#include "sys/fd.h"

namespace kagent::gpu {

/// Times one callable; make one Meter for each arm. What it learns about the arm stays: an arm
/// that synchronises inside, or that queues more launches than a gate can hold, is measured without
/// a gate from then on. All Meters of a process share the memory for flushing L2.
class Meter {
 public:
  /// instruments: cubin of share/kagent/device/instruments.cu; read now, may be closed after.
  /// start_timeline() came first, the CUDA context is current on this thread.
  /// stream: CUstream on which `call` works (torch's current stream).
  static Result<std::unique_ptr<Meter>> create(const sys::Fd& instruments, void* stream);
  virtual ~Meter() = default;

  /// `samples` measured calls. before() runs ahead of each one, outside the measured window
  /// (rotates inputs, clears outputs). own_kernels: symbols whose time is counted as own_us.
  /// notes receives what was out of the ordinary ("syncs inside: measured ungated").
  /// Unmeasured calls come first: three at the first measure(), one later. Exceptions of before()
  /// and call() pass through. An Error may also mean that the call crashed the card: ask the
  /// backend's synchronize().
  virtual Result<std::vector<Sample>> measure(int samples, const std::function<void()>& before,
                                              const std::function<void()>& call,
                                              const std::vector<std::string>& own_kernels,
                                              std::vector<std::string>& notes) = 0;
};

}  // namespace kagent::gpu
