// SPDX-License-Identifier: Apache-2.0
// Our own kernels, share/kagent/device/instruments.cu, as typed calls. All are asynchronous on the
// stream given; the context must be current.
#pragma once

#include <cstdint>
#include <vector>

#include <kagent/result.h>

#include "gpu/driver.h"
#include "gpu/kernel_image.h"
#include "gpu/memory.h"
#include "sys/fd.h"

namespace kagent::gpu {

/// Device memory that must hold the canary word, byte by byte.
struct GuardRegion {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

class Instruments {
 public:
  /// cubin: instruments.cu built for this card.
  static Result<Instruments> load(const Driver& driver, const sys::Fd& cubin);

  Result<void> open(std::uint32_t ticket, CUstream stream) const;
  Result<void> end(std::uint32_t ticket, CUstream stream) const;
  /// control: two words that host and card share, see instruments.cu.
  Result<void> gate(CUdeviceptr control, std::uint32_t ticket, std::uint64_t limit_ns,
                    CUstream stream) const;
  /// Pushes everything out of L2 and leaves it clean. Each buffer at least twice as large as L2.
  Result<void> flush_l2(const DeviceBuffer& written, const DeviceBuffer& read,
                        std::uint32_t value, CUstream stream) const;
  /// Overwrites shared memory on all SMs with the word.
  Result<void> scrub_shared(std::uint32_t word, CUstream stream) const;

  /// Offset of the lowest wrong byte in each region, or all ones. Synchronises the stream.
  Result<std::vector<std::uint64_t>> check(const std::vector<GuardRegion>& regions,
                                           std::uint32_t canary, CUstream stream) const;
  /// Byte offset, rounded down to 16, of the first difference, or -1. bytes: a multiple of 16.
  /// Synchronises the stream.
  Result<std::int64_t> first_difference(CUdeviceptr left, CUdeviceptr right, std::int64_t bytes,
                                        CUstream stream) const;

 private:
  Result<void> start(CUfunction function, unsigned blocks, unsigned threads, unsigned shared_bytes,
                     CUstream stream, void** parameters, const char* what) const;

  Result<void> check_some(const GuardRegion* regions, std::size_t count, std::uint32_t canary,
                          CUstream stream, std::uint64_t* offenders) const;

  const Driver* driver_ = nullptr;
  KernelImage image_;
  DeviceBuffer sink_;   // 16 bytes that kernels may write to keep their loads
  DeviceBuffer check_table_;   // taken beforehand: checks must work on a full card
  unsigned multiprocessors_ = 0;
  unsigned shared_bytes_ = 0;
  CUfunction open_ = nullptr, end_ = nullptr, gate_ = nullptr;
  CUfunction flush_write_ = nullptr, flush_read_ = nullptr, scrub_shared_ = nullptr;
  CUfunction check_ = nullptr, compare_ = nullptr;
};

}  // namespace kagent::gpu
