// SPDX-License-Identifier: Apache-2.0
// Device and pinned host memory with one owner each.
#pragma once

#include <cstdint>

#include <kagent/result.h>

#include "gpu/driver.h"

namespace kagent::gpu {

/// cuMemAlloc. Move-only.
class DeviceBuffer {
 public:
  static Result<DeviceBuffer> allocate(const Driver& driver, std::int64_t bytes);
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  CUdeviceptr address() const { return address_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  const Driver* driver_ = nullptr;
  CUdeviceptr address_ = 0;
  std::int64_t bytes_ = 0;
};

/// Pinned host memory that the card sees too. Zeroed. Move-only.
class MappedHostBuffer {
 public:
  static Result<MappedHostBuffer> allocate(const Driver& driver, std::int64_t bytes);
  MappedHostBuffer() = default;
  MappedHostBuffer(MappedHostBuffer&& other) noexcept;
  MappedHostBuffer& operator=(MappedHostBuffer&& other) noexcept;
  ~MappedHostBuffer();

  void* host() const { return host_; }
  CUdeviceptr device() const { return device_; }

 private:
  const Driver* driver_ = nullptr;
  void* host_ = nullptr;
  CUdeviceptr device_ = 0;
};

}  // namespace kagent::gpu
