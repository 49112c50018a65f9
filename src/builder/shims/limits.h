// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace std {

template <class T> struct numeric_limits {
  static constexpr bool is_specialized = false;
};

#define KAGENT_LIMITS(T, lowest_value, max_value, digit_count, negative)                     \
  template <> struct numeric_limits<T> {                                                     \
    static constexpr bool is_specialized = true;                                             \
    static constexpr bool is_integer = true;                                                 \
    static constexpr bool is_signed = negative;                                              \
    static constexpr bool is_exact = true;                                                   \
    static constexpr bool has_infinity = false;                                              \
    static constexpr bool has_quiet_NaN = false;                                             \
    static constexpr int radix = 2;                                                          \
    static constexpr int digits = digit_count;                                               \
    static constexpr int digits10 = digit_count * 3 / 10;                                    \
    __host__ __device__ static constexpr T min() noexcept { return lowest_value; }           \
    __host__ __device__ static constexpr T lowest() noexcept { return lowest_value; }        \
    __host__ __device__ static constexpr T max() noexcept { return max_value; }              \
    __host__ __device__ static constexpr T epsilon() noexcept { return static_cast<T>(0); }               \
    __host__ __device__ static constexpr T infinity() noexcept { return static_cast<T>(0); }              \
    __host__ __device__ static constexpr T quiet_NaN() noexcept { return static_cast<T>(0); }             \
  };
KAGENT_LIMITS(bool, false, true, 1, false)
KAGENT_LIMITS(char, CHAR_MIN, CHAR_MAX, 7, true)
KAGENT_LIMITS(signed char, SCHAR_MIN, SCHAR_MAX, 7, true)
KAGENT_LIMITS(unsigned char, 0, UCHAR_MAX, 8, false)
KAGENT_LIMITS(short, SHRT_MIN, SHRT_MAX, 15, true)
KAGENT_LIMITS(unsigned short, 0, USHRT_MAX, 16, false)
KAGENT_LIMITS(int, INT_MIN, INT_MAX, 31, true)
KAGENT_LIMITS(unsigned int, 0, UINT_MAX, 32, false)
KAGENT_LIMITS(long, LONG_MIN, LONG_MAX, 63, true)
KAGENT_LIMITS(unsigned long, 0, ULONG_MAX, 64, false)
KAGENT_LIMITS(long long, LLONG_MIN, LLONG_MAX, 63, true)
KAGENT_LIMITS(unsigned long long, 0, ULLONG_MAX, 64, false)
#undef KAGENT_LIMITS

#define KAGENT_LIMITS(T, PREFIX, infinite, nan_value)                                        \
  template <> struct numeric_limits<T> {                                                     \
    static constexpr bool is_specialized = true;                                             \
    static constexpr bool is_integer = false;                                                \
    static constexpr bool is_signed = true;                                                  \
    static constexpr bool is_exact = false;                                                  \
    static constexpr bool is_iec559 = true;                                                  \
    static constexpr bool has_infinity = true;                                               \
    static constexpr bool has_quiet_NaN = true;                                              \
    static constexpr int radix = 2;                                                          \
    static constexpr int digits = PREFIX##_MANT_DIG;                                         \
    static constexpr int digits10 = PREFIX##_DIG;                                            \
    static constexpr int min_exponent = PREFIX##_MIN_EXP;                                    \
    static constexpr int max_exponent = PREFIX##_MAX_EXP;                                    \
    __host__ __device__ static constexpr T min() noexcept { return PREFIX##_MIN; }           \
    __host__ __device__ static constexpr T lowest() noexcept { return -PREFIX##_MAX; }       \
    __host__ __device__ static constexpr T max() noexcept { return PREFIX##_MAX; }           \
    __host__ __device__ static constexpr T epsilon() noexcept { return PREFIX##_EPSILON; }   \
    __host__ __device__ static constexpr T denorm_min() noexcept { return PREFIX##_TRUE_MIN; } \
    __host__ __device__ static constexpr T infinity() noexcept { return infinite; }          \
    __host__ __device__ static constexpr T quiet_NaN() noexcept { return nan_value; }        \
  };
KAGENT_LIMITS(float, FLT, __builtin_bit_cast(float, 0x7f800000), __builtin_bit_cast(float, 0x7fc00000))
KAGENT_LIMITS(double, DBL, __builtin_bit_cast(double, 0x7ff0000000000000L),
              __builtin_bit_cast(double, 0x7ff8000000000000L))
#undef KAGENT_LIMITS

template <class T> struct numeric_limits<const T> : numeric_limits<T> {};

}  // namespace std
