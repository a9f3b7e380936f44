// Other looks at a tensor, and tensors set beside each other.
#include <algorithm>

#include "tensor/functions/call.h"

namespace stoker {

using namespace detail;

namespace {

int64_t product(const Shape& shape, int first, int last) {
  int64_t n = 1;
  for (int i = first; i < last; ++i) n *= shape[i];
  return n;
}

// The shape with its -1 worked out.
Shape resolve(const Call& call, const Value& x, const Dims& asked) {
  Shape shape = asked;
  int unknown = -1;
  int64_t known = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] >= 0) {
      known *= shape[i];
    } else if (shape[i] == -1 && unknown < 0) {
      unknown = i;
    } else {
      call.shape_error(fmt::format("expected extents of at least 0 and at most one -1, got {}", to_string(asked)));
    }
  }
  if (unknown < 0) return shape;
  const int64_t elements = x.type().elements();
  if (known == 0 || elements % known != 0)
    call.shape_error(fmt::format("expected extents that divide the {} elements of {}, got {}", elements,
                                 to_string(x.shape()), to_string(asked)));
  shape[unknown] = elements / known;
  return shape;
}

Value cut(const Value& x, int axis, Range range) {
  Dims starts = Dims::filled(x.rank(), 0), steps = Dims::filled(x.rank(), 1);
  Shape extents = x.shape();
  starts[axis] = range.start;
  extents[axis] = range.length;
  steps[axis] = range.step;
  return graph::slice(x, starts, extents, steps);
}

// An axis of a tensor that has some.
int real_axis(const Call& call, int64_t axis, const Value& x) {
  if (x.rank() == 0) call.shape_error("expected a tensor with axes, got a 0-d tensor");
  return call.axis(axis, x);
}

std::vector<Value> promoted(const Call& call, const std::vector<Tensor>& tensors) {
  if (tensors.empty()) call.value_error("expected at least one tensor, got none");
  std::vector<Value> values;
  Promotion types;
  for (const Tensor& t : tensors) types << values.emplace_back(call(t));
  for (Value& v : values) v = graph::cast(v, types.dtype());
  return values;
}

// Column less row, against the diagonal: which elements of the last two axes stay.
Tensor triangle(std::string_view name, Arg x, int64_t diagonal, Value (*keeps)(const Value&, const Value&)) {
  const Call call(name, x.loc);
  const Value v = call(x);
  if (v.rank() < 2) call.shape_error(fmt::format("expected at least 2 axes, got shape {}", to_string(v.shape())));
  const Value row = graph::positions(v.shape()[v.rank() - 2], 0, 2, v.device());
  const Value column = graph::positions(v.shape().back(), 1, 2, v.device());
  return wrap(graph::where(keeps(column, row + call.number(diagonal, DType::I64, v.device())), v, 0));
}

}  // namespace

// --- views -----------------------------------------------------------------------------------------------------------

Tensor reshape(Arg x, const Dims& shape) {
  const Call call("reshape", x.loc);
  const Value v = call(x);
  return wrap(graph::reshape(v, resolve(call, v, shape)));
}

Tensor flatten(Arg x, int64_t first, int64_t last) {
  const Call call("flatten", x.loc);
  const Value v = call(x);
  const int from = call.axis(first, v), to = call.axis(last, v);
  if (from > to) call.shape_error(fmt::format("expected the first axis before the last, got {} and {}", first, last));
  if (v.rank() == 0) return wrap(graph::reshape(v, {1}));
  Shape shape;
  for (int i = 0; i < from; ++i) shape.push_back(v.shape()[i]);
  shape.push_back(product(v.shape(), from, to + 1));
  for (int i = to + 1; i < v.rank(); ++i) shape.push_back(v.shape()[i]);
  return wrap(graph::reshape(v, shape));
}

Tensor transpose(Arg x, int64_t a, int64_t b) {
  const Call call("transpose", x.loc);
  const Value v = call(x);
  const int from = call.axis(a, v), to = call.axis(b, v);
  return wrap(v.rank() == 0 ? v : graph::transpose(v, from, to));
}

Tensor permute(Arg x, const Dims& axes) {
  const Call call("permute", x.loc);
  const Value v = call(x);
  Dims order;
  for (int64_t axis : axes) order.push_back(call.axis(axis, v));
  if (axes.rank() != v.rank() || call.axes(order, v).rank() != v.rank())
    call.shape_error(fmt::format("expected an order of {} axes, got {}", v.rank(), to_string(axes)));
  return wrap(graph::permute(v, order));
}

