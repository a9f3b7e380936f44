// Functions of one number, and activations.
#include "tensor/functions/call.h"

namespace stoker {

using namespace detail;

namespace {

using Function = Value (*)(const Value&);

// Integers are computed in f32.
Tensor floating(std::string_view name, Arg x, Function f) {
  const Call call(name, x.loc);
  return wrap(f(to_floating(call(x))));
}
// Integers stay what they are.
Tensor numeric(std::string_view name, Arg x, Function f) {
  const Call call(name, x.loc);
  return wrap(f(call(x)));
}
// Integers have nothing to round.
Tensor rounding(std::string_view name, Arg x, Function f) {
  const Call call(name, x.loc);
  const Value v = call(x);
  return wrap(is_floating(v.dtype()) ? f(v) : graph::alias(v));
}
// Integers are neither infinite nor NaN.
Tensor classify(std::string_view name, Arg x, Function f, bool of_integers) {
  const Call call(name, x.loc);
  const Value v = call(x);
  return wrap(is_floating(v.dtype()) ? f(v) : graph::full(of_integers, {DType::Bool, v.shape(), v.device()}));
}
// An activation with a parameter.
Tensor activation(std::string_view name, Arg x, double parameter, Value (*f)(const Value&, const Value&)) {
  const Call call(name, x.loc);
  const Value v = call(x);
  call.expect_floating(v);
  return wrap(f(v, graph::number_like(parameter, v)));
}

}  // namespace

Tensor abs(Arg x) { return numeric("abs", x, graph::abs); }
Tensor sign(Arg x) { return numeric("sign", x, graph::sign); }
Tensor square(Arg x) { return numeric("square", x, graph::square); }
Tensor floor(Arg x) { return rounding("floor", x, graph::floor); }
Tensor ceil(Arg x) { return rounding("ceil", x, graph::ceil); }
Tensor round(Arg x) { return rounding("round", x, graph::round); }
Tensor trunc(Arg x) { return rounding("trunc", x, graph::trunc); }
Tensor exp(Arg x) { return floating("exp", x, graph::exp); }
Tensor exp2(Arg x) { return floating("exp2", x, graph::exp2); }
Tensor expm1(Arg x) { return floating("expm1", x, graph::expm1); }
Tensor log(Arg x) { return floating("log", x, graph::log); }
Tensor log2(Arg x) { return floating("log2", x, graph::log2); }
Tensor log10(Arg x) { return floating("log10", x, graph::log10); }
Tensor log1p(Arg x) { return floating("log1p", x, graph::log1p); }
Tensor sqrt(Arg x) { return floating("sqrt", x, graph::sqrt); }
Tensor rsqrt(Arg x) { return floating("rsqrt", x, graph::rsqrt); }
Tensor reciprocal(Arg x) { return floating("reciprocal", x, graph::reciprocal); }
Tensor sin(Arg x) { return floating("sin", x, graph::sin); }
Tensor cos(Arg x) { return floating("cos", x, graph::cos); }
Tensor tan(Arg x) { return floating("tan", x, graph::tan); }
Tensor asin(Arg x) { return floating("asin", x, graph::asin); }
Tensor acos(Arg x) { return floating("acos", x, graph::acos); }
Tensor atan(Arg x) { return floating("atan", x, graph::atan); }
Tensor sinh(Arg x) { return floating("sinh", x, graph::sinh); }
Tensor cosh(Arg x) { return floating("cosh", x, graph::cosh); }
Tensor tanh(Arg x) { return floating("tanh", x, graph::tanh); }
Tensor erf(Arg x) { return floating("erf", x, graph::erf); }
Tensor isnan(Arg x) { return classify("isnan", x, graph::isnan, false); }
Tensor isinf(Arg x) { return classify("isinf", x, graph::isinf, false); }
Tensor isfinite(Arg x) { return classify("isfinite", x, graph::isfinite, true); }

Tensor clamp(Arg x, std::optional<Scalar> min, std::optional<Scalar> max) {
  const Call call("clamp", x.loc);
  Value v = call(x);
  if (!min && !max) call.value_error("expected a lower bound, an upper bound or both");
  Promotion types = Promotion() << v;
  if (min) types << *min;
  if (max) types << *max;
  v = graph::cast(v, types.dtype());
  if (min) v = graph::clamp_min(v, call.number(*min, v.dtype(), v.device()));
  if (max) v = graph::clamp_max(v, call.number(*max, v.dtype(), v.device()));
  return wrap(v);
}

Tensor relu(Arg x) { return numeric("relu", x, graph::relu); }
Tensor leaky_relu(Arg x, double negative_slope) {
  return activation("leaky_relu", x, negative_slope, graph::leaky_relu);
}
Tensor elu(Arg x, double alpha) { return activation("elu", x, alpha, graph::elu); }
Tensor gelu(Arg x, bool approximate) { return floating("gelu", x, approximate ? graph::gelu_tanh : graph::gelu); }
Tensor sigmoid(Arg x) { return floating("sigmoid", x, graph::sigmoid); }
Tensor silu(Arg x) { return floating("silu", x, graph::silu); }
Tensor mish(Arg x) { return floating("mish", x, graph::mish); }
Tensor log_sigmoid(Arg x) { return floating("log_sigmoid", x, graph::log_sigmoid); }
Tensor hardsigmoid(Arg x) { return floating("hardsigmoid", x, graph::hardsigmoid); }
Tensor hardswish(Arg x) { return floating("hardswish", x, graph::hardswish); }

Tensor softplus(Arg x, double beta, double threshold) {
  const Call call("softplus", x.loc);
  const Value v = to_floating(call(x));
  return wrap(graph::softplus(v, graph::number_like(beta, v), graph::number_like(threshold, v)));
}

Tensor hardtanh(Arg x, double min, double max) {
  const Call call("hardtanh", x.loc);
  const Value v = call(x);
  if (!(min <= max)) call.value_error(fmt::format("expected min <= max, got {} and {}", min, max));
  return wrap(graph::hardtanh(v, call.number(min, v.dtype(), v.device()), call.number(max, v.dtype(), v.device())));
}

}  // namespace stoker
