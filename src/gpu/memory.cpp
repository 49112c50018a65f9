// SPDX-License-Identifier: Apache-2.0
#include "gpu/memory.h"

#include <cstring>
#include <utility>

namespace kagent::gpu {

Result<DeviceBuffer> DeviceBuffer::allocate(const Driver& driver, std::int64_t bytes) {
  DeviceBuffer buffer;
  KAGENT_TRY_VOID(driver.check(
      driver.cuMemAlloc(&buffer.address_, static_cast<std::size_t>(bytes)), "cuMemAlloc"));
  buffer.driver_ = &driver;
  buffer.bytes_ = bytes;
  return buffer;
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : driver_(std::exchange(other.driver_, nullptr)),
      address_(other.address_),
      bytes_(other.bytes_) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (driver_ != nullptr) driver_->cuMemFree(address_);
}

Result<MappedHostBuffer> MappedHostBuffer::allocate(const Driver& driver, std::int64_t bytes) {
  MappedHostBuffer buffer;
  KAGENT_TRY_VOID(driver.check(
      driver.cuMemHostAlloc(&buffer.host_, static_cast<std::size_t>(bytes),
                            CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE),
      "cuMemHostAlloc"));
  buffer.driver_ = &driver;
  std::memset(buffer.host_, 0, static_cast<std::size_t>(bytes));
  KAGENT_TRY_VOID(
      driver.check(driver.cuMemHostGetDevicePointer(&buffer.device_, buffer.host_, 0),
                   "cuMemHostGetDevicePointer"));
  return buffer;
}

MappedHostBuffer::MappedHostBuffer(MappedHostBuffer&& other) noexcept
    : driver_(std::exchange(other.driver_, nullptr)),
      host_(other.host_),
      device_(other.device_) {}

MappedHostBuffer& MappedHostBuffer::operator=(MappedHostBuffer&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(host_, other.host_);
  std::swap(device_, other.device_);
  return *this;
}

MappedHostBuffer::~MappedHostBuffer() {
  if (driver_ != nullptr) driver_->cuMemFreeHost(host_);
}

}  // namespace kagent::gpu
