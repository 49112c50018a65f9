// SPDX-License-Identifier: Apache-2.0
// Our own device code: what stands around a measured or a verified call, never what is judged.
// Compiled by NVRTC without any header, once for each architecture. Images of candidates may not
// hold a kernel whose name begins with kagent_instrument_, since the clock knows these by name.

using u32 = unsigned int;
using u64 = unsigned long long;

namespace {

__device__ u64 nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__device__ u64 thread_index() { return static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ u64 thread_count() { return static_cast<u64>(gridDim.x) * blockDim.x; }

}  // namespace

/// Marks on the device's time line where a sample begins and where the call's own stream ended.
extern "C" __global__ void kagent_instrument_open() {}
extern "C" __global__ void kagent_instrument_end() {}

/// Holds the stream until the host has queued the whole call. control[0] is the last ticket that the
/// host released; control[1] receives the ticket of a gate that ran into its time limit.
extern "C" __global__ void kagent_instrument_gate(volatile u32* control, u32 ticket, u64 limit_ns) {
  if (threadIdx.x != 0) return;
  const u64 start = nanoseconds();
  while (static_cast<int>(control[0] - ticket) < 0) {
    if (nanoseconds() - start > limit_ns) {
      control[1] = ticket;
      __threadfence_system();
      return;
    }
  }
}

/// Fills L2 with lines of a buffer of ours. count: 16-byte elements.
extern "C" __global__ void kagent_instrument_flush_write(uint4* buffer, u64 count, u32 value) {
  for (u64 i = thread_index(); i < count; i += thread_count()) {
    buffer[i] = make_uint4(value, value, value, value);
  }
}

/// Then reads another buffer, so that L2 is left clean: else the measured call pays for writing
/// the dirty lines back. sink is written only to keep the loads.
extern "C" __global__ void kagent_instrument_flush_read(const uint4* buffer, u64 count, u32* sink) {
  u32 sum = 0;
  for (u64 i = thread_index(); i < count; i += thread_count()) {
    const uint4 value = buffer[i];
    sum += value.x ^ value.y ^ value.z ^ value.w;
  }
  if (sum == 0x9e3779b9u) *sink = sum;
}

/// Overwrites what earlier kernels left in shared memory. bytes: dynamic shared memory of the launch.
extern "C" __global__ void kagent_instrument_scrub_shared(u32 value, u32 bytes, u32* sink) {
  extern __shared__ u32 words[];
  for (u32 i = threadIdx.x; i < bytes / 4; i += blockDim.x) words[i] = value;
  __syncthreads();
  if (words[(threadIdx.x * 33u) % (bytes / 4)] != value) *sink = threadIdx.x;
}

struct Region {
  u64 address;
  u64 bytes;
};

/// Every byte of every region must be that of the repeated `canary` word. offenders[r] receives the
/// lowest offset in region r that is not; the host sets it to all ones before.
extern "C" __global__ void kagent_instrument_check(const Region* regions, u32 count, u32 canary,
                                                   u64* offenders) {
  for (u32 r = blockIdx.x; r < count; r += gridDim.x) {
    const Region region = regions[r];
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(region.address);
    // Words where the address allows it; a region begins on any byte.
    const u64 head = min((4 - (region.address & 3)) & 3, region.bytes);
    const u64 words = (region.bytes - head) / 4;
    const u32* body = reinterpret_cast<const u32*>(bytes + head);
    for (u64 i = threadIdx.x; i < words; i += blockDim.x) {
      if (body[i] != canary) {
        u64 offset = head + i * 4;
        while (bytes[offset] == static_cast<unsigned char>(canary >> (8 * (offset - head - i * 4)))) {
          ++offset;
        }
        atomicMin(&offenders[r], offset);
      }
    }
    const u64 tail = head + words * 4;
    // At most three bytes before and three after the words.
    const u64 edge = threadIdx.x < head ? threadIdx.x : tail + (threadIdx.x - head);
    if (edge < region.bytes && (edge < head || edge >= tail)) {
      const u32 lane = static_cast<u32>((region.address + edge) & 3);
      if (bytes[edge] != static_cast<unsigned char>(canary >> (8 * lane))) {
        atomicMin(&offenders[r], edge);
      }
    }
  }
}

/// first receives the lowest index at which the two arrays differ; the host sets it to all ones
/// before. count: 16-byte elements.
extern "C" __global__ void kagent_instrument_compare(const uint4* left, const uint4* right, u64 count,
                                                     u64* first) {
  for (u64 i = thread_index(); i < count; i += thread_count()) {
    const uint4 a = left[i];
    const uint4 b = right[i];
    if (a.x != b.x || a.y != b.y || a.z != b.z || a.w != b.w) atomicMin(first, i);
  }
}
