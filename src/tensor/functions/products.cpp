// Matrix products, convolution and pooling.
#include "tensor/functions/call.h"

namespace stoker {

using namespace detail;

namespace {

// The same matrices with batch axes of extent 1 put before.
Value with_rank(const Value& x, int rank) {
  Shape shape = x.shape();
  while (shape.rank() < rank) shape.insert(0, 1);
  return graph::reshape(x, shape);
}

// x[..., K] times w[K, N] as one product of matrices.
Value rows_times(const Value& x, const Value& w) {
  Shape shape = x.shape();
  int64_t rows = 1;  // not elements / width, because the width may be 0
  for (int i = 0; i < x.rank() - 1; ++i) rows *= shape[i];
  const int64_t width = shape.back();
  shape[x.rank() - 1] = w.shape()[1];
  return graph::reshape(graph::matmul(graph::reshape(x, {rows, width}), w), shape);
}

void expect_bias(const Call& call, const Value& bias, const Value& weight) {
  const int64_t outputs = weight.shape()[0];
  if (!(bias.shape() == Shape{outputs}))
    call.shape_error(fmt::format("expected bias[{}], got shape {}", outputs, to_string(bias.shape())));
  if (bias.dtype() != weight.dtype())
    call.dtype_error(fmt::format("expected a bias of the weight's dtype {}, got {}; convert one with .to(dtype)",
                                 name_of(weight.dtype()), name_of(bias.dtype())));
}

graph::PoolAttrs pool_attrs(const Pair& kernel, const PoolOptions& options) {
  const Pair stride = options.stride.value_or(kernel);
  return {.kernel = {kernel.height, kernel.width},
          .stride = {stride.height, stride.width},
          .padding_low = {options.padding.height, options.padding.width},
          .padding_high = {options.padding.height, options.padding.width},
          .dilation = {options.dilation.height, options.dilation.width},
          .ceil_mode = options.ceil_mode,
          .count_include_pad = options.count_include_pad,
          .input = {}};
}

}  // namespace

Tensor matmul(Arg a, Arg b) {
  const Call call("matmul", a.loc);
  Value x = call(a), y = call(b);
  if (x.rank() == 0 || y.rank() == 0) call.shape_error("expected tensors with axes, got a 0-d tensor; use * to scale");
  const bool row = x.rank() == 1, column = y.rank() == 1;
  if (row) x = graph::unsqueeze(x, 0);
  if (column) y = graph::unsqueeze(y, 1);
  if (x.shape().back() != y.shape()[y.rank() - 2])
    call.shape_error(
        fmt::format("expected the last axis of the first and the last but one of the second to be equal, got {} and {}",
                    to_string(a.tensor.shape()), to_string(b.tensor.shape())));
  const int rank = std::max(x.rank(), y.rank());
  Value z = y.rank() == 2 && x.rank() > 2 ? rows_times(x, y) : graph::matmul(with_rank(x, rank), with_rank(y, rank));
  if (column) z = graph::squeeze(z, z.rank() - 1);
  if (row) z = graph::squeeze(z, z.rank() - (column ? 1 : 2));
  return wrap(z);
}

Tensor linear(Arg x, Arg weight, const Tensor& bias) {
  const Call call("linear", x.loc);
  const Value v = call(x), w = call(weight), b = call.optional(bias);
  if (w.rank() != 2 || v.rank() == 0 || v.shape().back() != w.shape()[1])
    call.shape_error(fmt::format("expected x[..., in] and weight[out, in], got {} and {}", to_string(v.shape()),
                                 to_string(w.shape())));
  const Value y = rows_times(v, graph::transpose(w, 0, 1));
  if (!b) return wrap(y);
  expect_bias(call, b, w);
  return wrap(y + b);
}

Tensor conv2d(Arg x, Arg weight, const Tensor& bias, Conv2dFunctionOptions options) {
  const Call call("conv2d", x.loc);
  const Value v = call(x), w = call(weight), b = call.optional(bias);
  const Pair high = options.padding_high.value_or(options.padding);
  const Value y = graph::conv2d(v, w,
                                {.stride = {options.stride.height, options.stride.width},
                                 .padding_low = {options.padding.height, options.padding.width},
                                 .padding_high = {high.height, high.width},
                                 .dilation = {options.dilation.height, options.dilation.width},
                                 .groups = options.groups,
                                 .epilogue = {},
                                 .target = {}});
  if (!b) return wrap(y);
  expect_bias(call, b, w);
  return wrap(y + graph::reshape(b, {1, b.shape()[0], 1, 1}));
}

std::pair<Tensor, Tensor> max_pool2d_with_indices(Arg x, Pair kernel_size, PoolOptions options) {
  const Call call("max_pool2d", x.loc);
  auto [y, index] = graph::max_pool2d(call(x), pool_attrs(kernel_size, options));
  return wrap(std::pair(y, graph::cast(index, DType::I64)));
}
Tensor max_pool2d(Arg x, Pair kernel_size, PoolOptions options) {
  const Call call("max_pool2d", x.loc);
  return wrap(graph::max_pool2d(call(x), pool_attrs(kernel_size, options)).first);
}
Tensor avg_pool2d(Arg x, Pair kernel_size, PoolOptions options) {
  const Call call("avg_pool2d", x.loc);
  options.dilation = 1;
  return wrap(graph::avg_pool2d(call(x), pool_attrs(kernel_size, options)));
}
Tensor adaptive_avg_pool2d(Arg x, Pair output_size) {
  const Call call("adaptive_avg_pool2d", x.loc);
  return wrap(graph::adaptive_avg_pool2d(call(x), {.size = {output_size.height, output_size.width}, .input = {}}));
}
Tensor adaptive_max_pool2d(Arg x, Pair output_size) {
  const Call call("adaptive_max_pool2d", x.loc);
  return wrap(
      graph::adaptive_max_pool2d(call(x), {.size = {output_size.height, output_size.width}, .input = {}}).first);
}

}  // namespace stoker
