// SPDX-License-Identifier: Apache-2.0
// Mean over the tokens of each sequence. A block owns 32 neighbouring features of one sequence: 8 lanes read
// 128 contiguous bytes of a token, and 32 groups of 8 lanes walk through the tokens side by side.

__device__ __forceinline__ void add(float4& sum, float4 v) {
  sum.x += v.x;
  sum.y += v.y;
  sum.z += v.z;
  sum.w += v.w;
}

// grid: (features / 32, sequences); block: 256. tokens must be a multiple of 256, features of 32.
extern "C" __global__ void __launch_bounds__(256)
token_mean(float* __restrict__ mean, const float* __restrict__ x, int tokens, int features) {
  constexpr int kFeatureLanes = 8;  // float4 each: 32 features
  constexpr int kTokenLanes = 32;
  constexpr int kAhead = 8;         // loads of one thread before the first is needed
  __shared__ float4 partial[kTokenLanes][kFeatureLanes];
  const int feature_lane = threadIdx.x % kFeatureLanes;
  const int token_lane = threadIdx.x / kFeatureLanes;
  const int vectors = features / 4;
  const long long sequence = blockIdx.y;
  const float4* source = reinterpret_cast<const float4*>(x) + sequence * tokens * vectors +
                         blockIdx.x * kFeatureLanes + feature_lane;

  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (int token = token_lane; token < tokens; token += kTokenLanes * kAhead) {
    float4 value[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      value[i] = __ldcs(source + static_cast<long long>(token + i * kTokenLanes) * vectors);
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) add(sum, value[i]);
  }
  partial[token_lane][feature_lane] = sum;
  __syncthreads();

  for (int step = kTokenLanes / 2; step > 0; step /= 2) {
    if (token_lane < step) {
      add(sum, partial[token_lane + step][feature_lane]);
      partial[token_lane][feature_lane] = sum;
    }
    __syncthreads();
  }
  if (token_lane == 0) {
    const float share = 1.0f / static_cast<float>(tokens);
    reinterpret_cast<float4*>(mean)[sequence * vectors + blockIdx.x * kFeatureLanes + feature_lane] =
        make_float4(sum.x * share, sum.y * share, sum.z * share, sum.w * share);
  }
}
