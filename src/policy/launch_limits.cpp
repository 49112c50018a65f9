// SPDX-License-Identifier: Apache-2.0
#include "policy/launch_limits.h"

#include "wire/tensor_text.h"

#include <algorithm>
#include <cstdint>

namespace kagent::policy {
namespace {

constexpr std::int64_t kMaxBlockThreads = 1024;
constexpr std::int64_t kMaxBlockDepth = 64;     // z
constexpr std::int64_t kMaxGridHeight = 65535;  // y and z
constexpr std::int64_t kMaxClusterBlocks = 8;   // the portable size
constexpr std::int64_t kReservedSharedBytes =
    1024;                                    // that each resident block costs besides its own
constexpr std::int64_t kRegisterUnit = 256;  // a warp's registers come in units of this size
constexpr std::int64_t kMaxBlocksPerMultiprocessor = 32;
constexpr std::int64_t kWarpThreads = 32;
constexpr int kHopper = 9;  // compute capability with clusters and TMA
constexpr std::size_t kMaxMapRank = 5;
constexpr std::int64_t kMaxMapBox = 256;
constexpr std::int64_t kMaxMapElementStride = 8;

std::int64_t product(const std::array<std::int64_t, 3>& d) { return d[0] * d[1] * d[2]; }

/// Each factor is below 2^31, so three of them could overflow.
bool product_exceeds(const std::array<std::int64_t, 3>& d, std::int64_t limit) {
  return d[0] > limit || d[1] > limit || d[2] > limit || d[0] * d[1] > limit || product(d) > limit;
}

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::string cpu_limit(const LaunchStep& step) {
  if (step.block != std::array<std::int64_t, 3>{1, 1, 1}) {
    return "block is " + wire::dimensions_text(step.block) +
           ", and on the CPU backend a block is one thread: say k[grid, 1]";
  }
  if (step.shared_bytes != 0) return "there is no shared memory on the CPU backend";
  if (step.cluster || step.cooperative || step.programmatic) {
    return "clusters, cooperative and programmatic launches are not there on the CPU backend";
  }
  return {};
}

std::string block_limit(const LaunchStep& step, const DeviceRecord& device) {
  const std::int64_t known = device.max_threads_per_block;
  const std::int64_t most = known > 0 ? std::min(known, kMaxBlockThreads) : kMaxBlockThreads;
  if (product_exceeds(step.block, most)) {
    return "a block of " + wire::dimensions_text(step.block) + " threads; at most " +
           std::to_string(most) + " are possible";
  }
  if (step.block[2] > kMaxBlockDepth) {
    return "a block of " + wire::dimensions_text(step.block) +
           " threads; its third dimension is at most 64";
  }
  if (step.grid[1] > kMaxGridHeight || step.grid[2] > kMaxGridHeight) {
    return "a grid of " + wire::dimensions_text(step.grid) +
           " blocks; its second and third dimensions are at most 65535";
  }
  return {};
}

std::int64_t warps_per_block(const LaunchStep& step) {
  return rounded_up(product(step.block), kWarpThreads) / kWarpThreads;
}

std::int64_t registers_per_block(const LaunchStep& step, const KernelBuild& kernel) {
  return warps_per_block(step) * rounded_up(kernel.registers * kWarpThreads, kRegisterUnit);
}

std::string resource_limit(const LaunchStep& step, const KernelBuild& kernel,
                           const DeviceRecord& device) {
  const std::int64_t shared = step.shared_bytes + kernel.shared_bytes;
  if (device.shared_bytes_per_block > 0 && shared > device.shared_bytes_per_block) {
    return std::to_string(shared) + " bytes of shared memory (" +
           std::to_string(step.shared_bytes) + " dynamic, " + std::to_string(kernel.shared_bytes) +
           " static); this card gives a block " + std::to_string(device.shared_bytes_per_block);
  }
  if (device.registers_per_multiprocessor > 0 &&
      registers_per_block(step, kernel) > device.registers_per_multiprocessor) {
    return "a block of " + wire::dimensions_text(step.block) + " threads with " +
           std::to_string(kernel.registers) +
           " registers each is more than a multiprocessor has: use fewer threads or "
           "__launch_bounds__";
  }
  return {};
}

std::string cluster_limit(const LaunchStep& step, const DeviceRecord& device) {
  if (!step.cluster) return {};
  const auto& cluster = *step.cluster;
  if (device.capability_major > 0 && device.capability_major < kHopper) {
    return "clusters need compute capability 9.0";
  }
  if (product_exceeds(cluster, kMaxClusterBlocks)) {
    return "a cluster of " + wire::dimensions_text(cluster) + " blocks; at most 8 are possible";
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (step.grid[i] % cluster[i] != 0) {
      return "a grid of " + wire::dimensions_text(step.grid) +
             " blocks is no multiple of the cluster " + wire::dimensions_text(cluster);
    }
  }
  return {};
}

/// At most this many blocks are resident at once; 0: the record does not say. The driver's own
/// figure may be smaller still.
std::int64_t resident_blocks(const LaunchStep& step, const KernelBuild& kernel,
                             const DeviceRecord& device) {
  std::int64_t per_multiprocessor = kMaxBlocksPerMultiprocessor;
  if (device.max_threads_per_multiprocessor > 0) {
    per_multiprocessor = std::min(per_multiprocessor, device.max_threads_per_multiprocessor /
                                                          (warps_per_block(step) * kWarpThreads));
  }
  if (device.shared_bytes_per_multiprocessor > 0) {
    const std::int64_t shared = step.shared_bytes + kernel.shared_bytes + kReservedSharedBytes;
    per_multiprocessor =
        std::min(per_multiprocessor, device.shared_bytes_per_multiprocessor / shared);
  }
  const std::int64_t registers = registers_per_block(step, kernel);
  if (device.registers_per_multiprocessor > 0 && registers > 0) {
    per_multiprocessor =
        std::min(per_multiprocessor, device.registers_per_multiprocessor / registers);
  }
  return per_multiprocessor * device.multiprocessors;
}

std::string cooperative_limit(const LaunchStep& step, const KernelBuild& kernel,
                              const DeviceRecord& device) {
  if (!step.cooperative || device.multiprocessors == 0) return {};
  const std::int64_t resident = resident_blocks(step, kernel, device);
  if (!product_exceeds(step.grid, resident)) return {};
  return "a cooperative launch of " + wire::dimensions_text(step.grid) +
         " blocks; on this card at most " + std::to_string(resident) +
         " of them are resident at once, and all must be";
}

}  // namespace

std::string broken_limit(const LaunchStep& step, const KernelBuild& kernel, Backend backend,
                         const DeviceRecord& device) {
  if (backend == Backend::cpu) return cpu_limit(step);
  // In this order: what comes later multiplies figures that block_limit keeps small.
  if (std::string problem = block_limit(step, device); !problem.empty()) return problem;
  if (std::string problem = resource_limit(step, kernel, device); !problem.empty()) return problem;
  if (std::string problem = cluster_limit(step, device); !problem.empty()) return problem;
  if (step.programmatic && device.capability_major > 0 && device.capability_major < kHopper) {
    return "programmatic dependent launches need compute capability 9.0";
  }
  return cooperative_limit(step, kernel, device);
}

std::string broken_limit(const TensorMap& map, const TensorSpec& tensor, Backend backend,
                         const DeviceRecord& device) {
  if (backend == Backend::cpu) return "tensor maps are not there on the CPU backend";
  if (device.capability_major > 0 && device.capability_major < kHopper) {
    return "tensor maps need compute capability 9.0";
  }
  const std::size_t rank = tensor.shape.size();
  if (rank < 1 || rank > kMaxMapRank) {
    return "a tensor map over a tensor of rank " + std::to_string(rank) + "; 1 to 5 are possible";
  }
  if (map.box.size() != rank) {
    return "a tensor map whose box has " + std::to_string(map.box.size()) +
           " dimensions over a tensor that has " + std::to_string(rank);
  }
  for (std::size_t i = 0; i < rank; ++i) {
    if (map.box[i] > kMaxMapBox) return "a tensor map whose box is longer than 256 elements";
    if (map.element_strides[i] > kMaxMapElementStride) {
      return "a tensor map whose element strides are above 8";
    }
  }
  return {};
}

}  // namespace kagent::policy
