// Elements as kernels compute with them.
#pragma once

#include <cstdint>
#include <type_traits>

#include <stoker/dtype.h>

namespace stoker::backends::cpu {

template <class T>
inline constexpr bool is_half_type = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// What sums of T are kept in.
template <class T>
using accumulator_of =
    std::conditional_t<is_half_type<T>, float, std::conditional_t<std::is_floating_point_v<T>, T, int64_t>>;

// What arithmetic on T happens in.
template <class T>
using compute_of = std::conditional_t<is_half_type<T>, float, T>;

template <class A, class T>
inline A load_as(T x) {
  if constexpr (is_half_type<T>)
    return A(float(x));
  else
    return static_cast<A>(x);
}

template <class T, class A>
inline T store_as(A x) {
  if constexpr (is_half_type<T>)
    return T(float(x));
  else
    return static_cast<T>(x);
}

}  // namespace stoker::backends::cpu
