// Normalisation. The gradients are operations too, so that a first derivative stays one kernel; further derivatives go
// through the composed forms.
#include "graph/ops/rows.h"

namespace stoker::graph {

using namespace rows;

namespace {

DType statistics_dtype(DType d) { return d == DType::F64 ? d : DType::F32; }

// Which axes are averaged over, and how a vector of weights lies in x.
struct Layout {
  Dims averaged, others;
  Shape weight, statistics;
};

// Averages each channel (axis 1); statistics are [C].
Layout channels(const Shape& x) {
  Layout l;
  for (int i = 0; i < x.rank(); ++i)
    if (i != 1) l.averaged.push_back(i);
  l.others = l.averaged;
  l.weight = Dims::filled(x.rank(), 1);
  l.weight[1] = x[1];
  l.statistics = {x[1]};
  return l;
}

// Averages the last axis; statistics keep it with extent 1.
Layout last_axis(const Shape& x) {
  Layout l;
  l.averaged = {x.rank() - 1};
  for (int i = 0; i < x.rank() - 1; ++i) l.others.push_back(i);
  l.weight = Dims::filled(x.rank(), 1);
  l.weight[x.rank() - 1] = x.back();
  l.statistics = x;
  l.statistics[x.rank() - 1] = 1;
  return l;
}

using LayoutOf = Layout (*)(const Shape&);

Value weight_along(const Value& w, const Layout& l, DType dtype) { return cast(reshape(w, l.weight), dtype); }
Value statistics_along(const Value& s, const Value& x, const Layout& l) {
  return restore_axes(s, x.shape(), l.averaged);
}

std::vector<Value> compose_norm(std::span<const Value> in, const Attrs& attrs, LayoutOf layout) {
  const Layout l = layout(in[0].shape());
  const Value x = widen(in[0]);
  const Value average = mean(x, l.averaged, true), centered = x - average;
  const Value rstd = rsqrt(mean(square(centered), l.averaged, true) + attrs.get<NormAttrs>().eps);
  const Value y = centered * rstd * weight_along(in[1], l, x.dtype()) + weight_along(in[2], l, x.dtype());
  return {unwiden(y, in[0].dtype()), reshape(average, l.statistics), reshape(rstd, l.statistics)};
}

std::vector<Value> compose_norm_gradient(std::span<const Value> in, const Attrs&, LayoutOf layout) {
  const Layout l = layout(in[1].shape());
  const Value dy = widen(in[0]), x = widen(in[1]), &weight = in[2];
  const Value average = statistics_along(in[3], x, l), rstd = statistics_along(in[4], x, l);
  const Value normal = (x - average) * rstd, g = dy * weight_along(weight, l, x.dtype());
  const Value dx = rstd * (g - mean(g, l.averaged, true) - normal * mean(g * normal, l.averaged, true));
  return {unwiden(dx, in[1].dtype()), cast(reshape(sum(dy * normal, l.others), weight.shape()), weight.dtype()),
          cast(reshape(sum(dy, l.others), weight.shape()), weight.dtype())};
}

void expect_vector(const InferContext& c, int i, std::string_view name, const Layout& l) {
  const int64_t extent = numel(l.weight);
  const TensorType& v = c.in(i);
  if (!(v.shape == Shape{extent}))
    c.shape_error(fmt::format("expected a {} of shape [{}], got {}", name, extent, to_string(v.shape)));
  const DType x = c.in(0).dtype;
  if (v.dtype != x && v.dtype != statistics_dtype(x))
    c.dtype_error(fmt::format("expected a {} of {} or {}, got {}; convert it with .to(dtype)", name, name_of(x),
                              name_of(statistics_dtype(x)), name_of(v.dtype)));
}

Layout expect_input(const InferContext& c, int i, int least_rank, LayoutOf layout) {
  const TensorType& x = c.in(i);
  if (!is_floating(x.dtype))
    c.dtype_error(fmt::format("expected a floating dtype, got {}; convert it with .to(dtype)", name_of(x.dtype)));
  if (x.shape.rank() < least_rank)
    c.shape_error(fmt::format("expected at least {} axes, got shape {}", least_rank, to_string(x.shape)));
  return layout(x.shape);
}

void norm(const std::string& name, std::string doc, int least_rank, LayoutOf layout) {
  const std::string gradient = name + "_gradient";

  Op forward{.name = name, .doc = std::move(doc), .arity = 3};
  forward.infer = [=](const InferContext& c) {
    const Layout l = expect_input(c, 0, least_rank, layout);
    expect_vector(c, 1, "weight", l);
    expect_vector(c, 2, "bias", l);
    const TensorType statistics = c.like(0, l.statistics, statistics_dtype(c.in(0).dtype));
    return std::vector{c.in(0), statistics, statistics};
  };
  forward.gradient = [=](Grad c) -> std::vector<Value> {
    if (!c.dy(0) || c.dy(1) || c.dy(2)) return gradient_of_composed(c);
    const Ref<Node> node = record(op(gradient), {c.dy(0), c.in(0), c.in(1), c.out(1), c.out(2)}, c.node.attrs());
    return {Value(node, 0), Value(node, 1), Value(node, 2)};
  };
  forward.saves = Saves::in({0, 1}) | Saves::out({1, 2});
  forward.compose = [=](std::span<const Value> in, const Attrs& attrs) { return compose_norm(in, attrs, layout); };
  forward.flops = flops_per_input(8);
  define(std::move(forward));

  Op backward{.name = gradient, .doc = name + "'s gradients for x, weight and bias", .arity = 5};
  backward.infer = [](const InferContext& c) {
    if (!(c.in(0).shape == c.in(1).shape))
      c.shape_error(
          fmt::format("expected a gradient of shape {}, got {}", to_string(c.in(1).shape), to_string(c.in(0).shape)));
    return std::vector{c.in(1), c.in(2), c.in(2)};
  };
  backward.gradient = [](Grad c) { return gradient_of_composed(c); };
  backward.saves = Saves::all_inputs();
  backward.compose = [=](std::span<const Value> in, const Attrs& attrs) {
    return compose_norm_gradient(in, attrs, layout);
  };
  backward.flops = flops_per_input(14);
  define(std::move(backward));
}

}  // namespace

void register_norms() {
  norm("batch_norm", "x normalised over every axis but 1, its mean and 1 / deviation", 2, channels);
  norm("layer_norm", "x normalised over its last axis, its mean and 1 / deviation", 1, last_axis);
}

}  // namespace stoker::graph
