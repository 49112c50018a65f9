// SPDX-License-Identifier: Apache-2.0
#include "gpu/device_range.h"

#include <utility>

#include "gpu/arena_layout.h"

namespace kagent::gpu {
namespace {

CUmemAllocationProp properties(CUdevice device, Sharing sharing) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = device;
  prop.requestedHandleTypes = sharing == Sharing::exportable
                                  ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                  : CU_MEM_HANDLE_TYPE_NONE;
  return prop;
}

}  // namespace

Result<std::int64_t> mapping_granularity(const Driver& driver, CUdevice device) {
  const CUmemAllocationProp prop = properties(device, Sharing::exportable);
  std::size_t granularity = 0;
  KAGENT_TRY_VOID(driver.check(driver.cuMemGetAllocationGranularity(
                                   &granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                               "cuMemGetAllocationGranularity"));
  return static_cast<std::int64_t>(granularity);
}

Result<DeviceRange> DeviceRange::allocate(const Driver& driver, CUdevice device,
                                          std::int64_t bytes, Sharing sharing) {
  KAGENT_CHECK(bytes >= 0);
  KAGENT_TRY(const std::int64_t granularity, mapping_granularity(driver, device));
  DeviceRange range;
  range.driver_ = &driver;
  range.device_ = device;
  range.bytes_ = bytes;
  range.mapped_bytes_ = round_up(bytes > 0 ? bytes : 1, granularity);
  const CUmemAllocationProp prop = properties(device, sharing);
  KAGENT_TRY_VOID(driver.check(
      driver.cuMemCreate(&range.memory_, static_cast<std::size_t>(range.mapped_bytes_), &prop, 0),
      "cuMemCreate"));
  range.has_memory_ = true;
  KAGENT_TRY_VOID(range.map(granularity, Protection::read_write));
  return range;
}

Result<DeviceRange> DeviceRange::import(const Driver& driver, CUdevice device,
                                        const sys::Fd& memory, std::int64_t bytes,
                                        Protection protection) {
  if (bytes < 0 || bytes > (std::int64_t{1} << 46)) {
    return Error{ErrorKind::internal, "shared arena of " + std::to_string(bytes) + " bytes"};
  }
  KAGENT_TRY(const std::int64_t granularity, mapping_granularity(driver, device));
  DeviceRange range;
  range.driver_ = &driver;
  range.device_ = device;
  range.bytes_ = bytes;
  range.mapped_bytes_ = round_up(bytes > 0 ? bytes : 1, granularity);
  void* handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(memory.get()));
  KAGENT_TRY_VOID(driver.check(driver.cuMemImportFromShareableHandle(
                                   &range.memory_, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                               "cuMemImportFromShareableHandle"));
  range.has_memory_ = true;
  KAGENT_TRY_VOID(range.map(granularity, protection));
  return range;
}

Result<void> DeviceRange::map(std::int64_t granularity, Protection protection) {
  const std::int64_t reserve = mapped_bytes_ + 2 * granularity;
  KAGENT_TRY_VOID(driver_->check(
      driver_->cuMemAddressReserve(&reserved_, static_cast<std::size_t>(reserve), 0, 0, 0),
      "cuMemAddressReserve"));
  reserved_bytes_ = reserve;
  mapped_begin_ = reserved_ + static_cast<CUdeviceptr>(granularity);
  const auto size = static_cast<std::size_t>(mapped_bytes_);
  KAGENT_TRY_VOID(driver_->check(driver_->cuMemMap(mapped_begin_, size, 0, memory_, 0), "cuMemMap"));
  is_mapped_ = true;
  KAGENT_TRY_VOID(set_protection(protection));
  address_ = mapped_begin_ +
             static_cast<CUdeviceptr>(mapped_bytes_ - round_up(bytes_, kTensorAlignment));
  return {};
}

Result<void> DeviceRange::set_protection(Protection protection) {
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device_;
  access.flags = protection == Protection::read_only ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                                     : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return driver_->check(driver_->cuMemSetAccess(mapped_begin_,
                                                static_cast<std::size_t>(mapped_bytes_), &access, 1),
                        "cuMemSetAccess");
}

Result<sys::Fd> DeviceRange::share() const {
  int fd = -1;
  KAGENT_TRY_VOID(driver_->check(driver_->cuMemExportToShareableHandle(
                                     &fd, memory_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                                 "cuMemExportToShareableHandle"));
  return sys::Fd(fd);
}

DeviceRange& DeviceRange::operator=(DeviceRange&& other) noexcept {
  swap(other);
  return *this;
}

DeviceRange::~DeviceRange() {
  if (driver_ == nullptr) return;
  if (is_mapped_) driver_->cuMemUnmap(mapped_begin_, static_cast<std::size_t>(mapped_bytes_));
  if (reserved_ != 0) driver_->cuMemAddressFree(reserved_, static_cast<std::size_t>(reserved_bytes_));
  if (has_memory_) driver_->cuMemRelease(memory_);
}

void DeviceRange::swap(DeviceRange& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(device_, other.device_);
  std::swap(memory_, other.memory_);
  std::swap(has_memory_, other.has_memory_);
  std::swap(reserved_, other.reserved_);
  std::swap(reserved_bytes_, other.reserved_bytes_);
  std::swap(mapped_begin_, other.mapped_begin_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(is_mapped_, other.is_mapped_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
}

}  // namespace kagent::gpu
