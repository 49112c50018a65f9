// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace std {

#define KAGENT_FUNCTOR(name, operation)                                                        \
  template <class T = void> struct name {                                                      \
    __host__ __device__ constexpr auto operator()(const T& a, const T& b) const { return a operation b; } \
  };                                                                                           \
  template <> struct name<void> {                                                              \
    template <class A, class B>                                                                \
    __host__ __device__ constexpr auto operator()(const A& a, const B& b) const { return a operation b; } \
  };
KAGENT_FUNCTOR(plus, +)
KAGENT_FUNCTOR(minus, -)
KAGENT_FUNCTOR(multiplies, *)
KAGENT_FUNCTOR(divides, /)
KAGENT_FUNCTOR(less, <)
KAGENT_FUNCTOR(greater, >)
KAGENT_FUNCTOR(less_equal, <=)
KAGENT_FUNCTOR(greater_equal, >=)
KAGENT_FUNCTOR(equal_to, ==)
KAGENT_FUNCTOR(not_equal_to, !=)
#undef KAGENT_FUNCTOR

}  // namespace std
