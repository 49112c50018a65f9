// SPDX-License-Identifier: Apache-2.0
// For C++ kernels of the CPU backend. A kernel is a plain function that returns void; it is called
// once for every block of the grid, from several threads at a time, and reads blockIdx and gridDim.
// A block has one thread: work inside it is loops and vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

struct kagent_index3 {
  std::int64_t x = 0;
  std::int64_t y = 0;
  std::int64_t z = 0;
};

inline thread_local kagent_index3 blockIdx;
inline thread_local kagent_index3 gridDim{1, 1, 1};
inline constexpr kagent_index3 blockDim{1, 1, 1};
inline constexpr kagent_index3 threadIdx{0, 0, 0};

// So that a kernel can be marked as in CUDA.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))

namespace kagent {

/// Storage of torch.bfloat16 with conversions through float, rounding to nearest even.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  bfloat16(float value) {  // NOLINT: implicit on purpose
    std::uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    const bool is_nan = (word & 0x7fffffffu) > 0x7f800000u;
    bits = is_nan ? std::uint16_t{0x7fc0}
                  : static_cast<std::uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
  operator float() const {  // NOLINT: implicit on purpose
    const std::uint32_t word = std::uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
};

}  // namespace kagent
