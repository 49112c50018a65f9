// SPDX-License-Identifier: Apache-2.0
// y = silu(y + bias[channel]) in place over (batch, channels, plane).

__device__ __forceinline__ float silu(float v) { return v / (1.0f + expf(-v)); }

// grid: (blocks per plane, batch * channels); `vectors` is a plane's size in float4.
template <int kThreads, int kVectors>
__global__ void __launch_bounds__(kThreads)
bias_silu(float* __restrict__ y, const float* __restrict__ bias, int channels, int vectors) {
  const float shift = __ldg(bias + blockIdx.y % channels);
  float4* plane = reinterpret_cast<float4*>(y) + static_cast<long long>(blockIdx.y) * vectors;
  const int first = blockIdx.x * kThreads * kVectors + threadIdx.x;

  float4 value[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (first + i * kThreads < vectors) value[i] = plane[first + i * kThreads];
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (first + i * kThreads < vectors) {
      const float4 v = value[i];
      __stcs(plane + first + i * kThreads, make_float4(silu(v.x + shift), silu(v.y + shift),
                                                       silu(v.z + shift), silu(v.w + shift)));
    }
  }
}
