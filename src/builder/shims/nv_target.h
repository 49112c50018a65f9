// SPDX-License-Identifier: Apache-2.0
// Stands in for CCCL's <nv/target> where that is not installed (the NVIDIA wheels lack it): NVRTC
// compiles device code only, so each condition is a plain number.
#pragma once

#define NV_IS_DEVICE 1
#define NV_IS_HOST 0
#define NV_ANY_TARGET 1
#define NV_NO_TARGET 0
#define NV_PROVIDES_SM_53 1
#define NV_PROVIDES_SM_60 1
#define NV_PROVIDES_SM_61 1
#define NV_PROVIDES_SM_62 1
#define NV_PROVIDES_SM_70 1
#define NV_PROVIDES_SM_72 1
#define NV_PROVIDES_SM_75 1
#if __CUDA_ARCH__ >= 800
#define NV_PROVIDES_SM_80 1
#else
#define NV_PROVIDES_SM_80 0
#endif
#if __CUDA_ARCH__ >= 860
#define NV_PROVIDES_SM_86 1
#else
#define NV_PROVIDES_SM_86 0
#endif
#if __CUDA_ARCH__ >= 890
#define NV_PROVIDES_SM_89 1
#else
#define NV_PROVIDES_SM_89 0
#endif
#if __CUDA_ARCH__ >= 900
#define NV_PROVIDES_SM_90 1
#else
#define NV_PROVIDES_SM_90 0
#endif
#if __CUDA_ARCH__ >= 1000
#define NV_PROVIDES_SM_100 1
#else
#define NV_PROVIDES_SM_100 0
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define NV_HAS_FEATURE_SM_90a 1
#else
#define NV_HAS_FEATURE_SM_90a 0
#endif

#define KAGENT_NV_JOIN_(a, b) a##b
#define KAGENT_NV_JOIN(a, b) KAGENT_NV_JOIN_(a, b)
#define KAGENT_NV_STRIP(...) __VA_ARGS__
// Code may stand in parentheses of its own or not.
#define KAGENT_NV_SECOND_OF(first, second, ...) second
#define KAGENT_NV_PICK(...) KAGENT_NV_SECOND_OF(__VA_ARGS__)
#define KAGENT_NV_PROBE(...) ~, 1
#define KAGENT_NV_IS_BRACKETED(...) KAGENT_NV_PICK(KAGENT_NV_PROBE __VA_ARGS__, 0, ~)
#define KAGENT_NV_CODE_1(...) KAGENT_NV_STRIP __VA_ARGS__
#define KAGENT_NV_CODE_0(...) __VA_ARGS__
#define KAGENT_NV_CODE(...) \
  { KAGENT_NV_JOIN(KAGENT_NV_CODE_, KAGENT_NV_IS_BRACKETED(__VA_ARGS__))(__VA_ARGS__) }
#define KAGENT_NV_THEN_1(yes, no) KAGENT_NV_CODE(yes)
#define KAGENT_NV_THEN_0(yes, no) KAGENT_NV_CODE(no)
#define NV_IF_ELSE_TARGET(condition, yes, no) KAGENT_NV_JOIN(KAGENT_NV_THEN_, condition)(yes, no)
#define NV_IF_TARGET(condition, ...) KAGENT_NV_IF(condition, __VA_ARGS__, (), ())
#define KAGENT_NV_IF(condition, yes, no, ...) NV_IF_ELSE_TARGET(condition, yes, no)

// The first of up to four conditions that holds.
#define NV_DISPATCH_TARGET(c, code, ...) \
  KAGENT_NV_JOIN(KAGENT_NV_FIRST_, c)(code, __VA_ARGS__, 1, (), 1, ())
#define KAGENT_NV_FIRST_1(code, ...) KAGENT_NV_CODE(code)
#define KAGENT_NV_FIRST_0(unused, c, code, ...) KAGENT_NV_JOIN(KAGENT_NV_SECOND_, c)(code, __VA_ARGS__)
#define KAGENT_NV_SECOND_1(code, ...) KAGENT_NV_CODE(code)
#define KAGENT_NV_SECOND_0(unused, c, code, ...) KAGENT_NV_JOIN(KAGENT_NV_THIRD_, c)(code, __VA_ARGS__)
#define KAGENT_NV_THIRD_1(code, ...) KAGENT_NV_CODE(code)
#define KAGENT_NV_THIRD_0(unused, c, code, ...) KAGENT_NV_JOIN(KAGENT_NV_LAST_, c)(code)
#define KAGENT_NV_LAST_1(code) KAGENT_NV_CODE(code)
#define KAGENT_NV_LAST_0(code)
