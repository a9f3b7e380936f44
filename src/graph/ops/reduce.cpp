// Reductions over axes, and the position of an extreme along one.
#include "graph/ops/rows.h"

namespace stoker::graph {

using namespace rows;

namespace {

Shape reduced_shape(const InferContext& c, const Dims& axes, bool keepdim) {
  Shape shape = c.in(0).shape;
  for (int i = axes.rank() - 1; i >= 0; --i) {
    if (axes[i] < 0 || axes[i] >= shape.rank() || (i > 0 && axes[i] <= axes[i - 1]))
      c.shape_error(
          fmt::format("expected ascending axes of shape {}, got {}", to_string(c.in(0).shape), to_string(axes)));
    if (keepdim)
      shape[int(axes[i])] = 1;
    else
      shape.erase(int(axes[i]));
  }
  return shape;
}

void expect_elements(const InferContext& c, const Dims& axes) {
  for (int64_t axis : axes)
    if (c.in(0).shape[int(axis)] == 0)
      c.shape_error(
          fmt::format("expected at least one element along axis {}, got shape {}; an empty set has no extreme", axis,
                      to_string(c.in(0).shape)));
}

Value spread(const Value& y, Grad c) {
  const Shape& shape = c.in(0).shape();
  return broadcast_to(restore_axes(y, shape, c.get<ReduceAttrs>().axes), shape);
}

// Of equals, each gets the same share.
std::vector<Value> extreme_gradient(Grad c) {
  const auto& a = c.get<ReduceAttrs>();
  Value mask = cast(eq(c.in(0), restore_axes(c.out(), c.in(0).shape(), a.axes)), widen(c.dy()).dtype());
  Value share = restore_axes(c.dy(), c.in(0).shape(), a.axes) / sum(mask, a.axes, true);
  return {mask * share};
}

// The product of all others, without a division: the products before and after each element along one merged axis.
std::vector<Value> prod_gradient(Grad c) {
  const auto& a = c.get<ReduceAttrs>();
  const Value& x = c.in(0);
  Dims order, back = Dims::filled(x.rank(), 0);
  Shape kept{};
  for (int i = 0; i < x.rank(); ++i)
    if (std::find(a.axes.begin(), a.axes.end(), i) == a.axes.end()) order.push_back(i), kept.push_back(x.shape()[i]);
  const int last = kept.rank();
  for (int64_t axis : a.axes) order.push_back(axis);
  for (int i = 0; i < order.rank(); ++i) back[int(order[i])] = i;
  const Value moved = permute(x, order);
  int64_t merged = 1;
  for (int64_t axis : a.axes) merged *= x.shape()[int(axis)];
  kept.push_back(merged);
  const Value line = reshape(moved, kept);
  Value others = cumprod(line, {.axis = last, .exclusive = true}) *
                 cumprod(line, {.axis = last, .exclusive = true, .reverse = true});
  return {spread(c.dy(), c) * permute(reshape(others, moved.shape()), back)};
}

void reduction(std::string name, std::string doc, ReduceKind kind, GradFn gradient, Saves saves) {
  const bool extreme = kind == ReduceKind::Max || kind == ReduceKind::Min;
  Op row{.name = std::move(name), .doc = std::move(doc), .kind = OpClass::Reduction};
  row.infer = [extreme](const InferContext& c) {
    const auto& a = c.get<ReduceAttrs>();
    const Shape shape = reduced_shape(c, a.axes, a.keepdim);
    if (extreme) expect_elements(c, a.axes);
    const DType dtype = c.in(0).dtype;
    return std::vector{c.like(0, shape, extreme || is_floating(dtype) ? dtype : DType::I64)};
  };
  row.reduce = kind;
  row.gradient = std::move(gradient);
  row.saves = saves;
  row.flops = flops_per_input(1);
  define(std::move(row));
}

void arg_reduction(std::string name, std::string doc) {
  Op row{.name = std::move(name), .doc = std::move(doc)};
  row.infer = [](const InferContext& c) {
    const auto& a = c.get<ArgReduceAttrs>();
    const Shape shape = reduced_shape(c, {a.axis}, a.keepdim);
    expect_elements(c, {a.axis});
    return std::vector{c.like(0, shape, DType::I64)};
  };
  row.flops = flops_per_input(1);
  define(std::move(row));
}

}  // namespace

void register_reductions() {
  reduction("sum", "sum over axes; integers in i64", ReduceKind::Sum,
            [](Grad c) { return std::vector{spread(c.dy(), c)}; }, {});
  reduction("prod", "product over axes; integers in i64", ReduceKind::Prod, prod_gradient, Saves::in({0}));
  reduction("max", "largest over axes; NaN if there is one", ReduceKind::Max, extreme_gradient,
            Saves::in({0}) | Saves::out({0}));
  reduction("min", "smallest over axes; NaN if there is one", ReduceKind::Min, extreme_gradient,
            Saves::in({0}) | Saves::out({0}));
  arg_reduction("argmax", "index of the first largest along an axis");
  arg_reduction("argmin", "index of the first smallest along an axis");
}

}  // namespace stoker::graph
