// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kagent::test {

/// Kernels of these tests, without any header.
inline constexpr const char* kTestKernels = R"cuda(
using u32 = unsigned int;
using u64 = unsigned long long;

__device__ u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

extern "C" __global__ void empty() {}

extern "C" __global__ void spin(u64 ns) {
  const u64 start = nanoseconds();
  while (nanoseconds() - start < ns) {
  }
}

extern "C" __global__ void copy16(const uint4* from, uint4* to, u64 count) {
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += u64(gridDim.x) * blockDim.x)
    to[i] = from[i];
}

extern "C" __global__ void read16(const uint4* from, u64 count, u32* sink) {
  u32 sum = 0;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += u64(gridDim.x) * blockDim.x) {
    const uint4 v = from[i];
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 0x12345679u) *sink = sum;
}

extern "C" __global__ void write_at(unsigned char* base, long long offset, int value) {
  base[offset] = static_cast<unsigned char>(value);
}

extern "C" __global__ void stop() { asm volatile("trap;"); }

extern "C" __global__ void grid_barrier(u32* counter, u32* seen) {
  if (threadIdx.x != 0) return;
  atomicAdd(counter, 1u);
  while (*static_cast<volatile u32*>(counter) < gridDim.x) {
  }
  seen[blockIdx.x] = *static_cast<volatile u32*>(counter);
}

extern "C" __global__ void read_shared(u32* out, u32 words) {
  extern __shared__ u32 memory[];
  u32 all = 0xffffffffu, any = 0;
  for (u32 i = threadIdx.x; i < words; i += blockDim.x) {
    const u32 word = static_cast<volatile u32*>(memory)[i];
    all &= word;
    any |= word;
  }
  atomicAnd(&out[0], all);
  atomicOr(&out[1], any);
}

extern "C" __global__ void cluster_size(u32* out) {
#if __CUDA_ARCH__ >= 900
  u32 size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  if (threadIdx.x == 0) out[blockIdx.x] = size;
#endif
}

extern "C" __global__ void after_previous(const u32* from, u32* to) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  *to = *from + 1;
}

extern "C" __global__ void set_late(u32* to, u32 value, u64 ns) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  const u64 start = nanoseconds();
  while (nanoseconds() - start < ns) {
  }
  *to = value;
}

struct alignas(64) Map { unsigned char bytes[128]; };

extern "C" __global__ void tma_read(const __grid_constant__ Map map, float* out, int x, int y) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(128) float tile[16 * 8];
  __shared__ alignas(8) u64 barrier;
  const u32 tile_at = static_cast<u32>(__cvta_generic_to_shared(tile));
  const u32 barrier_at = static_cast<u32>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier_at) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier_at), "r"(512)
                 : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(tile_at),
        "l"(&map), "r"(x), "r"(y), "r"(barrier_at)
        : "memory");
  }
  u32 done = 0;
  while (!done) {
    asm volatile(
        "{\n.reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(barrier_at)
        : "memory");
  }
  out[threadIdx.x] = tile[threadIdx.x];
#endif
}
)cuda";

inline constexpr const char* kTestEntries[] = {
    "empty",       "spin",         "copy16",         "read16",   "write_at", "stop",
    "grid_barrier", "read_shared", "cluster_size", "after_previous", "set_late", "tma_read"};

}  // namespace kagent::test
