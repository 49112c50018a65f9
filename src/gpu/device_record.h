// SPDX-License-Identifier: Apache-2.0
// What a card is, read through the driver; needs no context.
#pragma once

#include <kagent/device.h>
#include <kagent/result.h>

namespace kagent::gpu {

Result<DeviceRecord> read_device(int device_index);

/// What must be known before a card is trusted with hostile kernels or shared by processes.
struct DeviceTraits {
  /// Kernels can reach ordinary host memory (HMM), so also the runner's stack (pitfall 12).
  bool pageable_memory_access = false;
  /// Only one process may hold a context: reference and runner cannot work side by side (pitfall 18).
  bool exclusive_process = false;
  /// Contexts are forbidden altogether.
  bool prohibited = false;
  /// Memory can be shared between processes as file descriptors.
  bool shareable_memory = false;
};
Result<DeviceTraits> read_traits(int device_index);

}  // namespace kagent::gpu
