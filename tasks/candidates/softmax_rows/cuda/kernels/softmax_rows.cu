// SPDX-License-Identifier: Apache-2.0
// One block holds one row in registers: every element is read once and written once, and the three
// reductions (sum and extremes, variance, sum of exponentials) run on what is already there.

struct Sum {
  __device__ static float join(float a, float b) { return a + b; }
};
struct Highest {
  __device__ static float join(float a, float b) { return fmaxf(a, b); }
};
struct Lowest {
  __device__ static float join(float a, float b) { return fminf(a, b); }
};

template <typename Operation, int kLanes>
__device__ __forceinline__ float across_lanes(float value) {
#pragma unroll
  for (int step = kLanes / 2; step > 0; step >>= 1) {
    value = Operation::join(value, __shfl_xor_sync(0xffffffffu, value, step));
  }
  return value;
}

// Every warp leaves its part in shared memory; after a barrier every warp joins all parts.
template <typename Operation, int kWarps>
__device__ __forceinline__ void leave(float value, float (&parts)[kWarps]) {
  value = across_lanes<Operation, 32>(value);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
}

template <typename Operation, int kWarps>
__device__ __forceinline__ float joined(const float (&parts)[kWarps]) {
  return across_lanes<Operation, kWarps>(parts[threadIdx.x % kWarps]);
}

// columns == 4 * kThreads * kVectors; kThreads / 32 is a power of two. Each reduction has its own shared
// array, so that one barrier is enough for each.
template <int kThreads, int kVectors>
__global__ void __launch_bounds__(kThreads, 2)
softmax_rows(float* __restrict__ y, const float* __restrict__ x, float sharpness) {
  constexpr int kWarps = kThreads / 32;
  constexpr int kColumns = 4 * kThreads * kVectors;
  __shared__ float sums[kWarps], highest[kWarps], lowest[kWarps], squares[kWarps], totals[kWarps];

  const long long row = blockIdx.x;
  const float4* source = reinterpret_cast<const float4*>(x + row * kColumns) + threadIdx.x;
  float4 value[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) value[i] = __ldcs(source + i * kThreads);

  float sum = 0.0f, high = value[0].x, low = value[0].x;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const float4 v = value[i];
    sum += (v.x + v.y) + (v.z + v.w);
    high = fmaxf(high, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    low = fminf(low, fminf(fminf(v.x, v.y), fminf(v.z, v.w)));
  }
  leave<Sum>(sum, sums);
  leave<Highest>(high, highest);
  leave<Lowest>(low, lowest);
  __syncthreads();
  const float mean = joined<Sum>(sums) * (1.0f / kColumns);

  float square = 0.0f;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const float a = value[i].x - mean, b = value[i].y - mean;
    const float c = value[i].z - mean, d = value[i].w - mean;
    square += (a * a + b * b) + (c * c + d * d);
  }
  leave<Sum>(square, squares);
  __syncthreads();

  // sharpness * (x - mean) / deviation less its largest value: the mean falls out of the difference.
  const float deviation = sqrtf(joined<Sum>(squares) * (1.0f / kColumns) + 1e-6f);
  const float slope = sharpness / deviation * 1.4426950408889634f;  // exp2 instead of exp
  const float top = slope >= 0.0f ? joined<Highest>(highest) : joined<Lowest>(lowest);
  float total = 0.0f;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    value[i].x = exp2f((value[i].x - top) * slope);
    value[i].y = exp2f((value[i].y - top) * slope);
    value[i].z = exp2f((value[i].z - top) * slope);
    value[i].w = exp2f((value[i].w - top) * slope);
    total += (value[i].x + value[i].y) + (value[i].z + value[i].w);
  }
  leave<Sum>(total, totals);
  __syncthreads();

  const float scale = 1.0f / joined<Sum>(totals);
  float4* target = reinterpret_cast<float4*>(y + row * kColumns) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const float4 v = value[i];
    __stcs(target + i * kThreads, make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale));
  }
}