Tensor squeeze(Arg x, std::optional<int64_t> axis) {
  const Call call("squeeze", x.loc);
  const Value v = call(x);
  const int only = axis ? call.axis(*axis, v) : -1;
  Shape shape;
  for (int i = 0; i < v.rank(); ++i)
    if (v.shape()[i] != 1 || (axis && i != only)) shape.push_back(v.shape()[i]);
  return wrap(graph::reshape(v, shape));
}

Tensor unsqueeze(Arg x, int64_t axis) {
  const Call call("unsqueeze", x.loc);
  const Value v = call(x);
  return wrap(graph::unsqueeze(v, normalize_axis(axis, v.rank() + 1, call.name(), call.loc())));
}

Tensor expand(Arg x, const Dims& shape) {
  const Call call("expand", x.loc);
  const Value v = call(x);
  Shape target = shape;
  const int extra = shape.rank() - v.rank();
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] != -1) continue;
    if (i < extra)
      call.shape_error(fmt::format("expected an extent for each new axis, got -1 in {}", to_string(shape)));
    target[i] = v.shape()[i - extra];
  }
  return wrap(graph::broadcast_to(v, target));
}

Tensor broadcast_to(Arg x, const Shape& shape) {
  const Call call("broadcast_to", x.loc);
  return wrap(graph::broadcast_to(call(x), shape));
}

Tensor flip(Arg x, const Dims& axes) {
  const Call call("flip", x.loc);
  const Value v = call(x);
  if (axes.empty() || v.rank() == 0) return wrap(v);
  Dims starts = Dims::filled(v.rank(), 0), steps = Dims::filled(v.rank(), 1);
  for (int64_t axis : call.axes(axes, v)) {
    starts[int(axis)] = std::max<int64_t>(v.shape()[int(axis)] - 1, 0);
    steps[int(axis)] = -1;
  }
  return wrap(graph::slice(v, starts, v.shape(), steps));
}

Tensor slice(Arg x, int64_t axis, std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step) {
  const Call call("slice", x.loc);
  const Value v = call(x);
  const int a = real_axis(call, axis, v);
  return wrap(cut(v, a, python_range(call, {start, stop, step}, v.shape()[a])));
}

Tensor narrow(Arg x, int64_t axis, int64_t start, int64_t length) {
  const Call call("narrow", x.loc);
  const Value v = call(x);
  const int a = real_axis(call, axis, v);
  const int64_t extent = v.shape()[a], from = start < 0 ? start + extent : start;
  if (from < 0 || from > extent || length < 0 || length > extent - from)
    call.shape_error(fmt::format("expected elements of 0..{} on axis {}, got {} from {}", extent, a, length, start));
  return wrap(cut(v, a, {from, length}));
}

Tensor select(Arg x, int64_t axis, int64_t index) {
  const Call call("select", x.loc);
  const Value v = call(x);
  const int a = real_axis(call, axis, v);
  const int64_t extent = v.shape()[a];
  if (index < -extent || index >= extent)
    call.shape_error(fmt::format("expected an index in {}..{} on axis {}, got {}", -extent, extent - 1, a, index));
  return wrap(graph::squeeze(cut(v, a, {index < 0 ? index + extent : index, 1}), a));
}

Tensor slice_scatter(Arg x, Arg value, int64_t axis, int64_t start, int64_t step) {
  const Call call("slice_scatter", x.loc);
  const Value v = call(x), part = call(value);
  const int a = real_axis(call, axis, v);
  Shape expected = v.shape();
  if (part.rank() == v.rank()) expected[a] = part.shape()[a];
  const int64_t extent = v.shape()[a], from = start < 0 ? start + extent : start;
  const bool fits = step >= 1 && from >= 0 &&
                    (expected[a] == 0 || (from < extent && (expected[a] - 1) <= (extent - 1 - from) / step));
  if (!(part.shape() == expected) || !fits)
    call.shape_error(fmt::format("expected a value like {} that fits on axis {} from {} by steps of {}, got {}",
                                 to_string(v.shape()), a, start, step, to_string(part.shape())));
  Dims starts = Dims::filled(v.rank(), 0), steps = Dims::filled(v.rank(), 1);
  starts[a] = from;
  steps[a] = step;
  return wrap(graph::update_slice(v, part, starts, steps));
}

// --- joining and splitting -------------------------------------------------------------------------------------------

