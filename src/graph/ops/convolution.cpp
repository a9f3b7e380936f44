// Convolution and its two gradients. Each is linear in each input, so that the three express one another's gradients.
#include "graph/ops/rows.h"

namespace stoker::graph {

using namespace rows;

namespace {

int64_t output_extent(const InferContext& c, const ConvAttrs& a, int i, int64_t input, int64_t kernel) {
  const int64_t padded = input + a.padding_low[i] + a.padding_high[i], window = a.dilation[i] * (kernel - 1) + 1;
  if (kernel < 1 || padded < window)
    c.shape_error(
        fmt::format("expected a kernel that fits into the padded input, got a window of {} over {} elements on axis {}",
                    window, padded, i + 2));
  return (padded - window) / a.stride[i] + 1;
}

// The shape of y for x[N,C,H,W] and w[O,C/groups,kH,kW].
Shape output_shape(const InferContext& c, const ConvAttrs& a, const Shape& x, const Shape& w) {
  for (int i = 0; i < 2; ++i)
    if (a.stride[i] < 1 || a.dilation[i] < 1 || a.padding_low[i] < 0 || a.padding_high[i] < 0)
      c.shape_error(
          fmt::format("expected strides and dilations of at least 1 and padding of at least 0, got {}, {} and {}, {}",
                      to_string(a.stride), to_string(a.dilation), to_string(a.padding_low), to_string(a.padding_high)));
  if (a.groups < 1 || x[1] != w[1] * a.groups || w[0] % a.groups != 0)
    c.shape_error(
        fmt::format("expected x[N, C, H, W] and weight[O, C/groups, kH, kW] with O divisible by groups, got {} and {} "
                    "with groups={}",
                    to_string(x), to_string(w), a.groups));
  return {x[0], w[0], output_extent(c, a, 0, x[2], w[2]), output_extent(c, a, 1, x[3], w[3])};
}

void expect_images(const InferContext& c, std::string_view first, std::string_view second) {
  const std::string layouts = fmt::format("4-d {} and {} (x[N, C, H, W], weight[O, C/groups, kH, kW])", first, second);
  expect_rank(c, 0, 4, layouts);
  expect_rank(c, 1, 4, layouts);
  if (!is_floating(c.in(0).dtype) || c.in(1).dtype != c.in(0).dtype)
    c.dtype_error(fmt::format("expected {} and {} of one floating dtype, got {} and {}; convert one with .to(dtype)",
                              first, second, name_of(c.in(0).dtype), name_of(c.in(1).dtype)));
}

void expect_gradient_shape(const InferContext& c, const Shape& dy, const Shape& expected) {
  if (!(dy == expected))
    c.shape_error(fmt::format("expected a gradient of shape {}, got {}", to_string(expected), to_string(dy)));
}

std::vector<TensorType> conv_type(const InferContext& c) {
  expect_images(c, "x", "weight");
  return {c.like(0, output_shape(c, c.get<ConvAttrs>(), c.in(0).shape, c.in(1).shape))};
}

std::vector<TensorType> input_gradient_type(const InferContext& c) {
  expect_images(c, "dy", "weight");
  const auto& a = c.get<ConvAttrs>();
  expect_gradient_shape(c, c.in(0).shape, output_shape(c, a, a.target, c.in(1).shape));
  return {c.like(0, a.target)};
}

std::vector<TensorType> weight_gradient_type(const InferContext& c) {
  expect_images(c, "x", "dy");
  const auto& a = c.get<ConvAttrs>();
  expect_gradient_shape(c, c.in(1).shape, output_shape(c, a, c.in(0).shape, a.target));
  std::vector types{c.like(0, a.target)};
  if (a.bias) types.push_back(c.like(0, {a.target[0]}));
  return types;
}

std::vector<Value> conv_gradient(Grad c) {
  const auto& a = c.get<ConvAttrs>();
  return {c.needs(0) ? conv2d_input_gradient(c.dy(), c.in(1), a, c.in(0).shape()) : Value(),
          c.needs(1) ? conv2d_weight_gradient(c.in(0), c.dy(), a, c.in(1).shape()) : Value()};
}

std::vector<Value> input_gradient_gradient(Grad c) {
  const auto& a = c.get<ConvAttrs>();
  return {c.needs(0) ? conv2d(c.dy(), c.in(1), a) : Value(),
          c.needs(1) ? conv2d_weight_gradient(c.dy(), c.in(0), a, c.in(1).shape()) : Value()};
}

// Recorded without `bias`: a pass that asks for it runs after differentiation.
std::vector<Value> weight_gradient_gradient(Grad c) {
  const auto& a = c.get<ConvAttrs>();
  return {c.needs(0) ? conv2d_input_gradient(c.in(1), c.dy(), a, c.in(0).shape()) : Value(),
          c.needs(1) ? conv2d(c.in(0), c.dy(), a) : Value()};
}

// Two for each weight of a window, over the windows of `windows` (y or dy).
double conv_flops(const Shape& windows, const Shape& weight) {
  return 2.0 * double(numel(windows)) * double(weight[1] * weight[2] * weight[3]);
}

}  // namespace

void register_convolution() {
  const Saves both = Saves::each_others();
  using Types = std::span<const TensorType>;
  define({.name = "conv2d",
          .doc = "2-d convolution (cross-correlation) with stride, padding, dilation and groups",
          .arity = -1,
          .infer = conv_type,
          .gradient = conv_gradient,
          .saves = both,
          .flops = [](Types in, Types out, const Attrs&) { return conv_flops(out[0].shape, in[1].shape); }});
  define({.name = "conv2d_input_gradient",
          .doc = "conv2d's gradient for its input; transposed convolution",
          .arity = 2,
          .infer = input_gradient_type,
          .gradient = input_gradient_gradient,
          .saves = both,
          .flops = [](Types in, Types, const Attrs&) { return conv_flops(in[0].shape, in[1].shape); }});
  define({.name = "conv2d_weight_gradient",
          .doc = "conv2d's gradient for its weight",
          .arity = 2,
          .infer = weight_gradient_type,
          .gradient = weight_gradient_gradient,
          .saves = both,
          .flops = [](Types in, Types out, const Attrs&) { return conv_flops(in[1].shape, out[0].shape); }});
}

}  // namespace stoker::graph
