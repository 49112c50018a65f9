// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

namespace std {

// std::move and std::forward are built into NVRTC.
template <class T> __host__ __device__ constexpr void swap(T& a, T& b) noexcept {
  T saved = std::move(a);
  a = std::move(b);
  b = std::move(saved);
}
template <class T, class U = T> __host__ __device__ constexpr T exchange(T& value, U&& next) {
  T old = std::move(value);
  value = std::forward<U>(next);
  return old;
}

template <class A, class B> struct pair {
  using first_type = A;
  using second_type = B;
  A first{};
  B second{};
  constexpr pair() = default;
  __host__ __device__ constexpr pair(const A& a, const B& b) : first(a), second(b) {}
};
template <class A, class B>
__host__ __device__ constexpr pair<decay_t<A>, decay_t<B>> make_pair(A&& a, B&& b) {
  return {std::forward<A>(a), std::forward<B>(b)};
}

template <class T, T... values> struct integer_sequence {
  using value_type = T;
  __host__ __device__ static constexpr decltype(sizeof 0) size() noexcept { return sizeof...(values); }
};
template <decltype(sizeof 0)... values>
using index_sequence = integer_sequence<decltype(sizeof 0), values...>;
namespace kagent_shim {
template <class A, class B> struct join;
template <class T, T... a, T... b>
struct join<integer_sequence<T, a...>, integer_sequence<T, b...>> {
  using type = integer_sequence<T, a..., T(sizeof...(a) + b)...>;
};
template <class T, decltype(sizeof 0) n> struct count {
  using type = typename join<typename count<T, n / 2>::type, typename count<T, n - n / 2>::type>::type;
};
template <class T> struct count<T, 0> { using type = integer_sequence<T>; };
template <class T> struct count<T, 1> { using type = integer_sequence<T, T(0)>; };
}  // namespace kagent_shim
template <class T, T n> using make_integer_sequence = typename kagent_shim::count<T, n>::type;
template <decltype(sizeof 0) n> using make_index_sequence = make_integer_sequence<decltype(sizeof 0), n>;
template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;

}  // namespace std
