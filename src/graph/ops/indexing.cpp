// Reading and writing by index. Kernels check every index when they run; see IndexAttrs.
#include "graph/ops/rows.h"

namespace stoker::graph {

using namespace rows;

namespace {

void expect_index(const InferContext& c, int i) {
  const DType dtype = c.in(i).dtype;
  if (dtype != DType::I32 && dtype != DType::I64)
    c.dtype_error(fmt::format("expected an index of i32 or i64, got {}; convert it with .to(kI64)", name_of(dtype)));
}

int expect_axis(const InferContext& c) {
  const int axis = c.get<IndexAttrs>().axis, rank = c.in(0).shape.rank();
  if (axis < 0 || axis >= rank)
    c.shape_error(fmt::format("expected an axis of shape {}, got {}", to_string(c.in(0).shape), axis));
  return axis;
}

void expect_source(const InferContext& c, const Shape& shape) {
  if (!(c.in(2).shape == shape))
    c.shape_error(fmt::format("expected a source of shape {}, got {}", to_string(shape), to_string(c.in(2).shape)));
  if (c.in(2).dtype != c.in(0).dtype)
    c.dtype_error(fmt::format("expected a source of {}, got {}; convert it with .to(dtype)", name_of(c.in(0).dtype),
                              name_of(c.in(2).dtype)));
}

// --- gather, scatter, scatter_add: index has x's rank and is no larger than x but along the axis ---------------------

void expect_aligned_index(const InferContext& c) {
  expect_index(c, 1);
  const int axis = expect_axis(c);
  const Shape &x = c.in(0).shape, &index = c.in(1).shape;
  bool fits = x.rank() == index.rank();
  for (int i = 0; fits && i < x.rank(); ++i) fits = i == axis || index[i] <= x[i];
  if (!fits)
    c.shape_error(fmt::format("expected an index no larger than {} on every axis but {}, got {}", to_string(x), axis,
                              to_string(index)));
}

std::vector<TensorType> scatter_type(const InferContext& c) {
  expect_aligned_index(c);
  expect_source(c, c.in(1).shape);
  return {c.in(0)};
}

std::vector<Value> gather_gradient(Grad c) {
  return {scatter_add(zeros(c.in(0).type()), c.get<IndexAttrs>().axis, c.in(1), c.dy()), Value()};
}

std::vector<Value> scatter_gradient(Grad c) {
  const int axis = c.get<IndexAttrs>().axis;
  return {c.needs(0) ? scatter(c.dy(), axis, c.in(1), zeros(c.in(2).type())) : Value(), Value(),
          c.needs(2) ? gather(c.dy(), axis, c.in(1)) : Value()};
}

std::vector<Value> scatter_add_gradient(Grad c) {
  return {c.dy(), Value(), c.needs(2) ? gather(c.dy(), c.get<IndexAttrs>().axis, c.in(1)) : Value()};
}

// --- pick: one element per line --------------------------------------------------------------------------------------

std::vector<TensorType> pick_type(const InferContext& c) {
  expect_index(c, 1);
  Shape shape = c.in(0).shape;
  shape[expect_axis(c)] = 1;
  if (!(c.in(1).shape == shape))
    c.shape_error(fmt::format("expected an index of shape {}, got {}", to_string(shape), to_string(c.in(1).shape)));
  return {c.like(0, shape)};
}

// A comparison with the position fuses with what surrounds it; a scatter would not.
std::vector<Value> pick_gradient(Grad c) {
  const int axis = c.get<IndexAttrs>().axis;
  const Value& x = c.in(0);
  const Value position = positions(x.shape()[axis], axis, x.rank(), x.device());
  return {where(eq(position, c.in(1)), c.dy(), 0), Value()};
}

// --- take, index_add: an index of any shape stands for one axis ------------------------------------------------------

Shape taken_shape(const InferContext& c) {
  expect_index(c, 1);
  const int axis = expect_axis(c);
  Shape shape = c.in(0).shape;
  shape.erase(axis);
  for (int i = 0; i < c.in(1).shape.rank(); ++i) shape.insert(axis + i, c.in(1).shape[i]);
  return shape;
}

std::vector<Value> take_gradient(Grad c) {
  const auto& a = c.get<IndexAttrs>();
  return {index_add(zeros(c.in(0).type()), a.axis, c.in(1), c.dy(), a.from_end), Value()};
}

std::vector<Value> index_add_gradient(Grad c) {
  const auto& a = c.get<IndexAttrs>();
  return {c.dy(), Value(), c.needs(2) ? take(c.dy(), a.axis, c.in(1), a.from_end) : Value()};
}

}  // namespace

void register_indexing() {
  const Saves index = Saves::in({1});
  define({.name = "gather",
          .doc = "elements along an axis, chosen by an index of x's rank",
          .arity = 2,
          .infer =
              [](const InferContext& c) {
                expect_aligned_index(c);
                return std::vector{c.like(0, c.in(1).shape)};
              },
          .gradient = gather_gradient,
          .saves = index,
          .flops = no_flops});
  define({.name = "scatter",
          .doc = "x with a source written along an axis; of equal indices the last wins",
          .arity = 3,
          .infer = scatter_type,
          .gradient = scatter_gradient,
          .saves = index,
          .flops = no_flops,
          .inplace_input = 0});
  define({.name = "scatter_add",
          .doc = "x with a source added along an axis, in the source's order",
          .arity = 3,
          .infer = scatter_type,
          .gradient = scatter_add_gradient,
          .saves = index,
          .flops = flops_per_input(1),
          .inplace_input = 0});
  define({.name = "pick",
          .doc = "one element of each line along an axis",
          .arity = 2,
          .infer = pick_type,
          .gradient = pick_gradient,
          .saves = index,
          .compose =
              [](std::span<const Value> in, const Attrs& attrs) {
                return std::vector{record1(op("gather"), {in[0], in[1]}, attrs)};
              },
          .flops = no_flops});
  define({.name = "class_index",
          .doc = "an index of classes, checked",
          .infer =
              [](const InferContext& c) {
                expect_index(c, 0);
                return std::vector{c.in(0)};
              },
          .flops = no_flops});
  define({.name = "take",
          .doc = "slices along an axis, chosen by an index of any shape",
          .arity = 2,
          .infer = [](const InferContext& c) { return std::vector{c.like(0, taken_shape(c))}; },
          .gradient = take_gradient,
          .saves = index,
          .flops = no_flops});
  define({.name = "index_add",
          .doc = "x with slices added along an axis, in the index's order",
          .arity = 3,
          .infer =
              [](const InferContext& c) {
                expect_source(c, taken_shape(c));
                return std::vector{c.in(0)};
              },
          .gradient = index_add_gradient,
          .saves = index,
          .flops = flops_per_input(1),
          .inplace_input = 0});
}

}  // namespace stoker::graph
