#include <stoker/nn/norm.h>
#include <stoker/ops.h>

#include "graph/recorder.h"
#include "nn/expect.h"
#include "nn/repr.h"

namespace stoker::nn {
namespace {

BatchNormOptions checked(const BatchNormOptions& o) {
  expect_at_least(1, "BatchNorm", "num_features", o.num_features, "set it to the extent of the input's axis 1");
  expect(o.eps >= 0, "BatchNorm", "eps of at least 0", o.eps, "the default is 1e-5");
  expect(o.momentum >= 0 && o.momentum <= 1, "BatchNorm", "momentum in [0, 1]", o.momentum,
         "give the share of the new batch; the default is 0.1");
  return o;
}

LayerNormOptions checked(const LayerNormOptions& o) {
  expect(!o.normalized_shape.empty(), "LayerNorm", "normalized_shape of at least one axis", "[]",
         "give the extents of the input's last axes");
  for (int64_t extent : o.normalized_shape)
    expect(extent >= 1, "LayerNorm", "normalized_shape of extents of at least 1", to_string(o.normalized_shape),
           "give the extents of the input's last axes");
  expect(o.eps >= 0, "LayerNorm", "eps of at least 0", o.eps, "the default is 1e-5");
  return o;
}

[[noreturn]] void wrong_axes(std::string_view layer, std::string_view axes, const Tensor& x) {
  throw ShapeError(layer, fmt::format("expected an input of axes {}, got {}; reshape it", axes, to_string(x.shape())),
                   graph::LocScope::current());
}

}  // namespace

BatchNorm::BatchNorm(BatchNormOptions o)
    : options(checked(o)),
      weight(*this, "weight", o.affine ? ones({o.num_features}) : Tensor()),
      bias(*this, "bias", o.affine ? zeros({o.num_features}) : Tensor()),
      running_mean(*this, "running_mean", o.track_running_stats ? zeros({o.num_features}) : Tensor()),
      running_var(*this, "running_var", o.track_running_stats ? ones({o.num_features}) : Tensor()),
      num_batches_tracked(*this, "num_batches_tracked", o.track_running_stats ? zeros({}, kI64) : Tensor()) {}

Tensor BatchNorm::forward(const Tensor& x) {
  check_input(x);
  const bool by_batch = training() || !options.track_running_stats;
  const Tensor y = batch_norm(x, running_mean, running_var, weight, bias, by_batch, options.momentum, options.eps);
  if (training() && options.track_running_stats) num_batches_tracked.assign(num_batches_tracked + 1);
  return y;
}

std::string BatchNorm::extra_repr() const {
  return Repr()
      .always("num_features", options.num_features)
      .unless(1e-5, "eps", options.eps)
      .unless(0.1, "momentum", options.momentum)
      .unless(true, "affine", options.affine)
      .unless(true, "track_running_stats", options.track_running_stats);
}

void BatchNorm1d::check_input(const Tensor& x) const {
  if (x.dim() != 2 && x.dim() != 3) wrong_axes("BatchNorm1d", "[N, C] or [N, C, L]", x);
}

void BatchNorm2d::check_input(const Tensor& x) const {
  if (x.dim() != 4) wrong_axes("BatchNorm2d", "[N, C, H, W]", x);
}

LayerNorm::LayerNorm(LayerNormOptions o)
    : options(checked(o)),
      weight(*this, "weight", o.elementwise_affine ? ones(o.normalized_shape) : Tensor()),
      bias(*this, "bias", o.elementwise_affine && o.bias ? zeros(o.normalized_shape) : Tensor()) {}
Tensor LayerNorm::forward(const Tensor& x) {
  return layer_norm(x, options.normalized_shape, weight, bias, options.eps);
}
std::string LayerNorm::extra_repr() const {
  return Repr()
      .always("normalized_shape", options.normalized_shape)
      .unless(1e-5, "eps", options.eps)
      .unless(true, "elementwise_affine", options.elementwise_affine)
      .unless(true, "bias", options.bias);
}

}  // namespace stoker::nn
