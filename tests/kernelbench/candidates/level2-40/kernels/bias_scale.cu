// SPDX-License-Identifier: Apache-2.0
// y = (y + bias) * factor in place: scaling and residual of the same matrix are one factor.

// grid: (ceil(columns / 1024), rows); block: 256. columns must be a multiple of 4.
extern "C" __global__ void __launch_bounds__(256)
bias_scale(float4* __restrict__ y, const float4* __restrict__ bias, int vectors, float factor) {
  const int column = blockIdx.x * 256 + threadIdx.x;
  if (column >= vectors) return;
  const float4 shift = __ldg(bias + column);
  const long long at = static_cast<long long>(blockIdx.y) * vectors + column;
  const float4 v = y[at];
  y[at] = make_float4((v.x + shift.x) * factor, (v.y + shift.y) * factor, (v.z + shift.z) * factor,
                      (v.w + shift.w) * factor);
}
