// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace std {

template <class T, T v>
struct integral_constant {
  static constexpr T value = v;
  using value_type = T;
  using type = integral_constant;
  __host__ __device__ constexpr operator T() const noexcept { return v; }
  __host__ __device__ constexpr T operator()() const noexcept { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class T> struct type_identity { using type = T; };
template <class T> using type_identity_t = T;
template <class...> using void_t = void;

template <bool, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <bool, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool b, class T, class F> using conditional_t = typename conditional<b, T, F>::type;

template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T&> { using type = T; };
template <class T> struct remove_reference<T&&> { using type = T; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> struct remove_volatile { using type = T; };
template <class T> struct remove_volatile<volatile T> { using type = T; };
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> struct remove_cv { using type = remove_const_t<remove_volatile_t<T>>; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> struct remove_cvref { using type = remove_cv_t<remove_reference_t<T>>; };
template <class T> using remove_cvref_t = typename remove_cvref<T>::type;
template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T*> { using type = T; };
template <class T> struct remove_pointer<T* const> { using type = T; };
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> struct remove_extent { using type = T; };
template <class T> struct remove_extent<T[]> { using type = T; };
template <class T, decltype(sizeof 0) n> struct remove_extent<T[n]> { using type = T; };
template <class T> using remove_extent_t = typename remove_extent<T>::type;
template <class T> struct add_const { using type = const T; };
template <class T> using add_const_t = const T;
template <class T> struct add_pointer { using type = remove_reference_t<T>*; };
template <class T> using add_pointer_t = typename add_pointer<T>::type;
template <class T> struct add_lvalue_reference { using type = T&; };
template <> struct add_lvalue_reference<void> { using type = void; };
template <class T> using add_lvalue_reference_t = typename add_lvalue_reference<T>::type;
template <class T> struct add_rvalue_reference { using type = T&&; };
template <> struct add_rvalue_reference<void> { using type = void; };
template <class T> using add_rvalue_reference_t = typename add_rvalue_reference<T>::type;
template <class T> __host__ __device__ add_rvalue_reference_t<T> declval() noexcept;

template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;
template <class T> struct is_const : false_type {};
template <class T> struct is_const<const T> : true_type {};
template <class T> inline constexpr bool is_const_v = is_const<T>::value;
template <class T> struct is_volatile : false_type {};
template <class T> struct is_volatile<volatile T> : true_type {};
template <class T> inline constexpr bool is_volatile_v = is_volatile<T>::value;
template <class T> struct is_lvalue_reference : false_type {};
template <class T> struct is_lvalue_reference<T&> : true_type {};
template <class T> inline constexpr bool is_lvalue_reference_v = is_lvalue_reference<T>::value;
template <class T> struct is_rvalue_reference : false_type {};
template <class T> struct is_rvalue_reference<T&&> : true_type {};
template <class T> inline constexpr bool is_rvalue_reference_v = is_rvalue_reference<T>::value;
template <class T>
struct is_reference : bool_constant<is_lvalue_reference_v<T> || is_rvalue_reference_v<T>> {};
template <class T> inline constexpr bool is_reference_v = is_reference<T>::value;
template <class T> struct is_array : false_type {};
template <class T> struct is_array<T[]> : true_type {};
template <class T, decltype(sizeof 0) n> struct is_array<T[n]> : true_type {};
template <class T> inline constexpr bool is_array_v = is_array<T>::value;

namespace kagent_shim {
template <class> inline constexpr bool pointer = false;
template <class T> inline constexpr bool pointer<T*> = true;
template <class> inline constexpr bool integer = false;
template <> inline constexpr bool integer<bool> = true;
template <> inline constexpr bool integer<char> = true;
template <> inline constexpr bool integer<signed char> = true;
template <> inline constexpr bool integer<unsigned char> = true;
template <> inline constexpr bool integer<wchar_t> = true;
template <> inline constexpr bool integer<char16_t> = true;
template <> inline constexpr bool integer<char32_t> = true;
template <> inline constexpr bool integer<short> = true;
template <> inline constexpr bool integer<unsigned short> = true;
template <> inline constexpr bool integer<int> = true;
template <> inline constexpr bool integer<unsigned int> = true;
template <> inline constexpr bool integer<long> = true;
template <> inline constexpr bool integer<unsigned long> = true;
template <> inline constexpr bool integer<long long> = true;
template <> inline constexpr bool integer<unsigned long long> = true;
template <class> inline constexpr bool real = false;
template <> inline constexpr bool real<float> = true;
template <> inline constexpr bool real<double> = true;
template <class T, bool = integer<T> || real<T>> struct sign { static constexpr bool negative = false; };
template <class T> struct sign<T, true> { static constexpr bool negative = T(-1) < T(0); };
template <class From, class To, class = void> struct converts : false_type {};
template <class To> __host__ __device__ void accept(To);
template <class From, class To>
struct converts<From, To, decltype(accept<To>(declval<From>()))> : true_type {};
template <class T, class... A>
__host__ __device__ decltype(T(declval<A>()...), true_type()) constructs(int);
template <class T, class... A> __host__ __device__ false_type constructs(...);
template <class F, class... A>
__host__ __device__ decltype(declval<F>()(declval<A>()...)) call(int);
}  // namespace kagent_shim

template <class T> struct is_void : is_same<remove_cv_t<T>, void> {};
template <class T> inline constexpr bool is_void_v = is_void<T>::value;
template <class T> struct is_null_pointer : is_same<remove_cv_t<T>, decltype(nullptr)> {};
template <class T> struct is_pointer : bool_constant<kagent_shim::pointer<remove_cv_t<T>>> {};
template <class T> inline constexpr bool is_pointer_v = is_pointer<T>::value;
template <class T> struct is_integral : bool_constant<kagent_shim::integer<remove_cv_t<T>>> {};
template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;
template <class T> struct is_floating_point : bool_constant<kagent_shim::real<remove_cv_t<T>>> {};
template <class T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <class T>
struct is_arithmetic : bool_constant<is_integral_v<T> || is_floating_point_v<T>> {};
template <class T> inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> struct is_signed : bool_constant<kagent_shim::sign<remove_cv_t<T>>::negative> {};
template <class T> inline constexpr bool is_signed_v = is_signed<T>::value;
template <class T> struct is_unsigned : bool_constant<is_integral_v<T> && !is_signed_v<T>> {};
template <class T> inline constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T> struct is_enum : bool_constant<__is_enum(T)> {};
template <class T> inline constexpr bool is_enum_v = __is_enum(T);
template <class T> struct is_class : bool_constant<__is_class(T)> {};
template <class T> inline constexpr bool is_class_v = __is_class(T);
template <class T> struct is_union : bool_constant<__is_union(T)> {};
template <class T> struct is_empty : bool_constant<__is_empty(T)> {};
template <class T> inline constexpr bool is_empty_v = __is_empty(T);
template <class T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class T> inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);
template <class B, class D> struct is_base_of : bool_constant<__is_base_of(B, D)> {};
template <class B, class D> inline constexpr bool is_base_of_v = __is_base_of(B, D);
template <class F, class T>
struct is_convertible
    : bool_constant<kagent_shim::converts<F, T>::value || (is_void_v<F> && is_void_v<T>)> {};
template <class F, class T> inline constexpr bool is_convertible_v = is_convertible<F, T>::value;
template <class T, class... A>
struct is_constructible : bool_constant<decltype(kagent_shim::constructs<T, A...>(0))::value> {};
template <class T, class... A>
inline constexpr bool is_constructible_v = is_constructible<T, A...>::value;
template <class F, class... A> struct invoke_result { using type = decltype(kagent_shim::call<F, A...>(0)); };
template <class F, class... A> using invoke_result_t = typename invoke_result<F, A...>::type;

template <class T> struct underlying_type { using type = __underlying_type(T); };
template <class T> using underlying_type_t = typename underlying_type<T>::type;
template <class T> struct alignment_of : integral_constant<decltype(sizeof 0), alignof(T)> {};
template <class T> inline constexpr decltype(sizeof 0) alignment_of_v = alignof(T);

template <class T> struct decay {
  using bare = remove_reference_t<T>;
  using type = conditional_t<is_array_v<bare>, remove_extent_t<bare>*, remove_cv_t<bare>>;
};
template <class T> using decay_t = typename decay<T>::type;
template <class... T> struct common_type;
template <class T> struct common_type<T> { using type = decay_t<T>; };
template <class A, class B> struct common_type<A, B> {
  using type = decay_t<decltype(false ? declval<A>() : declval<B>())>;
};
template <class A, class B, class C, class... R> struct common_type<A, B, C, R...> {
  using type = typename common_type<typename common_type<A, B>::type, C, R...>::type;
};
template <class... T> using common_type_t = typename common_type<T...>::type;

template <class T> struct make_unsigned;
template <> struct make_unsigned<char> { using type = unsigned char; };
template <> struct make_unsigned<signed char> { using type = unsigned char; };
template <> struct make_unsigned<unsigned char> { using type = unsigned char; };
template <> struct make_unsigned<short> { using type = unsigned short; };
template <> struct make_unsigned<unsigned short> { using type = unsigned short; };
template <> struct make_unsigned<int> { using type = unsigned int; };
template <> struct make_unsigned<unsigned int> { using type = unsigned int; };
template <> struct make_unsigned<long> { using type = unsigned long; };
template <> struct make_unsigned<unsigned long> { using type = unsigned long; };
template <> struct make_unsigned<long long> { using type = unsigned long long; };
template <> struct make_unsigned<unsigned long long> { using type = unsigned long long; };
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> struct make_signed;
template <> struct make_signed<char> { using type = signed char; };
template <> struct make_signed<signed char> { using type = signed char; };
template <> struct make_signed<unsigned char> { using type = signed char; };
template <> struct make_signed<short> { using type = short; };
template <> struct make_signed<unsigned short> { using type = short; };
template <> struct make_signed<int> { using type = int; };
template <> struct make_signed<unsigned int> { using type = int; };
template <> struct make_signed<long> { using type = long; };
template <> struct make_signed<unsigned long> { using type = long; };
template <> struct make_signed<long long> { using type = long long; };
template <> struct make_signed<unsigned long long> { using type = long long; };
template <class T> using make_signed_t = typename make_signed<T>::type;

template <class... B> struct conjunction : true_type {};
template <class B> struct conjunction<B> : B {};
template <class B, class... R>
struct conjunction<B, R...> : conditional_t<bool(B::value), conjunction<R...>, B> {};
template <class... B> inline constexpr bool conjunction_v = conjunction<B...>::value;
template <class... B> struct disjunction : false_type {};
template <class B> struct disjunction<B> : B {};
template <class B, class... R>
struct disjunction<B, R...> : conditional_t<bool(B::value), B, disjunction<R...>> {};
template <class... B> inline constexpr bool disjunction_v = disjunction<B...>::value;
template <class B> struct negation : bool_constant<!bool(B::value)> {};
template <class B> inline constexpr bool negation_v = negation<B>::value;

__host__ __device__ constexpr bool is_constant_evaluated() noexcept {
  return __builtin_is_constant_evaluated();
}

}  // namespace std
