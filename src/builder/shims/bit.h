// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace std {

template <class To, class From> __host__ __device__ constexpr To bit_cast(const From& value) noexcept {
  return __builtin_bit_cast(To, value);
}
template <class T> __host__ __device__ constexpr bool has_single_bit(T value) noexcept {
  return value != 0 && (value & (value - 1)) == 0;
}
template <class T> __host__ __device__ constexpr T bit_ceil(T value) noexcept {
  T result = 1;
  while (result < value) result <<= 1;
  return result;
}

}  // namespace std
