// SPDX-License-Identifier: Apache-2.0
// Memory of all tensors in a runner, torch's temporaries included (pitfall 13). Verifying, every
// block is poisoned, lies between canaries and ends at an unmapped gap; timing, freed blocks are
// used again and left as they are; under audit tools, every tensor is one exact allocation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <kagent/result.h>

#include "gpu/device_range.h"
#include "gpu/instruments.h"
#include "gpu/memory.h"

namespace kagent::gpu {

/// A canary that was overwritten.
struct GuardViolation {
  std::int64_t block_bytes = 0;   // size of the tensor's block
  std::int64_t offset = 0;        // bytes from its first byte; negative: in front of it
};

/// Not thread-safe. The context is current wherever it is called. All work is put on `stream`, on
/// which everything that uses the memory runs too, so that a freed block may be given out again
/// while kernels are still queued.
class BlockPool {
 public:
  enum class Mode { guarded, reused, exact };

  BlockPool(const Driver& driver, CUdevice device, const Instruments& instruments,
            std::uint32_t canary, CUstream stream);
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// What later allocations are like. pattern: fills guarded and exact blocks.
  void set_mode(Mode mode, std::uint8_t pattern);

  /// A block whose address is a multiple of 256; 0 for no bytes. An Error where the card is broken,
  /// nothing where it has no memory left even after all freed blocks were given back.
  Result<std::optional<CUdeviceptr>> allocate(std::int64_t bytes);
  /// address: from allocate(), or 0.
  void release(CUdeviceptr address);

  /// Checks the canaries of all guarded blocks, those freed since the last check included.
  /// Synchronises. The first violation found, here or when memory was short before.
  Result<std::optional<GuardViolation>> check_guards();

  /// Gives freed blocks back to the card. Synchronises.
  Result<void> trim();

  /// The live block that holds an address.
  struct Extent {
    CUdeviceptr begin = 0;
    std::int64_t bytes = 0;
  };
  std::optional<Extent> block_of(CUdeviceptr address) const;

  /// Lets kernels only read the guarded block that holds the address, until it is released. False
  /// where there is no such block or the card will not do it.
  bool protect(CUdeviceptr address);

  std::int64_t live_bytes() const { return live_bytes_; }

 private:
  struct Block {
    std::int64_t bytes = 0;      // as asked for
    DeviceRange range;           // guarded
    DeviceBuffer buffer;         // reused (rounded up) and exact
    bool read_only = false;
  };

  Result<std::optional<Block>> make(std::int64_t bytes);
  Result<Block> make_guarded(std::int64_t bytes);
  Result<Block> make_reused(std::int64_t bytes);
  Result<Block> make_exact(std::int64_t bytes);
  CUdeviceptr address_of(const Block& block) const;
  std::map<CUdeviceptr, Block>::const_iterator find(CUdeviceptr address) const;
  Result<void> write_guards(const Block& block);
  Result<void> fill(CUdeviceptr address, std::int64_t bytes, std::uint8_t pattern);
  Result<void> empty_quarantine();

  const Driver& driver_;
  CUdevice device_;
  const Instruments& instruments_;
  std::uint32_t canary_;
  CUstream stream_;
  Mode mode_ = Mode::reused;
  std::uint8_t pattern_ = 0;

  std::map<CUdeviceptr, Block> live_;
  std::int64_t live_bytes_ = 0;
  std::vector<Block> quarantine_;   // guarded, freed, canaries not yet checked
  std::int64_t quarantine_bytes_ = 0;
  std::optional<GuardViolation> violation_;
  std::map<std::int64_t, std::vector<DeviceRange>> spare_ranges_;    // by mapped bytes
  std::map<std::int64_t, std::vector<DeviceBuffer>> spare_buffers_;  // by bytes; last freed first
};

}  // namespace kagent::gpu
