// Reductions, and the functions that order elements along an axis.
#include "base/warn.h"
#include "tensor/functions/call.h"

namespace stoker {

using namespace detail;

namespace {

using Reduce = Value (*)(const Value&, const Dims&, bool);

Tensor reduce(std::string_view name, Arg x, const Dims& axes, bool keepdim, Reduce f) {
  const Call call(name, x.loc);
  const Value v = call(x);
  return wrap(f(v, call.axes(axes, v), keepdim));
}

Tensor floating_reduce(std::string_view name, Arg x, const Dims& axes, bool keepdim, Reduce f) {
  const Call call(name, x.loc);
  const Value v = call(x);
  call.expect_floating(v);
  return wrap(f(v, call.axes(axes, v), keepdim));
}

// A 0-d tensor is a line of one element to functions of one axis.
Value line(const Value& x) { return x.rank() > 0 ? x : graph::reshape(x, {1}); }

using ArgReduce = Value (*)(const Value&, int, bool);

Tensor arg_reduce(std::string_view name, Arg x, std::optional<int64_t> axis, bool keepdim, ArgReduce f) {
  const Call call(name, x.loc);
  const Value v = call(x);
  if (!axis) {
    const Value index = f(graph::reshape(v, {v.type().elements()}), 0, false);
    return wrap(keepdim ? graph::reshape(index, Dims::filled(v.rank(), 1)) : index);
  }
  const Value index = f(line(v), call.axis(*axis, v), keepdim);
  return wrap(v.rank() > 0 ? index : graph::reshape(index, {}));
}

std::pair<Tensor, Tensor> extreme(std::string_view name, Arg x, int64_t axis, bool keepdim, ArgReduce f) {
  const Call call(name, x.loc);
  const Value v = call(x), along = line(v);
  const int a = call.axis(axis, v);
  Value index = f(along, a, true), value = graph::gather(along, a, index);
  if (!keepdim || v.rank() == 0) index = graph::squeeze(index, a), value = graph::squeeze(value, a);
  return wrap(std::pair(value, index));
}

std::pair<Value, Value> like(const Value& x, std::pair<Value, Value> values) {
  if (x.rank() > 0) return values;
  return {graph::reshape(values.first, {}), graph::reshape(values.second, {})};
}

}  // namespace

Tensor sum(Arg x, const Dims& axes, bool keepdim) { return reduce("sum", x, axes, keepdim, graph::sum); }
Tensor prod(Arg x, const Dims& axes, bool keepdim) { return reduce("prod", x, axes, keepdim, graph::prod); }
Tensor amax(Arg x, const Dims& axes, bool keepdim) { return reduce("amax", x, axes, keepdim, graph::amax); }
Tensor amin(Arg x, const Dims& axes, bool keepdim) { return reduce("amin", x, axes, keepdim, graph::amin); }
Tensor mean(Arg x, const Dims& axes, bool keepdim) { return floating_reduce("mean", x, axes, keepdim, graph::mean); }

namespace {

// As PyTorch does: the result is NaN, and the reason is easily overlooked.
void warn_of_freedom(const Call& call, const Value& x, const Dims& axes, int64_t correction) {
  int64_t count = 1;
  for (int64_t a : axes) count *= x.shape()[int(a)];
  if (count > correction) return;
  const std::string line = call.loc() ? " at " + to_string(call.loc()) : "";
  warn(fmt::format("[{}]{}: {} elements less a correction of {} leave no degree of freedom; the result is NaN",
                   call.name(), line, count, correction));
}

}  // namespace

Tensor var(Arg x, const Dims& axes, int64_t correction, bool keepdim) {
  const Call call("var", x.loc);
  const Value v = call(x);
  call.expect_floating(v);
  const Dims along = call.axes(axes, v);
  warn_of_freedom(call, v, along, correction);
  return wrap(graph::variance(v, along, correction, keepdim));
}

Tensor std(Arg x, const Dims& axes, int64_t correction, bool keepdim) {
  const Call call("std", x.loc);
  const Value v = call(x);
  call.expect_floating(v);
  const Dims along = call.axes(axes, v);
  warn_of_freedom(call, v, along, correction);
  const Value variance = graph::variance(graph::widen(v), along, correction, keepdim);
  return wrap(graph::unwiden(graph::root(variance), v.dtype()));
}

Tensor logsumexp(Arg x, const Dims& axes, bool keepdim) {
  const Call call("logsumexp", x.loc);
  const Value v = to_floating(call(x)), wide = graph::widen(v);
  const Dims along = call.axes(axes, v);
  // Of nothing, the logarithm of 0; of infinities, no difference of infinities.
  if (v.type().elements() == 0) return wrap(graph::log(graph::sum(v, along, keepdim)));
  Value largest = graph::detach(graph::amax(wide, along, true));
  largest = graph::where(graph::isfinite(largest), largest, 0);
  const Value total = graph::log(graph::sum(graph::exp(wide - largest), along, true)) + largest;
  Shape shape = total.shape();
  if (!keepdim)
    for (int i = along.rank() - 1; i >= 0; --i) shape.erase(int(along[i]));
  return wrap(graph::unwiden(graph::reshape(total, shape), v.dtype()));
}

Tensor norm(Arg x, const Dims& axes, bool keepdim) {
  const Call call("norm", x.loc);
  const Value v = call(x);
  call.expect_floating(v);
  const Value squares = graph::sum(graph::square(graph::widen(v)), call.axes(axes, v), keepdim);
  return wrap(graph::unwiden(graph::root(squares), v.dtype()));
}

// Counted, so that they are defined for nothing; NaN counts as true.
Tensor all(Arg x, const Dims& axes, bool keepdim) {
  const Call call("all", x.loc);
  const Value v = call(x);
  return wrap(graph::eq(graph::sum(graph::eq(v, 0), call.axes(axes, v), keepdim), 0));
}
Tensor any(Arg x, const Dims& axes, bool keepdim) {
  const Call call("any", x.loc);
  const Value v = call(x);
  return wrap(graph::ne(graph::sum(graph::ne(v, 0), call.axes(axes, v), keepdim), 0));
}

Tensor argmax(Arg x, std::optional<int64_t> axis, bool keepdim) {
  return arg_reduce("argmax", x, axis, keepdim, graph::argmax);
}
Tensor argmin(Arg x, std::optional<int64_t> axis, bool keepdim) {
  return arg_reduce("argmin", x, axis, keepdim, graph::argmin);
}
std::pair<Tensor, Tensor> max(Arg x, int64_t axis, bool keepdim) {
  return extreme("max", x, axis, keepdim, graph::argmax);
}
std::pair<Tensor, Tensor> min(Arg x, int64_t axis, bool keepdim) {
  return extreme("min", x, axis, keepdim, graph::argmin);
}

Tensor cumsum(Arg x, int64_t axis) {
  const Call call("cumsum", x.loc);
  const Value v = call(x);
  return wrap(graph::reshape(graph::cumsum(line(v), {.axis = call.axis(axis, v)}), v.shape()));
}

std::pair<Tensor, Tensor> sort(Arg x, int64_t axis, bool descending) {
  const Call call("sort", x.loc);
  const Value v = call(x);
  return wrap(like(v, graph::sort(line(v), {.axis = call.axis(axis, v), .descending = descending})));
}
Tensor argsort(Arg x, int64_t axis, bool descending) { return sort(x, axis, descending).second; }

std::pair<Tensor, Tensor> topk(Arg x, int64_t k, int64_t axis, bool largest) {
  const Call call("topk", x.loc);
  const Value v = call(x);
  const Value along = line(v);
  const int a = call.axis(axis, v);
  if (k < 0 || k > along.shape()[a])
    call.shape_error(fmt::format("expected k in 0..{} for axis {} of shape {}, got {}", along.shape()[a], a,
                                 to_string(v.shape()), k));
  return wrap(graph::topk(along, {.k = k, .axis = a, .largest = largest}));
}

}  // namespace stoker
