// Softmax, normalisation and dropout.
#include "tensor/functions/call.h"

namespace stoker {

using namespace detail;

namespace {

// A vector of weights that may be absent.
Value vector_or(const Call& call, const Tensor& given, double absent, int64_t extent, const Value& x) {
  if (!given.defined()) return graph::full(absent, {x.dtype(), {extent}, x.device()});
  const Value v = call(given);
  if (v.type().elements() != extent)
    call.shape_error(
        fmt::format("expected a weight and a bias of {} elements, got shape {}", extent, to_string(v.shape())));
  return graph::reshape(v, {extent});
}

// running = (1 - momentum) * running + momentum * batch
void move_running(const Tensor& running, const Value& batch, double momentum, const Call& call) {
  const Value old = call(running), moved = graph::widen(old) * (1 - momentum) + batch * momentum;
  running.assign(wrap(graph::cast(moved, old.dtype())), call.loc());
}

Tensor normalize_batch(const Call& call, const Value& x, const Tensor& running_mean, const Tensor& running_var,
                       const Value& weight, const Value& bias, double momentum, double eps) {
  const double n = double(x.type().elements()) / double(std::max<int64_t>(x.shape()[1], 1));
  if (n <= 1)
    call.value_error(fmt::format(
        "expected more than one value per channel in training, got shape {}; drop the last batch of one, or "
        "call eval()",
        to_string(x.shape())));
  const graph::Normalized batch = graph::batch_norm(x, weight, bias, eps);
  const graph::GradMode no_grad(false);
  if (running_mean.defined()) move_running(running_mean, batch.mean, momentum, call);
  if (running_var.defined()) {
    const Value biased = graph::clamp_min(graph::reciprocal(graph::square(batch.rstd)) - eps, 0);
    move_running(running_var, biased * (n / (n - 1)), momentum, call);
  }
  return wrap(batch.y);
}

// A 0-d tensor is a line of one element, as in PyTorch.
Tensor along_line(std::string_view name, Arg x, int64_t axis, Value (*f)(const Value&, int)) {
  const Call call(name, x.loc);
  const Value v = to_floating(call(x)), lines = v.rank() == 0 ? graph::reshape(v, {1}) : v;
  return wrap(graph::reshape(f(lines, call.axis(axis, lines)), v.shape()));
}

}  // namespace

Tensor softmax(Arg x, int64_t axis) { return along_line("softmax", x, axis, graph::softmax); }
Tensor log_softmax(Arg x, int64_t axis) { return along_line("log_softmax", x, axis, graph::log_softmax); }

Tensor layer_norm(Arg x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias, double eps) {
  const Call call("layer_norm", x.loc);
  const Value v = call(x);
  const int leading = v.rank() - normalized_shape.rank();
  bool matches = leading >= 0 && normalized_shape.rank() > 0;
  for (int i = 0; matches && i < normalized_shape.rank(); ++i) matches = v.shape()[leading + i] == normalized_shape[i];
  if (!matches)
    call.shape_error(
        fmt::format("expected a shape that ends in {}, got {}", to_string(normalized_shape), to_string(v.shape())));
  const int64_t width = numel(normalized_shape);
  Shape lines;
  for (int i = 0; i < leading; ++i) lines.push_back(v.shape()[i]);
  lines.push_back(width);
  const Value w = vector_or(call, weight, 1, width, v), b = vector_or(call, bias, 0, width, v);
  return wrap(graph::reshape(graph::layer_norm(graph::reshape(v, lines), w, b, eps).y, v.shape()));
}

Tensor batch_norm(Arg x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias, bool training, double momentum, double eps) {
  const Call call("batch_norm", x.loc);
  const Value v = call(x);
  call.expect_floating(v);
  if (v.rank() < 2) call.shape_error(fmt::format("expected x[N, C, ...], got shape {}", to_string(v.shape())));
  const int64_t channels = v.shape()[1];
  const Value w = vector_or(call, weight, 1, channels, v), b = vector_or(call, bias, 0, channels, v);
  if (training) return normalize_batch(call, v, running_mean, running_var, w, b, momentum, eps);
  if (!running_mean.defined() || !running_var.defined())
    call.value_error("expected a running mean and variance in evaluation; pass them, or training=true");
  Shape along = Dims::filled(v.rank(), 1);
  along[1] = channels;
  const Value wide = graph::widen(v);
  auto channel = [&](const Value& vector) { return graph::reshape(graph::cast(vector, wide.dtype()), along); };
  const Value mean = channel(vector_or(call, running_mean, 0, channels, v)),
              var = channel(vector_or(call, running_var, 1, channels, v));
  const Value scale = channel(w) * graph::rsqrt(var + eps);
  return wrap(graph::cast(wide * scale + (channel(b) - mean * scale), v.dtype()));
}

}  // namespace stoker
