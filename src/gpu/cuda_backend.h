// SPDX-License-Identifier: Apache-2.0
// plan::Backend on a card. Torch's allocator for CUDA is replaced by our own (pitfall 13), the
// candidate's images are loaded through the driver, and launches go to torch's current stream.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kagent/evaluation.h>
#include <kagent/result.h>

#include "plan/backend.h"
#include "sys/fd.h"

namespace kagent::gpu {

struct CudaBackendOptions {
  int device_index = 0;
  /// A synchronise after every launch; canaries and private arena copies are checked there, so
  /// that a Fault names the kernel (docs/protocol.md, `diagnostic`).
  bool diagnostic = false;
  /// The runner alone under compute-sanitizer, ncu or cuda-gdb (pitfall 16): every tensor is one
  /// exact allocation, and there is no timeline.
  bool audit = false;
  /// Subscribes to CUPTI before CUDA starts, which time() needs.
  bool timeline = true;
};

class CudaBackend : public plan::Backend {
 public:
  /// The first call in the process that touches CUDA; at most once per process, and torch's current
  /// stream must stay the default one. instruments: cubin of share/kagent/device/instruments.cu for this card (copied, may be closed after); unused
  /// in audit runs.
  static Result<std::unique_ptr<CudaBackend>> create(const sys::Fd& instruments,
                                                     const CudaBackendOptions& options);

  /// The `time` request: `samples` measured calls on torch's current stream. before() runs ahead
  /// of each one outside the window. own_us counts the kernels that load() found.
  /// Set reuse_allocations() first. notes: what was out of the ordinary. An Error may also mean
  /// that a kernel crashed: ask synchronize().
  virtual Result<std::vector<Sample>> time(int samples, const std::function<void()>& before,
                                           const std::function<void()>& call,
                                           std::vector<std::string>& notes) = 0;
};

}  // namespace kagent::gpu