Tensor cat(const std::vector<Tensor>& tensors, int64_t axis, Loc loc) {
  const Call call("cat", loc);
  const std::vector<Value> values = promoted(call, tensors);
  return wrap(graph::concat(values, real_axis(call, axis, values[0])));
}

Tensor stack(const std::vector<Tensor>& tensors, int64_t axis, Loc loc) {
  const Call call("stack", loc);
  std::vector<Value> values = promoted(call, tensors);
  const int a = normalize_axis(axis, values[0].rank() + 1, call.name(), call.loc());
  for (Value& v : values) {
    if (!(v.shape() == tensors[0].shape()))
      call.shape_error(fmt::format("expected tensors of one shape, got {} and {}", to_string(tensors[0].shape()),
                                   to_string(v.shape())));
    v = graph::unsqueeze(v, a);
  }
  return wrap(graph::concat(values, a));
}

std::vector<Tensor> split(Arg x, int64_t size, int64_t axis) {
  const Call call("split", x.loc);
  const Value v = call(x);
  const int a = real_axis(call, axis, v);
  if (size < 1) call.value_error(fmt::format("expected a size of at least 1, got {}", size));
  std::vector<Tensor> parts;
  const int64_t extent = v.shape()[a];
  for (int64_t start = 0; start < std::max<int64_t>(extent, 1); start += size)
    parts.push_back(wrap(cut(v, a, {start, std::min(size, extent - start)})));
  return parts;
}

std::vector<Tensor> chunk(Arg x, int64_t chunks, int64_t axis) {
  const Call call("chunk", x.loc);
  const Value v = call(x);
  if (chunks < 1) call.value_error(fmt::format("expected at least 1 chunk, got {}", chunks));
  const int64_t extent = v.shape()[real_axis(call, axis, v)];
  return split(x, std::max<int64_t>((extent + chunks - 1) / chunks, 1), axis);
}

Tensor pad(Arg x, const std::vector<int64_t>& padding, Scalar value) {
  const Call call("pad", x.loc);
  const Value v = call(x);
  if (padding.size() % 2 != 0 || padding.size() / 2 > size_t(v.rank()))
    call.shape_error(fmt::format("expected two numbers for each of at most {} axes, got {}", v.rank(), padding.size()));
  // What is negative cuts; the rest is added.
  Dims starts = Dims::filled(v.rank(), 0), low = starts, high = starts, ones = Dims::filled(v.rank(), 1);
  Shape extents = v.shape();
  for (size_t i = 0; i < padding.size(); i += 2) {
    const int axis = v.rank() - 1 - int(i / 2);
    low[axis] = std::max<int64_t>(padding[i], 0);
    high[axis] = std::max<int64_t>(padding[i + 1], 0);
    starts[axis] = low[axis] - padding[i];
    extents[axis] -= starts[axis] + high[axis] - padding[i + 1];
    if (extents[axis] < 0)
      call.shape_error(fmt::format("expected to cut no more than is there, got {} and {} for axis {} of {}", padding[i],
                                   padding[i + 1], axis, to_string(v.shape())));
  }
  const Value kept = graph::slice(v, starts, extents, ones);
  const bool grows = std::any_of(padding.begin(), padding.end(), [](int64_t p) { return p > 0; });
  return wrap(grows ? graph::pad(kept, low, high, call.number(value, v.dtype(), v.device())) : kept);
}

Tensor tril(Arg x, int64_t diagonal) { return triangle("tril", x, diagonal, graph::le); }
Tensor triu(Arg x, int64_t diagonal) { return triangle("triu", x, diagonal, graph::ge); }

Tensor repeat(Arg x, const Dims& times) {
  const Call call("repeat", x.loc);
  Value v = call(x);
  if (times.rank() < v.rank())
    call.shape_error(
        fmt::format("expected at least {} numbers, one for each axis, got {}", v.rank(), to_string(times)));
  Shape shape = v.shape();
  while (shape.rank() < times.rank()) shape.insert(0, 1);
  for (int i = 0; i < times.rank(); ++i) {
    if (times[i] < 0) call.shape_error(fmt::format("expected numbers of at least 0, got {}", to_string(times)));
    const int64_t outer = product(shape, 0, i), inner = product(shape, i, shape.rank());
    v = graph::broadcast_to(graph::reshape(v, {outer, 1, inner}), {outer, times[i], inner});
    shape[i] *= times[i];
  }
  return wrap(graph::reshape(v, shape));
}

}  // namespace stoker
