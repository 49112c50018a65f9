// SPDX-License-Identifier: Apache-2.0
// y = silu(y + bias[channel]) in place; one block is one plane of one image.
#include <kagent/cpu.h>

#include <cstring>

#ifdef __AVX512F__
constexpr int kBytes = 64;
#else
constexpr int kBytes = 32;
#endif
constexpr int kWidth = kBytes / 4;
typedef float Vector __attribute__((vector_size(kBytes)));
typedef int Whole __attribute__((vector_size(kBytes)));

static inline Vector load(const float* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

static inline void store(float* to, Vector v) { std::memcpy(to, &v, sizeof v); }

// 2^t with |t| held under 126, relative error under 2e-7.
static inline Vector exp2_of(Vector t) {
  t = t < -126.0f ? Vector{} - 126.0f : t;
  t = t > 126.0f ? Vector{} + 126.0f : t;
  const Vector shifted = t + 12582912.0f;  // 1.5 * 2^23: the low mantissa bits now hold round(t)
  const Vector rest = t - (shifted - 12582912.0f);
  Vector p = Vector{} + 1.535336188e-4f;
  p = p * rest + 1.339887440e-3f;
  p = p * rest + 9.618437358e-3f;
  p = p * rest + 5.550332472e-2f;
  p = p * rest + 2.402264791e-1f;
  p = p * rest + 6.931472029e-1f;
  p = p * rest + 1.0f;
  return (Vector)((Whole)p + ((Whole)shifted << 23));
}

// `size` is a plane's number of elements, a multiple of 16.
extern "C" void bias_silu(float* y, const float* bias, int channels, int size) {
  float* plane = y + static_cast<long long>(blockIdx.x) * size;
  const float shift = bias[blockIdx.x % channels];
  for (int i = 0; i < size; i += kWidth) {
    const Vector v = load(plane + i) + shift;
    store(plane + i, v / (1.0f + exp2_of(v * -1.44269504f)));
  }
}
