// Pooling and its gradients. A maximum's gradient goes by the index that the forward pass gave; an average's is linear.
#include "graph/ops/rows.h"

namespace stoker::graph {

using namespace rows;

namespace {

// PyTorch's rule: with ceil_mode the last window may hang over, but must start inside of the input or its low padding.
int64_t output_extent(const InferContext& c, const PoolAttrs& a, int i, int64_t input) {
  const int64_t padded = input + a.padding_low[i] + a.padding_high[i], window = a.dilation[i] * (a.kernel[i] - 1) + 1;
  if (a.kernel[i] < 1 || a.stride[i] < 1 || a.dilation[i] < 1)
    c.shape_error(fmt::format("expected kernel, stride and dilation of at least 1, got {}, {} and {}",
                              to_string(a.kernel), to_string(a.stride), to_string(a.dilation)));
  if (a.padding_low[i] < 0 || a.padding_high[i] < 0 || 2 * std::max(a.padding_low[i], a.padding_high[i]) > window)
    c.shape_error(
        fmt::format("expected padding of at least 0 and at most half the window, got {} and {} for a window of {}",
                    a.padding_low[i], a.padding_high[i], window));
  int64_t extent = padded < window ? 0 : (padded - window) / a.stride[i] + 1;
  if (a.ceil_mode && extent * a.stride[i] + window < padded + a.stride[i] &&
      extent * a.stride[i] < input + a.padding_low[i])
    ++extent;
  if (input < 1 || extent < 1)
    c.shape_error(fmt::format("expected a window that fits into the padded input, got {} over {} elements on axis {}",
                              window, padded, i + 2));
  return extent;
}

void expect_images(const InferContext& c, Takes takes) {
  expect(c, takes);
  expect_rank(c, 0, 4, "x[N, C, H, W]");
}

Shape pooled_shape(const InferContext& c, const PoolAttrs& a, const Shape& x) {
  return {x[0], x[1], output_extent(c, a, 0, x[2]), output_extent(c, a, 1, x[3])};
}

Shape pooled_shape(const InferContext& c, const AdaptivePoolAttrs& a, const Shape& x) {
  if (a.size[0] < 0 || a.size[1] < 0 || x[2] < 1 || x[3] < 1)
    c.shape_error(fmt::format("expected an output size of at least 0 and images that are not empty, got size {} for {}",
                              to_string(a.size), to_string(x)));
  return {x[0], x[1], a.size[0], a.size[1]};
}

template <class A>
std::vector<TensorType> max_type(const InferContext& c) {
  expect_images(c, Takes::Floating);
  const Shape shape = pooled_shape(c, c.get<A>(), c.in(0).shape);
  return {c.like(0, shape), c.like(0, shape, DType::I32)};
}

template <class A>
std::vector<TensorType> average_type(const InferContext& c) {
  expect_images(c, Takes::Floating);
  return {c.like(0, pooled_shape(c, c.get<A>(), c.in(0).shape))};
}

template <class A>
std::vector<TensorType> average_gradient_type(const InferContext& c) {
  expect_images(c, Takes::Floating);
  const auto& a = c.get<A>();
  if (!(c.in(0).shape == pooled_shape(c, a, a.input)))
    c.shape_error(
        fmt::format("expected the gradient of a pooled {}, got {}", to_string(a.input), to_string(c.in(0).shape)));
  return {c.like(0, a.input)};
}

std::vector<TensorType> max_gradient_type(const InferContext& c) {
  if (!(c.in(0).shape == c.in(1).shape))
    c.shape_error(fmt::format("expected a gradient and an index of one shape, got {} and {}", to_string(c.in(0).shape),
                              to_string(c.in(1).shape)));
  return {c.like(0, c.get<PoolAttrs>().input)};
}

std::vector<Value> max_gradient(Grad c) {
  PoolAttrs a;
  a.input = c.in(0).shape();
  return {record1(op("max_pool2d_gradient"), {c.dy(0), c.out(1)}, a)};
}

// The elements that the index names, in each H*W plane.
std::vector<Value> max_gradient_gradient(Grad c) {
  auto planes = [](const Value& v) { return reshape(v, {v.shape()[0], v.shape()[1], v.shape()[2] * v.shape()[3]}); };
  const Value chosen = gather(planes(c.dy()), 2, planes(c.in(1)));
  return {reshape(chosen, c.in(0).shape()), Value()};
}

double window_flops(std::span<const TensorType>, std::span<const TensorType> out, const Attrs& attrs) {
  const Dims& k = attrs.get<PoolAttrs>().kernel;
  return double(out[0].elements()) * double(k[0] * k[1]);
}

// An average and its gradient are each other's gradients.
template <class A>
void average(const std::string& name, std::string doc, FlopsFn flops) {
  const std::string gradient = name + "_gradient";
  define({.name = name,
          .doc = std::move(doc),
          .infer = average_type<A>,
          .gradient =
              [gradient](Grad c) {
                A a = c.get<A>();
                a.input = c.in(0).shape();
                return std::vector{record1(op(gradient), {c.dy()}, a)};
              },
          .flops = std::move(flops)});
  define({.name = gradient,
          .doc = name + "'s gradient",
          .infer = average_gradient_type<A>,
          .gradient =
              [name](Grad c) {
                A a = c.get<A>();
                a.input = {};
                return std::vector{record1(op(name), {c.dy()}, a)};
              },
          .flops = [](std::span<const TensorType>, std::span<const TensorType> out,
                      const Attrs&) { return double(out[0].elements()); }});
}

}  // namespace

void register_pooling() {
  const FlopsFn each_input = flops_per_input(1);
  define({.name = "max_pool2d",
          .doc = "largest of each window, and its index in the H*W plane",
          .infer = max_type<PoolAttrs>,
          .gradient = max_gradient,
          .saves = Saves::out({1}),
          .flops = window_flops});
  define({.name = "adaptive_max_pool2d",
          .doc = "largest of each of a given number of windows, and its index",
          .infer = max_type<AdaptivePoolAttrs>,
          .gradient = max_gradient,
          .saves = Saves::out({1}),
          .flops = each_input});
  define({.name = "max_pool2d_gradient",
          .doc = "dy added where the index points",
          .arity = 2,
          .infer = max_gradient_type,
          .gradient = max_gradient_gradient,
          .saves = Saves::in({1}),
          .flops = each_input});
  average<PoolAttrs>("avg_pool2d", "mean of each window", window_flops);
  average<AdaptivePoolAttrs>("adaptive_avg_pool2d", "mean of each of a given number of windows", each_input);
}

}  // namespace stoker::graph
