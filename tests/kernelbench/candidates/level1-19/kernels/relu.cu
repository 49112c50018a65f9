// SPDX-License-Identifier: Apache-2.0
// 16 bytes a thread and turn, four turns a thread; a NaN stays one.

__device__ __forceinline__ float relu(float v) { return v < 0.0f ? 0.0f : v; }

// vectors: number of float4; a block covers 4 * blockDim.x of them.
extern "C" __global__ void __launch_bounds__(256)
relu_rows(float4* __restrict__ y, const float4* __restrict__ x, long long vectors) {
  const long long first = static_cast<long long>(blockIdx.x) * 4 * blockDim.x + threadIdx.x;
  float4 value[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const long long at = first + i * static_cast<long long>(blockDim.x);
    if (at < vectors) value[i] = __ldcs(x + at);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const long long at = first + i * static_cast<long long>(blockDim.x);
    const float4 v = value[i];
    if (at < vectors) __stcs(y + at, make_float4(relu(v.x), relu(v.y), relu(v.z), relu(v.w)));
  }
}
