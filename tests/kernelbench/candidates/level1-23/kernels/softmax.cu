// SPDX-License-Identifier: Apache-2.0
// One block a row. First pass: each thread keeps a running maximum and a sum relative to it; the block joins
// them. Second pass: the row again, scaled. A row is 1.5 MiB, too much for one multiprocessor to hold.

struct Running {
  float top;
  float sum;  // of exp(x - top)
};

__device__ __forceinline__ Running join(Running a, Running b) {
  const float top = fmaxf(a.top, b.top);
  return {top, a.sum * expf(a.top - top) + b.sum * expf(b.top - top)};
}

__device__ __forceinline__ void take(Running& seen, float4 v) {
  const float top = fmaxf(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), seen.top);
  seen.sum = seen.sum * expf(seen.top - top) +
             ((expf(v.x - top) + expf(v.y - top)) + (expf(v.z - top) + expf(v.w - top)));
  seen.top = top;
}

__device__ __forceinline__ Running join_warp(Running seen) {
  for (int step = 16; step > 0; step >>= 1) {
    const Running other{__shfl_xor_sync(0xffffffffu, seen.top, step),
                        __shfl_xor_sync(0xffffffffu, seen.sum, step)};
    seen = join(seen, other);
  }
  return seen;
}

// grid: rows; block: 1024 threads. vectors: columns / 4, at least 1024.
extern "C" __global__ void __launch_bounds__(1024)
softmax_rows(float4* __restrict__ y, const float4* __restrict__ x, int vectors) {
  __shared__ float tops[32];
  __shared__ float sums[32];
  const float4* source = x + static_cast<long long>(blockIdx.x) * vectors;
  float4* target = y + static_cast<long long>(blockIdx.x) * vectors;

  const float4 head = source[threadIdx.x];
  Running seen{fmaxf(fmaxf(head.x, head.y), fmaxf(head.z, head.w)), 0.0f};
#pragma unroll 4
  for (int i = threadIdx.x; i < vectors; i += 1024) take(seen, source[i]);

  seen = join_warp(seen);
  if (threadIdx.x % 32 == 0) {
    tops[threadIdx.x / 32] = seen.top;
    sums[threadIdx.x / 32] = seen.sum;
  }
  __syncthreads();
  seen = join_warp({tops[threadIdx.x % 32], sums[threadIdx.x % 32]});

  const float scale = 1.0f / seen.sum;
#pragma unroll 4
  for (int i = threadIdx.x; i < vectors; i += 1024) {
    const float4 v = source[i];
    __stcs(target + i, make_float4(expf(v.x - seen.top) * scale, expf(v.y - seen.top) * scale,
                                   expf(v.z - seen.top) * scale, expf(v.w - seen.top) * scale));
  }
}
