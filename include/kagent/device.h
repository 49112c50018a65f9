// SPDX-License-Identifier: Apache-2.0
// What a card (or this CPU) is: read once by the reference, shown to candidates, stored in records.
#pragma once

#include <cstdint>
#include <string>

namespace kagent {

struct DeviceRecord {
  std::string name;            // "NVIDIA H200", or the CPU's model name
  std::string uuid;            // "GPU-…"; "cpu" on the CPU backend
  std::string architecture;    // "sm_90a"; "native" on the CPU backend
  std::string driver;          // driver version, empty on the CPU backend
  int capability_major = 0;
  int capability_minor = 0;
  int multiprocessors = 0;     // SMs, or usable cores
  int max_threads_per_block = 0;
  int max_threads_per_multiprocessor = 0;
  int registers_per_multiprocessor = 0;
  int warp_size = 0;
  std::int64_t shared_bytes_per_block = 0;   // opt-in maximum
  std::int64_t shared_bytes_per_multiprocessor = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;

  bool operator==(const DeviceRecord&) const = default;
};

}  // namespace kagent
