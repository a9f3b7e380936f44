// Functions of one number, and activations.
#include "tensor/functions/call.h"

namespace stoker {

using namespace detail;

namespace {

using Function = Value (*)(const Value&);

// Integers are computed in f32.
Tensor floats(std::string_view name, Arg x, Function f) {
  const Call call(name, x.loc);
  return wrap(f(to_floating(call(x))));
}
// Integers stay what they are.
Tensor numbers(std::string_view name, Arg x, Function f) {
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

#define STOKER_FUNCTION(name, domain, ...) \
  Tensor name(Arg x) { return domain(#name, x, graph::name); }
#include <stoker/functions.inc>
#undef STOKER_FUNCTION

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

Tensor leaky_relu(Arg x, double negative_slope) {
  return activation("leaky_relu", x, negative_slope, graph::leaky_relu);
}
Tensor elu(Arg x, double alpha) { return activation("elu", x, alpha, graph::elu); }
Tensor gelu(Arg x, bool approximate) { return floats("gelu", x, approximate ? graph::gelu_tanh : graph::gelu); }

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
