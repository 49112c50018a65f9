// SPDX-License-Identifier: Apache-2.0
// Included ahead of every source that NVRTC compiles: what nvcc users have without asking, since
// there <cuda_runtime.h> drags in <math.h>, <stdint.h>, <limits.h> and their kin.
#pragma once

// 64 bits are long long here, though nvcc has long: the toolkit's own headers (cuda_pipeline.h,
// <cuda/std/cstdint>) define the same names under NVRTC, as these types.
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
typedef long long intmax_t;
typedef unsigned long long uintmax_t;
typedef signed char int_least8_t;
typedef short int_least16_t;
typedef int int_least32_t;
typedef long long int_least64_t;
typedef unsigned char uint_least8_t;
typedef unsigned short uint_least16_t;
typedef unsigned int uint_least32_t;
typedef unsigned long long uint_least64_t;
typedef signed char int_fast8_t;
typedef short int_fast16_t;
typedef int int_fast32_t;
typedef long long int_fast64_t;
typedef unsigned char uint_fast8_t;
typedef unsigned short uint_fast16_t;
typedef unsigned int uint_fast32_t;
typedef unsigned long long uint_fast64_t;
typedef long ssize_t;

#define INT8_MIN (-128)
#define INT16_MIN (-32767 - 1)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807LL
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define SIZE_MAX 18446744073709551615UL
#define PTRDIFF_MAX 9223372036854775807L

#define CHAR_BIT 8
#define SCHAR_MIN INT8_MIN
#define SCHAR_MAX INT8_MAX
#define UCHAR_MAX UINT8_MAX
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN INT16_MIN
#define SHRT_MAX INT16_MAX
#define USHRT_MAX UINT16_MAX
#define INT_MIN INT32_MIN
#define INT_MAX INT32_MAX
#define UINT_MAX UINT32_MAX
#define LONG_MIN (-9223372036854775807L - 1)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL

#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MAX 3.402823466385288598117e+38F
#define FLT_MIN 1.175494350822287507969e-38F
#define FLT_TRUE_MIN 1.401298464324817070924e-45F
#define FLT_EPSILON 1.192092895507812500000e-07F
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MAX 1.797693134862315708145e+308
#define DBL_MIN 2.225073858507201383090e-308
#define DBL_TRUE_MIN 4.940656458412465441766e-324
#define DBL_EPSILON 2.220446049250313080847e-16

#define INFINITY (__builtin_bit_cast(float, 0x7f800000))
#define NAN (__builtin_bit_cast(float, 0x7fc00000))
#define HUGE_VALF INFINITY
#define HUGE_VAL (__builtin_bit_cast(double, 0x7ff0000000000000L))
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

#ifndef NULL
#define NULL 0
#endif
