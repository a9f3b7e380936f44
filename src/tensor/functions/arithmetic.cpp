// Arithmetic, comparison and logic of two operands, and selection.
#include <cmath>

#include "tensor/functions/call.h"

namespace stoker {

using namespace detail;

namespace {

enum class Computes { Promoted, Floating };

struct Operands {
  Value a, b;
};

DType computing_dtype(const Promotion& types, Computes computes) {
  return computes == Computes::Floating ? to_floating(types.dtype()) : types.dtype();
}

Operands operands(const Call& call, Arg a, Arg b, Computes computes) {
  const Value x = call(a), y = call(b);
  const DType dtype = computing_dtype(Promotion() << x << y, computes);
  return {graph::cast(x, dtype), graph::cast(y, dtype)};
}
Operands operands(const Call& call, Arg a, Scalar b, Computes computes) {
  const Value x = call(a);
  const DType dtype = computing_dtype(Promotion() << x << b, computes);
  return {graph::cast(x, dtype), call.number(b, dtype, x.device())};
}
Operands operands(const Call& call, Scalar a, Arg b, Computes computes) {
  const auto [y, x] = operands(call, b, a, computes);
  return {x, y};
}

Loc line_of(const Arg& a, const auto&) { return a.loc; }
Loc line_of(Scalar, const Arg& b) { return b.loc; }

template <class A, class B>
Tensor binary(std::string_view name, A a, B b, Value (*f)(const Value&, const Value&),
              Computes computes = Computes::Promoted) {
  const Call call(name, line_of(a, b));
  const auto [x, y] = operands(call, a, b, computes);
  return wrap(f(x, y));
}

Value to_bool(const Value& x) { return graph::cast(x, DType::Bool); }

}  // namespace

// --- arithmetic ------------------------------------------------------------------------------------------------------

Tensor add(Arg a, Arg b) { return binary("add", a, b, graph::add); }
Tensor sub(Arg a, Arg b) { return binary("sub", a, b, graph::sub); }
Tensor mul(Arg a, Arg b) { return binary("mul", a, b, graph::mul); }
Tensor div(Arg a, Arg b) { return binary("div", a, b, graph::div, Computes::Floating); }
Tensor floor_divide(Arg a, Arg b) { return binary("floor_divide", a, b, graph::floor_divide); }
Tensor div_trunc(Arg a, Arg b) { return binary("div_trunc", a, b, graph::div_trunc); }
Tensor remainder(Arg a, Arg b) { return binary("remainder", a, b, graph::remainder); }
Tensor fmod(Arg a, Arg b) { return binary("fmod", a, b, graph::fmod); }
Tensor pow(Arg a, Arg b) { return binary("pow", a, b, graph::pow); }
Tensor maximum(Arg a, Arg b) { return binary("maximum", a, b, graph::maximum); }
Tensor minimum(Arg a, Arg b) { return binary("minimum", a, b, graph::minimum); }
Tensor atan2(Arg a, Arg b) { return binary("atan2", a, b, graph::atan2, Computes::Floating); }

Tensor add(Arg a, Scalar b) { return binary("add", a, b, graph::add); }
Tensor sub(Arg a, Scalar b) { return binary("sub", a, b, graph::sub); }
Tensor sub(Scalar a, Arg b) { return binary("sub", a, b, graph::sub); }
Tensor mul(Arg a, Scalar b) { return binary("mul", a, b, graph::mul); }
Tensor div(Arg a, Scalar b) { return binary("div", a, b, graph::div, Computes::Floating); }
Tensor div(Scalar a, Arg b) { return binary("div", a, b, graph::div, Computes::Floating); }
Tensor floor_divide(Arg a, Scalar b) { return binary("floor_divide", a, b, graph::floor_divide); }
Tensor remainder(Arg a, Scalar b) { return binary("remainder", a, b, graph::remainder); }
Tensor fmod(Arg a, Scalar b) { return binary("fmod", a, b, graph::fmod); }
Tensor pow(Scalar a, Arg b) { return binary("pow", a, b, graph::pow); }
Tensor maximum(Arg a, Scalar b) { return binary("maximum", a, b, graph::maximum); }
Tensor minimum(Arg a, Scalar b) { return binary("minimum", a, b, graph::minimum); }

// The exponents that PyTorch computes without pow, with the same bits.
Tensor pow(Arg a, Scalar b) {
  const Call call("pow", a.loc);
  const auto [x, exponent] = operands(call, a, b, Computes::Promoted);
  const double e = b.to_double();
  if (e == 1) return wrap(graph::alias(x));
  if (e == 2) return wrap(graph::square(x));
  if (e == 3) return wrap(graph::square(x) * x);
  if (!is_floating(x.dtype())) {
    if (e < 0)
      call.value_error(
          fmt::format("expected an exponent of at least 0 for integers, got {}; convert the base to floating", e));
  } else if (e == 0.5) {
    return wrap(graph::sqrt(x));
  } else if (e == -0.5) {
    return wrap(graph::rsqrt(x));
  } else if (e == -1) {
    return wrap(graph::reciprocal(x));
  }
  return wrap(graph::pow(x, exponent));
}

// --- comparison and logic --------------------------------------------------------------------------------------------

Tensor eq(Arg a, Arg b) { return binary("eq", a, b, graph::eq); }
Tensor ne(Arg a, Arg b) { return binary("ne", a, b, graph::ne); }
Tensor lt(Arg a, Arg b) { return binary("lt", a, b, graph::lt); }
Tensor le(Arg a, Arg b) { return binary("le", a, b, graph::le); }
Tensor gt(Arg a, Arg b) { return binary("gt", a, b, graph::gt); }
Tensor ge(Arg a, Arg b) { return binary("ge", a, b, graph::ge); }
Tensor eq(Arg a, Scalar b) { return binary("eq", a, b, graph::eq); }
Tensor ne(Arg a, Scalar b) { return binary("ne", a, b, graph::ne); }
Tensor lt(Arg a, Scalar b) { return binary("lt", a, b, graph::lt); }
Tensor le(Arg a, Scalar b) { return binary("le", a, b, graph::le); }
Tensor gt(Arg a, Scalar b) { return binary("gt", a, b, graph::gt); }
Tensor ge(Arg a, Scalar b) { return binary("ge", a, b, graph::ge); }

Tensor logical_and(Arg a, Arg b) {
  const Call call("logical_and", a.loc);
  return wrap(graph::bitwise_and(to_bool(call(a)), to_bool(call(b))));
}
Tensor logical_or(Arg a, Arg b) {
  const Call call("logical_or", a.loc);
  return wrap(graph::bitwise_or(to_bool(call(a)), to_bool(call(b))));
}
Tensor logical_xor(Arg a, Arg b) {
  const Call call("logical_xor", a.loc);
  return wrap(graph::bitwise_xor(to_bool(call(a)), to_bool(call(b))));
}
Tensor logical_not(Arg x) {
  const Call call("logical_not", x.loc);
  return wrap(graph::eq(call(x), 0));
}
Tensor bitwise_and(Arg a, Arg b) { return binary("bitwise_and", a, b, graph::bitwise_and); }
Tensor bitwise_or(Arg a, Arg b) { return binary("bitwise_or", a, b, graph::bitwise_or); }
Tensor bitwise_xor(Arg a, Arg b) { return binary("bitwise_xor", a, b, graph::bitwise_xor); }

// --- selection -------------------------------------------------------------------------------------------------------

Tensor where(Arg condition, Arg a, Arg b) {
  const Call call("where", condition.loc);
  const auto [x, y] = operands(call, a, b, Computes::Promoted);
  return wrap(graph::where(call(condition), x, y));
}
Tensor where(Arg condition, Arg a, Scalar b) {
  const Call call("where", condition.loc);
  const auto [x, y] = operands(call, a, b, Computes::Promoted);
  return wrap(graph::where(call(condition), x, y));
}
Tensor where(Arg condition, Scalar a, Arg b) {
  const Call call("where", condition.loc);
  const auto [x, y] = operands(call, a, b, Computes::Promoted);
  return wrap(graph::where(call(condition), x, y));
}
Tensor masked_fill(Arg x, Arg mask, Scalar value) {
  const Call call("masked_fill", x.loc);
  const Value v = call(x);
  return wrap(graph::where(call(mask), call.number(value, v.dtype(), v.device()), v));
}

}  // namespace stoker
