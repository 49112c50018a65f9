// SPDX-License-Identifier: Apache-2.0
// One block is one row. A row of 16384 floats stays in the core's own cache, so the passes after the first
// cost little; the exponential is a polynomial on whole vectors.
#include <kagent/cpu.h>

#include <cmath>
#include <cstring>

#ifdef __AVX512F__
constexpr int kBytes = 64;
#else
constexpr int kBytes = 32;
#endif
constexpr int kWidth = kBytes / 4;
constexpr int kLanes = 4;  // independent accumulators
typedef float Vector __attribute__((vector_size(kBytes)));
typedef int Whole __attribute__((vector_size(kBytes)));

static inline Vector load(const float* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

static inline void store(float* to, Vector v) { std::memcpy(to, &v, sizeof v); }

// 2^t for t <= 0, relative error under 2e-7; below -126 the result is 2^-126 instead of a denormal.
static inline Vector exp2_of(Vector t) {
  t = t < -126.0f ? Vector{} - 126.0f : t;
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

static inline float sum_of(const Vector (&parts)[kLanes]) {
  const Vector all = (parts[0] + parts[1]) + (parts[2] + parts[3]);
  float sum = 0.0f;
  for (int i = 0; i < kWidth; ++i) sum += all[i];
  return sum;
}

// columns must be a multiple of 64.
extern "C" void softmax_rows(float* y, const float* x, int columns, float sharpness) {
  const float* source = x + static_cast<long long>(blockIdx.x) * columns;
  float* target = y + static_cast<long long>(blockIdx.x) * columns;

  Vector sums[kLanes] = {}, high[kLanes], low[kLanes];
  for (int k = 0; k < kLanes; ++k) high[k] = low[k] = load(source);
  for (int i = 0; i < columns; i += kLanes * kWidth) {
    for (int k = 0; k < kLanes; ++k) {
      const Vector v = load(source + i + k * kWidth);
      sums[k] += v;
      high[k] = v > high[k] ? v : high[k];
      low[k] = v < low[k] ? v : low[k];
    }
  }
  float highest = high[0][0], lowest = low[0][0];
  for (int k = 0; k < kLanes; ++k) {
    for (int i = 0; i < kWidth; ++i) {
      highest = high[k][i] > highest ? high[k][i] : highest;
      lowest = low[k][i] < lowest ? low[k][i] : lowest;
    }
  }
  const float mean = sum_of(sums) / columns;

  Vector squares[kLanes] = {};
  for (int i = 0; i < columns; i += kLanes * kWidth) {
    for (int k = 0; k < kLanes; ++k) {
      const Vector v = load(source + i + k * kWidth) - mean;
      squares[k] += v * v;
    }
  }
  // sharpness * (x - mean) / deviation less its largest value: the mean falls out of the difference.
  const float deviation = std::sqrt(sum_of(squares) / columns + 1e-6f);
  const float slope = sharpness / deviation * 1.44269504f;
  const float top = slope >= 0.0f ? highest : lowest;

  Vector totals[kLanes] = {};
  for (int i = 0; i < columns; i += kLanes * kWidth) {
    for (int k = 0; k < kLanes; ++k) {
      const Vector e = exp2_of((load(source + i + k * kWidth) - top) * slope);
      totals[k] += e;
      store(target + i + k * kWidth, e);
    }
  }
  const float scale = 1.0f / sum_of(totals);
  for (int i = 0; i < columns; i += kWidth) store(target + i, load(target + i) * scale);
}
