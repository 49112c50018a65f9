// SPDX-License-Identifier: Apache-2.0
#include "gpu/device_record.h"

#include <array>
#include <cstdio>
#include <fstream>

#include "gpu/driver.h"

namespace kagent::gpu {
namespace {

Result<CUdevice> find_device(const Driver& driver, int device_index) {
  CUdevice device = 0;
  KAGENT_TRY_VOID(driver.check(driver.cuDeviceGet(&device, device_index),
                               ("GPU number " + std::to_string(device_index)).c_str()));
  return device;
}

Result<int> attribute(const Driver& driver, CUdevice device, CUdevice_attribute which) {
  int value = 0;
  KAGENT_TRY_VOID(driver.check(driver.cuDeviceGetAttribute(&value, which, device),
                               "cuDeviceGetAttribute"));
  return value;
}

std::string format_uuid(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    text += digits.data();
  }
  return text;
}

/// The kernel module's version, "580.159.03"; where a sandbox hides it, the CUDA version it serves.
std::string driver_version(const Driver& driver) {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  if (file >> version && !version.empty()) return version;
  int cuda = 0;
  if (driver.cuDriverGetVersion(&cuda) != CUDA_SUCCESS) return "unknown";
  return "for CUDA " + std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
}

/// Architecture-specific features (wgmma, tcgen05) exist only under the "a" names.
std::string architecture(int major, int minor) {
  return "sm_" + std::to_string(major) + std::to_string(minor) + (major >= 9 ? "a" : "");
}

}  // namespace

Result<DeviceRecord> read_device(int device_index) {
  KAGENT_TRY(const Driver* driver, Driver::initialize());
  KAGENT_TRY(const CUdevice device, find_device(*driver, device_index));
  DeviceRecord record;
  std::array<char, 256> name{};
  CUuuid uuid{};
  std::size_t memory = 0;
  KAGENT_TRY_VOID(driver->check(
      driver->cuDeviceGetName(name.data(), static_cast<int>(name.size()), device),
      "cuDeviceGetName"));
  KAGENT_TRY_VOID(driver->check(driver->cuDeviceGetUuid(&uuid, device), "cuDeviceGetUuid"));
  KAGENT_TRY_VOID(driver->check(driver->cuDeviceTotalMem(&memory, device), "cuDeviceTotalMem"));
  record.name = name.data();
  record.uuid = format_uuid(uuid);
  record.driver = driver_version(*driver);
  record.memory_bytes = static_cast<std::int64_t>(memory);
  const auto read = [&](auto& slot, CUdevice_attribute which) -> Result<void> {
    KAGENT_TRY(slot, attribute(*driver, device, which));
    return {};
  };
  KAGENT_TRY_VOID(read(record.capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  KAGENT_TRY_VOID(read(record.capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  KAGENT_TRY_VOID(read(record.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  KAGENT_TRY_VOID(read(record.max_threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  KAGENT_TRY_VOID(read(record.max_threads_per_multiprocessor,
                       CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR));
  KAGENT_TRY_VOID(read(record.registers_per_multiprocessor,
                       CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR));
  KAGENT_TRY_VOID(read(record.warp_size, CU_DEVICE_ATTRIBUTE_WARP_SIZE));
  KAGENT_TRY_VOID(read(record.shared_bytes_per_block,
                       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  KAGENT_TRY_VOID(read(record.shared_bytes_per_multiprocessor,
                       CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  KAGENT_TRY_VOID(read(record.l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  record.architecture = architecture(record.capability_major, record.capability_minor);
  return record;
}

Result<DeviceTraits> read_traits(int device_index) {
  KAGENT_TRY(const Driver* driver, Driver::initialize());
  KAGENT_TRY(const CUdevice device, find_device(*driver, device_index));
  KAGENT_TRY(const int pageable,
             attribute(*driver, device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS));
  KAGENT_TRY(const int mode, attribute(*driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE));
  KAGENT_TRY(const int shareable,
             attribute(*driver, device,
                       CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED));
  DeviceTraits traits;
  traits.pageable_memory_access = pageable != 0;
  traits.exclusive_process = mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
  traits.prohibited = mode == CU_COMPUTEMODE_PROHIBITED;
  traits.shareable_memory = shareable != 0;
  return traits;
}

}  // namespace kagent::gpu
