// SPDX-License-Identifier: Apache-2.0
// Mean over the tokens of one sequence; one block is one sequence. Eight tokens are added at a time, so that
// the sums, which live in the first-level cache, are touched once for eight loads from memory.
#include <kagent/cpu.h>

#include <cstring>

#ifdef __AVX512F__
constexpr int kBytes = 64;
#else
constexpr int kBytes = 32;
#endif
constexpr int kWidth = kBytes / 4;
typedef float Vector __attribute__((vector_size(kBytes)));

static inline Vector load(const float* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

static inline void store(float* to, Vector v) { std::memcpy(to, &v, sizeof v); }

// tokens must be a multiple of 8, features of 16.
extern "C" void token_mean(float* mean, const float* x, int tokens, int features) {
  const float* source = x + static_cast<long long>(blockIdx.x) * tokens * features;
  float* sum = mean + static_cast<long long>(blockIdx.x) * features;
  for (int i = 0; i < features; i += kWidth) store(sum + i, Vector{});
  for (int token = 0; token < tokens; token += 8) {
    const float* rows = source + static_cast<long long>(token) * features;
    for (int i = 0; i < features; i += kWidth) {
      const float* at = rows + i;
      const Vector low = (load(at) + load(at + features)) + (load(at + 2 * features) + load(at + 3 * features));
      at += 4 * features;
      const Vector high = (load(at) + load(at + features)) + (load(at + 2 * features) + load(at + 3 * features));
      store(sum + i, load(sum + i) + (low + high));
    }
  }
  const float share = 1.0f / static_cast<float>(tokens);
  for (int i = 0; i < features; i += kWidth) store(sum + i, load(sum + i) * share);
}
