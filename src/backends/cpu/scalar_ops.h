// The meaning of graph/expr.h's primitives for one element, where C++'s own operators would trap, overflow or differ.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace stoker::backends::cpu::scalar {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

// Integer arithmetic wraps.
template <class T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(Unsigned<T>(a) + Unsigned<T>(b));
  else
    return a + b;
}
template <class T>
T sub(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(Unsigned<T>(a) - Unsigned<T>(b));
  else
    return a - b;
}
template <class T>
T mul(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return T(Unsigned<T>(a) * Unsigned<T>(b));
  else
    return a * b;
}
template <class T>
T neg(T a) {
  if constexpr (std::is_integral_v<T>)
    return T(Unsigned<T>(0) - Unsigned<T>(a));
  else
    return -a;
}
template <class T>
T abs(T a) {
  if constexpr (std::is_integral_v<T>)
    return a < 0 ? neg(a) : a;
  else
    return std::fabs(a);
}

// A division by zero gives 0, and the smallest by -1 wraps.
template <class T>
T div(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return b == 0 ? T(0) : b == T(-1) ? neg(a) : T(a / b);
  else
    return a / b;
}
// Integers: the sign of the divisor. Floats: C's fmod.
template <class T>
T rem(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0 || b == T(-1)) return 0;
    const T r = T(a % b);
    return r != 0 && (r < 0) != (b < 0) ? T(r + b) : r;
  } else {
    return std::fmod(a, b);
  }
}

// NaN if either is; of equals (-0 and 0) the second.
template <class T>
T min(T a, T b) {
  return a < b || a != a ? a : b;
}
template <class T>
T max(T a, T b) {
  return a > b || a != a ? a : b;
}

// Shift counts are taken modulo the width.
template <class T>
T shl(T a, T b) {
  return T(Unsigned<T>(a) << (b & (8 * int(sizeof(T)) - 1)));
}
template <class T>
T shr(T a, T b) {
  return T(a >> (b & (8 * int(sizeof(T)) - 1)));
}
template <class T>
T shr_logical(T a, T b) {
  return T(Unsigned<T>(a) >> (b & (8 * int(sizeof(T)) - 1)));
}

// C++'s conversion, but floats beyond an integer's range saturate and NaN becomes 0.
template <class To, class From>
To convert(From v) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    constexpr From limit = From(std::numeric_limits<To>::max() / 2 + 1) * 2;  // 2^31, 2^63: exact
    if (v != v) return 0;
    if (v >= limit) return std::numeric_limits<To>::max();
    if (v < -limit) return std::numeric_limits<To>::min();
  }
  return To(v);
}

}  // namespace stoker::backends::cpu::scalar
