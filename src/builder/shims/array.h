// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace std {

template <class T, decltype(sizeof 0) n> struct array {
  using value_type = T;
  T elements[n == 0 ? 1 : n];
  __host__ __device__ constexpr T& operator[](decltype(sizeof 0) i) { return elements[i]; }
  __host__ __device__ constexpr const T& operator[](decltype(sizeof 0) i) const { return elements[i]; }
  __host__ __device__ constexpr T* data() { return elements; }
  __host__ __device__ constexpr const T* data() const { return elements; }
  __host__ __device__ constexpr T* begin() { return elements; }
  __host__ __device__ constexpr const T* begin() const { return elements; }
  __host__ __device__ constexpr T* end() { return elements + n; }
  __host__ __device__ constexpr const T* end() const { return elements + n; }
  __host__ __device__ static constexpr decltype(sizeof 0) size() { return n; }
  __host__ __device__ constexpr void fill(const T& value) {
    for (T& element : elements) element = value;
  }
};

}  // namespace std
