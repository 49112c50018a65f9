// SPDX-License-Identifier: Apache-2.0
#include "gpu/device_faults.h"

#include <array>
#include <string>

namespace kagent::gpu {
namespace {

std::string triple(const std::array<std::int64_t, 3>& values) {
  return "(" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " +
         std::to_string(values[2]) + ")";
}

std::string hint_for(CUresult code) {
  switch (code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
      return "an index runs past a tensor's end, or the kernel writes to an input or weight; guard "
             "each access by its bound";
    case CUDA_ERROR_MISALIGNED_ADDRESS:
      return "a vector access needs an address that is a multiple of its size; check the offset "
             "before casting to float4 and the like";
    case CUDA_ERROR_ASSERT: return "an assert in the kernel failed";
    case CUDA_ERROR_LAUNCH_TIMEOUT: return "the kernel ran for too long";
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_LAUNCH_FAILED:
      return "look for wild pointers, deep recursion, barriers that not all threads reach, and "
             "asynchronous copies that outlive their block";
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
      return "the block needs more registers than an SM has: fewer threads, or __launch_bounds__";
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
      return "all blocks of a cooperative launch must fit on the card at once: a smaller grid";
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
      return "the grid must be a multiple of the cluster, and the cluster at most 8 blocks (16 on "
             "cards that allow it)";
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "make fewer or smaller temporary tensors, and reuse them where you can";
    default: return "";
  }
}

}  // namespace

bool is_crash(CUresult code) {
  switch (code) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_UNKNOWN: return true;
    default: return false;
  }
}

Fault launch_fault(const Driver& driver, CUresult code, const LaunchStep& step) {
  Fault fault;
  fault.hint = hint_for(code);
  if (is_crash(code)) {
    fault.kind = FaultKind::crash;
    fault.message = "could not start, an earlier kernel had crashed: " + driver.text(code);
    return fault;
  }
  fault.kind =
      code == CUDA_ERROR_OUT_OF_MEMORY ? FaultKind::out_of_memory : FaultKind::bad_launch;
  fault.message = "cannot be launched: " + driver.text(code) + "; grid " + triple(step.grid) +
                  ", block " + triple(step.block) + ", " + std::to_string(step.shared_bytes) +
                  " bytes of dynamic shared memory";
  if (step.cluster) fault.message += ", cluster " + triple(*step.cluster);
  if (step.cooperative) fault.message += ", cooperative";
  return fault;
}

Fault device_fault(const Driver& driver, CUresult code) {
  Fault fault;
  fault.kind = code == CUDA_ERROR_OUT_OF_MEMORY ? FaultKind::out_of_memory : FaultKind::crash;
  fault.message = "crashed: " + driver.text(code);
  fault.hint = hint_for(code);
  return fault;
}

Fault guard_fault(std::int64_t block_bytes, std::int64_t offset) {
  Fault fault;
  fault.kind = FaultKind::out_of_bounds;
  const std::string size = " a tensor of " + std::to_string(block_bytes) + " bytes";
  fault.message = offset < 0 ? "wrote " + std::to_string(-offset) + " bytes in front of" + size
                             : "wrote at byte " + std::to_string(offset) + " of" + size;
  fault.hint = "guard the last block's accesses: if (i < n)";
  return fault;
}

}  // namespace kagent::gpu
