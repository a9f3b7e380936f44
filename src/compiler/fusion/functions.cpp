// Functions of 32-bit floats from arithmetic alone, so that every backend computes the same bits. Sources: the
// single-precision minimax polynomials of Cephes (exp, log, atan, asin), and a rational approximation of erf fitted on
// [-3.9, 3.9]. Errors against float64, over the whole range, are asserted in tests/compiler/functions_test.cpp.
#include "compiler/fusion/functions.h"

#include <bit>
#include <initializer_list>
#include <limits>
#include <numbers>

namespace stoker::compiler {
namespace {

using namespace graph;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kLog2e = std::numbers::log2e;
// ln 2 in two parts: the upper has few bits, so that n * upper is exact.
constexpr double kLn2High = 0.693359375, kLn2Low = -2.12194440e-4;

Ex integer(Ex near, int64_t value) {
  return {near.builder(), near.builder()->emit({Prim::Const, Lane::I32, -1, -1, -1, uint64_t(value)})};
}
Ex bits(Ex x, Lane lane) { return {x.builder(), x.builder()->emit({Prim::Bits, lane, x.id(), -1, -1, 0})}; }
Ex shift_left(Ex a, int n) { return emit(Prim::Shl, a, a.literal(n)); }

// Horner's scheme, highest power first.
Ex polynomial(Ex x, std::initializer_list<double> coefficients) {
  auto it = coefficients.begin();
  Ex p = x.literal(*it++);
  for (; it != coefficients.end(); ++it) p = fma(p, x, x.literal(*it));
  return p;
}

// 2^n for a float n that is an integer in the exponent's range.
Ex power_of_two(Ex n) {
  Ex biased = cast(n, Lane::I32) + integer(n, 127);
  return bits(shift_left(biased, 23), Lane::F32);
}

// x = n ln 2 + r with |r| <= ln 2 / 2; and exp(r) - 1.
struct Reduced {
  Ex n, expm1;
};
Reduced reduce_exp(Ex x) {
  Ex n = round(x * kLog2e);
  Ex r = fma(n, x.literal(-kLn2High), x);
  r = fma(n, x.literal(-kLn2Low), r);
  Ex p = polynomial(
      r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  return {n, fma(p, r * r, r)};
}

Ex exp_f32(Ex x) {
  Reduced e = reduce_exp(max(min(x, x.literal(89.0)), x.literal(-104.0)));
  // Two factors, because 2^128 and 2^-149 are not floats.
  Ex half = floor(e.n * 0.5);
  return (e.expm1 + 1.0) * power_of_two(half) * power_of_two(e.n - half);
}

Ex expm1_f32(Ex x) {
  Reduced e = reduce_exp(max(min(x, x.literal(88.0)), x.literal(-20.0)));
  Ex scale = power_of_two(e.n);
  Ex y = select(x > 88.0, exp_f32(x), fma(scale, e.expm1, scale - 1.0));
  return select(equal(x, x.literal(0)), x, y);  // -0 stays -0
}

Ex log_f32(Ex x) {
  // Subnormal numbers are scaled up first.
  Ex tiny = x < 0x1p-126;
  Ex scaled = select(tiny, x * 0x1p23, x);
  Ex i = bits(scaled, Lane::I32);
  // The mantissa in [sqrt(1/2), sqrt(2)), the exponent to match.
  Ex shifted = i - i.literal(0x3f3504f3);
  Ex e = cast(emit(Prim::Shr, shifted, i.literal(23)), Lane::F32);
  Ex mantissa = bits((shifted & i.literal(0x007fffff)) + i.literal(0x3f3504f3), Lane::F32);
  e = select(tiny, e - 23.0, e);
  Ex m = mantissa - 1.0, z = m * m;
  Ex y = polynomial(m, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                        -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  y = y * m * z;
  y = fma(e, x.literal(kLn2Low), y);
  y = fma(z, x.literal(-0.5), y);
  Ex result = fma(e, x.literal(kLn2High), m + y);
  result = select(x < kInf, result, x);  // infinity and NaN stay
  result = select(x <= 0.0,
                  select(equal(x, x.literal(0)), x.literal(-kInf), x.literal(std::numeric_limits<double>::quiet_NaN())),
                  result);
  return result;
}

Ex log1p_f32(Ex x) {
  // The rounding of 1 + x is undone by the quotient.
  Ex u = x + 1.0;
  Ex corrected = log_f32(u) * (x / (u - 1.0));
  return select(equal(u, u.literal(1)), x, select(u < kInf, corrected, log_f32(u)));
}

Ex copy_sign(Ex magnitude, Ex sign) {
  Ex s = bits(sign, Lane::I32);
  Ex m = bits(magnitude, Lane::I32);
  return bits(m | (s & s.literal_bits(uint64_t(int64_t(std::numeric_limits<int32_t>::min())))), Lane::F32);
}

Ex tanh_f32(Ex x) {
  Ex y = min(abs(x) * 2.0, x.literal(20.0));
  Reduced r = reduce_exp(y);
  Ex scale = power_of_two(r.n);
  Ex e = fma(scale, r.expm1, scale - 1.0);
  return copy_sign(e / (e + 2.0), x);
}

Ex erf_f32(Ex x) {
  Ex c = max(min(x, x.literal(3.832506856900711)), x.literal(-3.832506856900711));
  Ex z = c * c;
  Ex numerator = polynomial(
      z, {0.00022905065861350646, 0.0034082910107109506, 0.050955695062380861, 0.18520832239976145, 1.128379143519084});
  Ex denominator = polynomial(z, {-1.1791602954361697e-7, 0.000023547966471313185, 0.0010179625278914885,
                                  0.014070470171167667, 0.11098505178285362, 0.49746925110067538, 1.0});
  return c * numerator / denominator;
}

// Through double precision and the C library, where reducing huge arguments and all special cases are right.
Ex through_f64(Prim prim, Ex x) { return cast(emit(prim, cast(x, Lane::F64)), Lane::F32); }

Ex sinh_f32(Ex x) {
  Ex a = abs(x);
  Ex e = expm1_f32(min(a, a.literal(88.0)));
  Ex small = (e + e / (e + 1.0)) * 0.5;
  Ex root = exp_f32(a * 0.5);
  return copy_sign(select(a > 88.0, root * 0.5 * root, small), x);
}
Ex cosh_f32(Ex x) {
  Ex root = exp_f32(abs(x) * 0.5);
  return root * 0.5 * root + 0.5 / root / root;
}

Ex atan_f32(Ex x) {
  Ex a = abs(x);
  Ex large = a > 2.414213562373095, middle = a > 0.4142135623730950;
  Ex t = select(large, -1.0 / a, select(middle, (a - 1.0) / (a + 1.0), a));
  Ex base =
      select(large, a.literal(std::numbers::pi / 2), select(middle, a.literal(std::numbers::pi / 4), a.literal(0)));
  Ex z = t * t;
  Ex p = polynomial(z, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
  return copy_sign(base + fma(p, z * t, t), x);
}

// asin of t in [0, 1/2].
Ex small_asin(Ex t) {
  Ex z = t * t;
  return fma(polynomial(z, {4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2, 7.4953002686e-2, 1.6666752422e-1}),
             z * t, t);
}
Ex asin_f32(Ex x) {
  Ex a = abs(x), big = a > 0.5;
  Ex s = small_asin(select(big, sqrt((1.0 - a) * 0.5), a));
  return copy_sign(select(big, std::numbers::pi / 2 - s * 2.0, s), x);
}
Ex acos_f32(Ex x) {
  Ex a = abs(x), big = a > 0.5;
  Ex s = small_asin(select(big, sqrt((1.0 - a) * 0.5), a));
  Ex far = select(x < 0.0, std::numbers::pi - s * 2.0, s * 2.0);
  return select(big, far, std::numbers::pi / 2 - copy_sign(s, x));
}

Ex pow_f32(Ex x, Ex y) { return cast(emit(Prim::Pow, cast(x, Lane::F64), cast(y, Lane::F64)), Lane::F32); }

}  // namespace

bool is_function(Prim prim) { return prim >= Prim::Exp; }

Ex expand_function(Prim prim, Ex a, Ex b) {
  switch (prim) {
    case Prim::Exp:
      return exp_f32(a);
    case Prim::Log:
      return log_f32(a);
    case Prim::Tanh:
      return tanh_f32(a);
    case Prim::Erf:
      return erf_f32(a);
    case Prim::Log1p:
      return log1p_f32(a);
    case Prim::Expm1:
      return expm1_f32(a);
    case Prim::Pow:
      return pow_f32(a, b);
    case Prim::Atan:
      return atan_f32(a);
    case Prim::Asin:
      return asin_f32(a);
    case Prim::Acos:
      return acos_f32(a);
    case Prim::Sinh:
      return sinh_f32(a);
    case Prim::Cosh:
      return cosh_f32(a);
    default:
      return through_f64(prim, a);  // sin, cos, tan, lgamma
  }
}

}  // namespace stoker::compiler
