// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace std {

template <class T> __host__ __device__ constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T> __host__ __device__ constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <class T>
__host__ __device__ constexpr const T& clamp(const T& value, const T& low, const T& high) {
  return value < low ? low : high < value ? high : value;
}
template <class I, class T> __host__ __device__ constexpr void fill(I begin, I end, const T& value) {
  for (; begin != end; ++begin) *begin = value;
}
template <class I, class N, class T>
__host__ __device__ constexpr I fill_n(I begin, N count, const T& value) {
  for (N i = 0; i < count; ++i) *begin++ = value;
  return begin;
}
template <class I, class O> __host__ __device__ constexpr O copy(I begin, I end, O to) {
  for (; begin != end; ++begin) *to++ = *begin;
  return to;
}

}  // namespace std
