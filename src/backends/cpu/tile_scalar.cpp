// Tile instructions as plain loops: 64-bit lanes, conversions to and from them, and what vectors have no instruction
// for.
#include <cmath>
#include <tuple>

#include "backends/cpu/scalar_ops.h"
#include "backends/cpu/tile_ops.h"

namespace stoker::backends::cpu {
namespace {

using graph::ExprInst;
using graph::Lane;
using graph::Prim;

template <class F, class To, class... From, size_t... K>
void map(const TileCall& call, std::index_sequence<K...>) {
  const F f;
  To* out = static_cast<To*>(call.out);
  const std::tuple<const From*...> in{static_cast<const From*>(call.in[K])...};
  if (((call.step[K] == 1) && ...)) {
    for (int64_t i = 0; i < call.count; ++i) out[i] = f(std::get<K>(in)[i]...);
  } else {
    for (int64_t i = 0; i < call.count; ++i) out[i] = f(std::get<K>(in)[i * call.step[K]]...);
  }
}
template <class F, class To, class... From>
void map(const TileCall& call) {
  map<F, To, From...>(call, std::index_sequence_for<From...>());
}

// Instructions whose operands and result are of one type.
template <class T, class F>
TileFunction unary(F) {
  return map<F, T, T>;
}
template <class T, class F>
TileFunction binary(F) {
  return map<F, T, T, T>;
}
template <class T, class F>
TileFunction compare(F) {
  return map<F, int32_t, T, T>;
}

template <class T>
TileFunction find_common(Prim prim) {
  switch (prim) {
    case Prim::Add:
      return binary<T>([](T a, T b) { return scalar::add(a, b); });
    case Prim::Sub:
      return binary<T>([](T a, T b) { return scalar::sub(a, b); });
    case Prim::Mul:
      return binary<T>([](T a, T b) { return scalar::mul(a, b); });
    case Prim::Div:
      return binary<T>([](T a, T b) { return scalar::div(a, b); });
    case Prim::Rem:
      return binary<T>([](T a, T b) { return scalar::rem(a, b); });
    case Prim::Min:
      return binary<T>([](T a, T b) { return scalar::min(a, b); });
    case Prim::Max:
      return binary<T>([](T a, T b) { return scalar::max(a, b); });
    case Prim::Neg:
      return unary<T>([](T a) { return scalar::neg(a); });
    case Prim::Abs:
      return unary<T>([](T a) { return scalar::abs(a); });
    case Prim::Lt:
      return compare<T>([](T a, T b) { return int32_t(a < b); });
    case Prim::Le:
      return compare<T>([](T a, T b) { return int32_t(a <= b); });
    case Prim::Eq:
      return compare<T>([](T a, T b) { return int32_t(a == b); });
    case Prim::Ne:
      return compare<T>([](T a, T b) { return int32_t(a != b); });
    case Prim::Select: {
      constexpr auto select = [](int32_t c, T a, T b) { return c != 0 ? a : b; };
      return map<decltype(select), T, int32_t, T, T>;
    }
    default:
      return nullptr;
  }
}

double lgamma_of(double a) {
  int sign;
  return lgamma_r(a, &sign);  // std::lgamma writes a global
}

TileFunction find_f64(Prim prim) {
  using T = double;
  switch (prim) {
    case Prim::Fma: {
      constexpr auto fma = [](T a, T b, T c) { return std::fma(a, b, c); };
      return map<decltype(fma), T, T, T, T>;
    }
    case Prim::Pow:
      return binary<T>([](T a, T b) { return std::pow(a, b); });
    case Prim::Sqrt:
      return unary<T>([](T a) { return std::sqrt(a); });
    case Prim::Floor:
      return unary<T>([](T a) { return std::floor(a); });
    case Prim::Ceil:
      return unary<T>([](T a) { return std::ceil(a); });
    case Prim::Round:
      return unary<T>([](T a) { return std::nearbyint(a); });
    case Prim::Trunc:
      return unary<T>([](T a) { return std::trunc(a); });
    case Prim::Exp:
      return unary<T>([](T a) { return std::exp(a); });
    case Prim::Log:
      return unary<T>([](T a) { return std::log(a); });
    case Prim::Sin:
      return unary<T>([](T a) { return std::sin(a); });
    case Prim::Cos:
      return unary<T>([](T a) { return std::cos(a); });
    case Prim::Tanh:
      return unary<T>([](T a) { return std::tanh(a); });
    case Prim::Erf:
      return unary<T>([](T a) { return std::erf(a); });
    case Prim::Log1p:
      return unary<T>([](T a) { return std::log1p(a); });
    case Prim::Expm1:
      return unary<T>([](T a) { return std::expm1(a); });
    case Prim::Atan:
      return unary<T>([](T a) { return std::atan(a); });
    case Prim::Asin:
      return unary<T>([](T a) { return std::asin(a); });
    case Prim::Acos:
      return unary<T>([](T a) { return std::acos(a); });
    case Prim::Sinh:
      return unary<T>([](T a) { return std::sinh(a); });
    case Prim::Cosh:
      return unary<T>([](T a) { return std::cosh(a); });
    case Prim::Tan:
      return unary<T>([](T a) { return std::tan(a); });
    case Prim::Lgamma:
      return unary<T>([](T a) { return lgamma_of(a); });
    default:
      return find_common<T>(prim);
  }
}

template <class T>
TileFunction find_narrow(DType to) {
  switch (to) {
    case DType::Bool:
      return unary<T>([](T a) { return T(a != 0); });
    case DType::U8:
      return unary<T>([](T a) { return T(uint8_t(a)); });
    case DType::I8:
      return unary<T>([](T a) { return T(int8_t(a)); });
    case DType::I16:
      return unary<T>([](T a) { return T(int16_t(a)); });
    case DType::I32:
      return unary<T>([](T a) { return T(int32_t(a)); });
    default:
      return nullptr;
  }
}

template <class T>
TileFunction find_integer(const ExprInst& inst) {
  switch (inst.prim) {
    case Prim::And:
      return binary<T>([](T a, T b) { return T(a & b); });
    case Prim::Or:
      return binary<T>([](T a, T b) { return T(a | b); });
    case Prim::Xor:
      return binary<T>([](T a, T b) { return T(a ^ b); });
    case Prim::Not:
      return unary<T>([](T a) { return T(a == 0); });
    case Prim::Shl:
      return binary<T>([](T a, T b) { return scalar::shl(a, b); });
    case Prim::Shr:
      return binary<T>([](T a, T b) { return scalar::shr(a, b); });
    case Prim::ShrLogical:
      return binary<T>([](T a, T b) { return scalar::shr_logical(a, b); });
    case Prim::Narrow:
      return find_narrow<T>(DType(inst.imm));
    default:
      return find_common<T>(inst.prim);
  }
}

TileFunction find_f32(const ExprInst& inst) {
  if (inst.prim == Prim::Fma) {
    constexpr auto fma = [](float a, float b, float c) { return std::fma(a, b, c); };
    return map<decltype(fma), float, float, float, float>;
  }
  if (inst.prim == Prim::Narrow && DType(inst.imm) == DType::F16)
    return unary<float>([](float a) { return float(Half(a)); });
  if (inst.prim == Prim::Narrow && DType(inst.imm) == DType::BF16)
    return unary<float>([](float a) { return float(BFloat16(a)); });
  return find_common<float>(inst.prim);
}

template <class From, class To>
TileFunction conversion() {
  constexpr auto convert = [](From v) { return scalar::convert<To>(v); };
  return map<decltype(convert), To, From>;
}
template <class From>
TileFunction find_cast(Lane to) {
  switch (to) {
    case Lane::F32:
      return conversion<From, float>();
    case Lane::F64:
      return conversion<From, double>();
    case Lane::I32:
      return conversion<From, int32_t>();
    case Lane::I64:
      break;
  }
  return conversion<From, int64_t>();
}

}  // namespace

TileFunction find_scalar_compute(const ExprInst& inst, Lane from) {
  const bool cast = inst.prim == Prim::Cast;
  switch (cast ? from : inst.lane) {
    case Lane::F32:
      return cast ? find_cast<float>(inst.lane) : find_f32(inst);
    case Lane::F64:
      return cast ? find_cast<double>(inst.lane) : find_f64(inst.prim);
    case Lane::I32:
      return cast ? find_cast<int32_t>(inst.lane) : find_integer<int32_t>(inst);
    case Lane::I64:
      break;
  }
  return cast ? find_cast<int64_t>(inst.lane) : find_integer<int64_t>(inst);
}

}  // namespace stoker::backends::cpu
