// SPDX-License-Identifier: Apache-2.0
// One block holds one row in registers: every element is read once and written once, and the three
// reductions (sum and extremes, variance, sum of exponentials) run on what is already there.

struct Extremes {
  float sum;
  float highest;
  float lowest;
};

__device__ __forceinline__ float warp_sum(float value) {
  for (int step = 16; step > 0; step >>= 1) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

__device__ __forceinline__ Extremes warp_extremes(Extremes mine) {
  for (int step = 16; step > 0; step >>= 1) {
    mine.sum += __shfl_xor_sync(0xffffffffu, mine.sum, step);
    mine.highest = fmaxf(mine.highest, __shfl_xor_sync(0xffffffffu, mine.highest, step));
    mine.lowest = fminf(mine.lowest, __shfl_xor_sync(0xffffffffu, mine.lowest, step));
  }
  return mine;
}

// Each reduction has its own row of `partial`, so that one barrier is enough for each.
template <int kWarps>
__device__ __forceinline__ float block_sum(float value, float (&partial)[kWarps]) {
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float total = 0.0f;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) total += partial[warp];
  return total;
}

// columns == 4 * kThreads * kVectors; rows are 16-byte aligned.
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

  Extremes seen{0.0f, value[0].x, value[0].x};
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const float4 v = value[i];
    seen.sum += (v.x + v.y) + (v.z + v.w);
    seen.highest = fmaxf(seen.highest, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    seen.lowest = fminf(seen.lowest, fminf(fminf(v.x, v.y), fminf(v.z, v.w)));
  }
  seen = warp_extremes(seen);
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = seen.sum;
    highest[threadIdx.x / 32] = seen.highest;
    lowest[threadIdx.x / 32] = seen.lowest;
  }
  __syncthreads();
  seen = {0.0f, highest[0], lowest[0]};
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) {
    seen.sum += sums[warp];
    seen.highest = fmaxf(seen.highest, highest[warp]);
    seen.lowest = fminf(seen.lowest, lowest[warp]);
  }
  const float mean = seen.sum * (1.0f / kColumns);

  float square = 0.0f;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const float a = value[i].x - mean, b = value[i].y - mean;
    const float c = value[i].z - mean, d = value[i].w - mean;
    square += (a * a + b * b) + (c * c + d * d);
  }
  square = block_sum(square, squares);

  // sharpness * (x - mean) / deviation less its largest value: the mean falls out of the difference.
  const float deviation = sqrtf(square * (1.0f / kColumns) + 1e-6f);
  const float slope = sharpness / deviation * 1.4426950408889634f;  // exp2 instead of exp
  const float top = slope >= 0.0f ? seen.highest : seen.lowest;
  float total = 0.0f;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    value[i].x = exp2f((value[i].x - top) * slope);
    value[i].y = exp2f((value[i].y - top) * slope);
    value[i].z = exp2f((value[i].z - top) * slope);
    value[i].w = exp2f((value[i].w - top) * slope);
    total += (value[i].x + value[i].y) + (value[i].z + value[i].w);
  }
  total = block_sum(total, totals);

  const float scale = 1.0f / total;
  float4* target = reinterpret_cast<float4*>(y + row * kColumns) + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    const float4 v = value[i];
    __stcs(target + i * kThreads, make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale));
  }
}
