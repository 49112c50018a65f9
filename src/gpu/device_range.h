// SPDX-License-Identifier: Apache-2.0
// Device memory by the CUDA virtual-memory API: a mapping between two unmapped guard gaps, which
// can be handed to another process as a descriptor and be mapped there read-only.
#pragma once

#include <cstdint>

#include <kagent/result.h>

#include "gpu/driver.h"
#include "sys/fd.h"

namespace kagent::gpu {

enum class Protection { read_only, read_write };
enum class Sharing { none, exportable };

/// Move-only owner of physical memory, address range and mapping. The caller synchronises before
/// it lets go of memory that a kernel may still use.
///
/// The `bytes` asked for, rounded up to 256, end at the guard gap behind: address() is a multiple
/// of 256, and both processes that map the same memory see the same address modulo granularity.
class DeviceRange {
 public:
  /// Own memory, readable and writable. The context of `device` must be current.
  /// Error text begins with cuMemCreate where the card is full.
  static Result<DeviceRange> allocate(const Driver& driver, CUdevice device, std::int64_t bytes,
                                      Sharing sharing);
  /// Memory of another process, from its share(). bytes as asked for there.
  static Result<DeviceRange> import(const Driver& driver, CUdevice device, const sys::Fd& memory,
                                    std::int64_t bytes, Protection protection);

  DeviceRange() = default;
  DeviceRange(DeviceRange&& other) noexcept { swap(other); }
  DeviceRange& operator=(DeviceRange&& other) noexcept;
  ~DeviceRange();

  /// A descriptor for another process; exportable ranges only.
  Result<sys::Fd> share() const;

  /// What kernels of this process may do with it from now on.
  Result<void> set_protection(Protection protection);

  CUdeviceptr address() const { return address_; }
  std::int64_t bytes() const { return bytes_; }
  /// The mapping as a whole: [mapped_begin, mapped_begin + mapped_bytes), whose end is the guard.
  CUdeviceptr mapped_begin() const { return mapped_begin_; }
  std::int64_t mapped_bytes() const { return mapped_bytes_; }

 private:
  Result<void> map(std::int64_t granularity, Protection protection);
  void swap(DeviceRange& other) noexcept;

  const Driver* driver_ = nullptr;
  CUdevice device_ = 0;
  CUmemGenericAllocationHandle memory_ = 0;
  bool has_memory_ = false;
  CUdeviceptr reserved_ = 0;
  std::int64_t reserved_bytes_ = 0;
  CUdeviceptr mapped_begin_ = 0;
  std::int64_t mapped_bytes_ = 0;
  bool is_mapped_ = false;
  CUdeviceptr address_ = 0;
  std::int64_t bytes_ = 0;
};

/// Least size of a mapping on this card, 2 MiB on all cards seen.
Result<std::int64_t> mapping_granularity(const Driver& driver, CUdevice device);

}  // namespace kagent::gpu
