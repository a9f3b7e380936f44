// Indexing by tensors, and by positions and ranges.
#include "tensor/functions/call.h"

namespace stoker {

using namespace detail;

namespace {

// Where x[indices...] starts, how far it reaches, and its shape without the axes at one position.
struct Region {
  Dims starts, extents, steps;
  Shape shape;
};

Region region_of(const Call& call, const Value& x, const std::vector<Index>& indices) {
  if (indices.size() > size_t(x.rank()))
    call.shape_error(fmt::format("expected at most {} indices for shape {}, got {}", x.rank(), to_string(x.shape()),
                                 indices.size()));
  Region r{Dims::filled(x.rank(), 0), x.shape(), Dims::filled(x.rank(), 1), {}};
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t extent = x.shape()[i];
    const Index index = size_t(i) < indices.size() ? indices[size_t(i)] : Index(All{});
    Range range{0, extent};
    if (auto* slice = std::get_if<Slice>(&index)) range = python_range(call, *slice, extent);
    if (auto* at = std::get_if<int64_t>(&index)) {
      if (*at < -extent || *at >= extent)
        call.shape_error(fmt::format("expected an index in {}..{} on axis {}, got {}", -extent, extent - 1, i, *at));
      range = {*at < 0 ? *at + extent : *at, 1};
    } else {
      r.shape.push_back(range.length);
    }
    r.starts[i] = range.start, r.extents[i] = range.length, r.steps[i] = range.step;
  }
  return r;
}

int axis_of(const Call& call, int64_t axis, const Value& x) {
  if (x.rank() == 0) call.shape_error("expected a tensor with axes, got a 0-d tensor");
  return call.axis(axis, x);
}

}  // namespace

Tensor gather(Arg x, int64_t axis, Arg index) {
  const Call call("gather", x.loc);
  const Value v = call(x);
  return wrap(graph::gather(v, axis_of(call, axis, v), call(index)));
}

Tensor scatter(Arg x, int64_t axis, Arg index, Arg source) {
  const Call call("scatter", x.loc);
  const Value v = call(x);
  return wrap(graph::scatter(v, axis_of(call, axis, v), call(index), call(source)));
}

Tensor scatter_add(Arg x, int64_t axis, Arg index, Arg source) {
  const Call call("scatter_add", x.loc);
  const Value v = call(x);
  return wrap(graph::scatter_add(v, axis_of(call, axis, v), call(index), call(source)));
}

Tensor index_select(Arg x, int64_t axis, Arg index) {
  const Call call("index_select", x.loc);
  const Value v = call(x), i = call(index);
  if (i.rank() > 1) call.shape_error(fmt::format("expected an index of one axis, got shape {}", to_string(i.shape())));
  return wrap(graph::take(v, axis_of(call, axis, v), i.rank() == 0 ? graph::reshape(i, {1}) : i));
}

Tensor index_add(Arg x, int64_t axis, Arg index, Arg source) {
  const Call call("index_add", x.loc);
  const Value v = call(x);
  return wrap(graph::index_add(v, axis_of(call, axis, v), call(index), call(source)));
}

// Written by a scatter rather than compared, because a scatter checks its indices.
Tensor one_hot(Arg index, int64_t classes) {
  const Call call("one_hot", index.loc);
  const Value i = call(index);
  if (classes < 1) call.value_error(fmt::format("expected at least 1 class, got {}", classes));
  Shape shape = i.shape();
  shape.push_back(classes);
  const Value column = graph::unsqueeze(i, i.rank());
  return wrap(graph::scatter(graph::zeros({DType::I64, shape, i.device()}), i.rank(), column,
                             graph::ones({DType::I64, column.shape(), i.device()})));
}

Tensor embedding(Arg index, Arg weight, std::optional<int64_t> padding_idx) {
  const Call call("embedding", index.loc);
  const Value i = call(index), w = call(weight);
  if (w.rank() != 2) call.shape_error(fmt::format("expected weight[rows, width], got shape {}", to_string(w.shape())));
  const Value rows = graph::take(w, 0, i);
  if (!padding_idx) return wrap(rows);
  const int64_t extent = w.shape()[0], padding = *padding_idx < 0 ? *padding_idx + extent : *padding_idx;
  if (padding < 0 || padding >= extent)
    call.value_error(fmt::format("expected a padding index in {}..{}, got {}", -extent, extent - 1, *padding_idx));
  const Value is_padding = graph::eq(i, call.number(padding, i.dtype(), i.device()));
  return wrap(graph::where(graph::unsqueeze(is_padding, i.rank()), graph::detach(rows), rows));
}

Tensor nonzero(Arg x) {
  const Call call("nonzero", x.loc);
  const Shape shape = x.tensor.shape();
  const std::vector<uint8_t> present = wrap(graph::ne(call(x), 0)).to_vector<uint8_t>(call.loc());
  std::vector<int64_t> positions;
  const Dims strides = contiguous_strides(shape);
  int64_t count = 0;
  for (size_t i = 0; i < present.size(); ++i) {
    if (!present[i]) continue;
    ++count;
    for (int axis = 0; axis < shape.rank(); ++axis) positions.push_back(int64_t(i) / strides[axis] % shape[axis]);
  }
  return from_host(positions.data(), {count, shape.rank()}, {DType::I64, x.tensor.device()}, call.loc());
}

Tensor masked_select(Arg x, Arg mask) {
  const Call call("masked_select", x.loc);
  const Value v = call(x), m = call(mask);
  if (m.dtype() != DType::Bool) call.dtype_error(fmt::format("expected a bool mask, got {}", name_of(m.dtype())));
  const Shape shape = broadcast_shapes(v.shape(), m.shape(), call.name(), call.loc());
  const int64_t elements = numel(shape);
  const Tensor chosen = nonzero(wrap(graph::reshape(graph::broadcast_to(m, shape), {elements})));
  return wrap(graph::take(graph::reshape(graph::broadcast_to(v, shape), {elements}), 0,
                          graph::reshape(call(chosen), {chosen.numel()})));
}

Tensor Tensor::index(const std::vector<Index>& indices, Loc loc) const {
  const Call call("index", loc);
  const Value x = call(*this);
  const Region r = region_of(call, x, indices);
  return wrap(graph::reshape(graph::slice(x, r.starts, r.extents, r.steps), r.shape));
}

Tensor& Tensor::index_put_(const std::vector<Index>& indices, const Tensor& value, Loc loc) {
  const Call call("index_put_", loc);
  if (is_cell())
    call.value_error("expected a value, got a cell (a parameter or buffer); assign() gives it a new value");
  const Value x = call(*this);
  const Region r = region_of(call, x, indices);
  if (stoker::numel(r.extents) == 0) return *this;
  const Value part = graph::reshape(graph::broadcast_to(call(value), r.shape), r.extents);
  return *this = wrap(graph::update_slice(x, part, r.starts, r.steps));
}

}  // namespace stoker
