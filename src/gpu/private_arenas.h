// SPDX-License-Identifier: Apache-2.0
// Memory that kernels could write to and must not, beside what it ought to hold: in diagnostic runs a
// kernel that writes to an input is caught by comparing, instead of crashing the card.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <kagent/evaluation.h>
#include <kagent/result.h>

#include "gpu/device_range.h"
#include "gpu/instruments.h"

namespace kagent::gpu {

class PrivateArenas {
 public:
  PrivateArenas(const Driver& driver, const Instruments& instruments, CUstream stream)
      : driver_(driver), instruments_(instruments), stream_(stream) {}

  /// A writable copy of a shared arena; kernels are given the copy. original stays mapped.
  Result<void> add_copy(CUdeviceptr original, DeviceRange copy);
  /// Watches a live block of [address, address + bytes) by keeping what it holds now.
  Result<void> add_snapshot(CUdevice device, CUdeviceptr address, std::int64_t bytes);
  /// The blocks watched by add_snapshot() may go away.
  void forget_snapshots();

  /// Makes all watched memory equal to what it ought to hold.
  Result<void> refresh();

  /// Fault input_modified where it differs; repairs it, so that the next kernel starts clean.
  std::optional<Fault> find_change();

 private:
  struct Pair {
    CUdeviceptr truth;
    CUdeviceptr watched;
    std::int64_t bytes;    // a multiple of 16
    DeviceRange owned;     // one of the two
    bool snapshot;
  };

  Result<void> copy(CUdeviceptr to, CUdeviceptr from, std::int64_t bytes) const;

  const Driver& driver_;
  const Instruments& instruments_;
  CUstream stream_;
  std::vector<Pair> pairs_;
};

}  // namespace kagent::gpu
