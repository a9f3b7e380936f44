#include "graph/ops/rows.h"

namespace stoker::graph {

using namespace rows;

namespace {

int axis_of(const Attrs& attrs) { return attrs.get<AxisAttrs>().axis; }

// x less its largest, in f32 for halves: exp cannot overflow.
Value shifted(const Value& x, int axis) { return widen(x) - amax(widen(x), {axis}, true); }

std::vector<Value> compose_softmax(std::span<const Value> in, const Attrs& attrs) {
  const Value& x = in[0];
  if (x.type().elements() == 0) return {x};
  const Value e = exp(shifted(x, axis_of(attrs)));
  return {unwiden(e / sum(e, {axis_of(attrs)}, true), x.dtype())};
}

std::vector<Value> compose_log_softmax(std::span<const Value> in, const Attrs& attrs) {
  const Value& x = in[0];
  if (x.type().elements() == 0) return {x};
  const Value s = shifted(x, axis_of(attrs));
  return {unwiden(s - log(sum(exp(s), {axis_of(attrs)}, true)), x.dtype())};
}

std::vector<Value> softmax_gradient(Grad c) {
  const Value y = widen(c.out()), dy = widen(c.dy());
  return {y * (dy - sum(dy * y, {axis_of(c.node.attrs())}, true))};
}

std::vector<Value> log_softmax_gradient(Grad c) {
  const Value dy = widen(c.dy());
  return {dy - exp(widen(c.out())) * sum(dy, {axis_of(c.node.attrs())}, true)};
}

std::vector<TensorType> softmax_type(const InferContext& c) {
  expect(c, Takes::Floating);
  const int axis = axis_of(c.attrs);
  if (axis < 0 || axis >= c.in(0).shape.rank())
    c.shape_error(fmt::format("expected an axis of shape {}, got {}", to_string(c.in(0).shape), axis));
  return {c.in(0)};
}

}  // namespace

void register_softmax() {
  define({.name = "softmax",
          .doc = "exp(x) / sum(exp(x)) along an axis",
          .infer = softmax_type,
          .gradient = softmax_gradient,
          .saves = Saves::out({0}),
          .compose = compose_softmax,
          .flops = flops_per_input(5)});
  define({.name = "log_softmax",
          .doc = "x - log(sum(exp(x))) along an axis",
          .infer = softmax_type,
          .gradient = log_softmax_gradient,
          .saves = Saves::out({0}),
          .compose = compose_log_softmax,
          .flops = flops_per_input(5)});
}

}  // namespace stoker::graph
