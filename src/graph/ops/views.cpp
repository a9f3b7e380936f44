// Other looks at the same memory. A view's rule maps the strides of its input; where they do not allow the look, the
// input is copied first. The start numbers of `slice` are inputs and move the offset when the plan runs.
#include "graph/ops/rows.h"

namespace stoker::graph {

using namespace rows;

namespace {

// Strides of `shape` over the memory of x, found by matching runs of axes that are dense in each other.
std::optional<TensorDesc> view_reshaped(const TensorDesc& x, const Attrs& attrs) {
  const Shape& shape = attrs.get<ShapeAttrs>().shape;
  TensorDesc y{x.dtype, shape, contiguous_strides(shape), x.offset};
  if (numel(shape) == 0) return y;
  int to = shape.rank() - 1;
  int64_t extent = 1, filled = 1, base = x.shape.rank() > 0 ? x.strides.back() : 1;
  for (int from = x.shape.rank() - 1; from >= 0; --from) {
    extent *= x.shape[from];
    const bool run_ends = from == 0 || (x.shape[from - 1] != 1 && x.strides[from - 1] != extent * base);
    if (!run_ends) continue;
    while (to >= 0 && (filled < extent || shape[to] == 1)) {
      y.strides[to] = filled * base;
      filled *= shape[to--];
    }
    if (filled != extent) return std::nullopt;
    if (from > 0) base = x.strides[from - 1], extent = filled = 1;
  }
  return y;
}

std::optional<TensorDesc> view_broadcast(const TensorDesc& x, const Attrs& attrs) {
  const Shape& shape = attrs.get<ShapeAttrs>().shape;
  TensorDesc y{x.dtype, shape, Dims::filled(shape.rank(), 0), x.offset};
  for (int i = 0, to = shape.rank() - x.shape.rank(); i < x.shape.rank(); ++i, ++to)
    if (x.shape[i] != 1) y.strides[to] = x.strides[i];
  return y;
}

std::optional<TensorDesc> view_permuted(const TensorDesc& x, const Attrs& attrs) {
  TensorDesc y{x.dtype, {}, {}, x.offset};
  for (int64_t axis : attrs.get<PermuteAttrs>().axes) {
    y.shape.push_back(x.shape[int(axis)]);
    y.strides.push_back(x.strides[int(axis)]);
  }
  return y;
}

std::optional<TensorDesc> view_sliced(const TensorDesc& x, const Attrs& attrs) {
  const auto& a = attrs.get<SliceAttrs>();
  TensorDesc y{x.dtype, a.extents, x.strides, x.offset};
  for (int i = 0; i < y.strides.rank(); ++i) y.strides[i] *= a.steps[i];
  return y;
}

std::optional<TensorDesc> same_view(const TensorDesc& x, const Attrs&) { return x; }

void view(std::string name, std::string doc, int arity, InferFn infer, ViewFn look, GradFn gradient) {
  define({.name = std::move(name),
          .doc = std::move(doc),
          .arity = arity,
          .kind = OpClass::View,
          .infer = std::move(infer),
          .gradient = std::move(gradient),
          .view = std::move(look),
          .flops = no_flops});
}

std::vector<TensorType> reshape_type(const InferContext& c) {
  const Shape& shape = c.get<ShapeAttrs>().shape;
  if (numel(shape) != c.in(0).elements())
    c.shape_error(fmt::format("expected a shape with as many elements as {} ({}), got {} ({})",
                              to_string(c.in(0).shape), c.in(0).elements(), to_string(shape), numel(shape)));
  return {c.like(0, shape)};
}

std::vector<TensorType> broadcast_type(const InferContext& c) {
  const Shape &from = c.in(0).shape, &to = c.get<ShapeAttrs>().shape;
  if (from.rank() > to.rank() || !(broadcast_shapes(from, to, c.name, c.loc) == to))
    c.shape_error(fmt::format("expected a shape that {} broadcasts to (axes of extent 1 may grow), got {}",
                              to_string(from), to_string(to)));
  return {c.like(0, to)};
}

std::vector<TensorType> permute_type(const InferContext& c) {
  const Dims& axes = c.get<PermuteAttrs>().axes;
  const int rank = c.in(0).shape.rank();
  if (axes.rank() != rank || normalize_axes(axes, rank, c.name, c.loc).rank() != rank)
    c.shape_error(fmt::format("expected an order of {} axes, got {}", rank, to_string(axes)));
  Shape shape;
  for (int64_t axis : axes) shape.push_back(c.in(0).shape[int(axis)]);
  return {c.like(0, shape)};
}

Value permute_back(Grad c) {
  const Dims& axes = c.get<PermuteAttrs>().axes;
  Dims back = axes;
  for (int i = 0; i < axes.rank(); ++i) back[int(axes[i])] = i;
  return permute(c.dy(), back);
}

// Inputs from `first` on are one start number for each axis.
void expect_starts(const InferContext& c, int first) {
  const int rank = c.in(0).shape.rank();
  const auto& a = c.get<SliceAttrs>();
  if (int(c.inputs.size()) != first + rank || a.extents.rank() != rank || a.steps.rank() != rank)
    c.shape_error(fmt::format("expected {} starts, extents and steps for shape {}, got {}, {} and {}", rank,
                              to_string(c.in(0).shape), int(c.inputs.size()) - first, a.extents.rank(),
                              a.steps.rank()));
}

std::vector<Value> start_numbers(Grad c, int first) { return {c.node.inputs().begin() + first, c.node.inputs().end()}; }

std::vector<Value> slice_gradient(Grad c) {
  return {update_slice(zeros(c.in(0).type()), c.dy(), start_numbers(c, 1), c.get<SliceAttrs>().steps)};
}

std::vector<Value> update_slice_gradient(Grad c) {
  const auto& a = c.get<SliceAttrs>();
  const std::vector<Value> starts = start_numbers(c, 2);
  return {c.needs(0) ? update_slice(c.dy(), zeros(c.in(1).type()), starts, a.steps) : Value(),
          c.needs(1) ? slice(c.dy(), starts, a.extents, a.steps) : Value()};
}

}  // namespace

void register_views() {
  view("reshape", "the same elements, in row-major order, in another shape", 1, reshape_type, view_reshaped,
       [](Grad c) { return std::vector{reshape(c.dy(), c.in(0).shape())}; });
  view("broadcast_to", "axes of extent 1 repeated", 1, broadcast_type, view_broadcast,
       [](Grad c) { return std::vector{sum_to(c.dy(), c.in(0).shape())}; });
  view("permute", "axes in another order", 1, permute_type, view_permuted,
       [](Grad c) { return std::vector{permute_back(c)}; });
  view(
      "slice", "every step-th element from start along each axis", -1,
      [](const InferContext& c) {
        expect_starts(c, 1);
        return std::vector{c.like(0, c.get<SliceAttrs>().extents)};
      },
      view_sliced, slice_gradient);
  view("read", "the value of a cell", 1, same_type, same_view, nullptr);
  view("alias", "the same value", 1, same_type, same_view, [](Grad c) { return std::vector{c.dy()}; });
  view("detach", "the same value, without a gradient", 1, same_type, same_view, nullptr);

  Op update{.name = "update_slice", .doc = "x with v written at a slice", .arity = -1};
  update.infer = [](const InferContext& c) {
    expect_starts(c, 2);
    const Shape& extents = c.get<SliceAttrs>().extents;
    if (c.in(1).dtype != c.in(0).dtype || !(c.in(1).shape == extents))
      c.shape_error(fmt::format("expected a value {} {}, got {} {}", name_of(c.in(0).dtype), to_string(extents),
                                name_of(c.in(1).dtype), to_string(c.in(1).shape)));
    return std::vector{c.in(0)};
  };
  update.gradient = update_slice_gradient;
  update.flops = no_flops;
  update.inplace_input = 0;
  define(std::move(update));
}

}  // namespace stoker::graph
