/// \file
/// Normalisation layers. Sources: Ioffe and Szegedy 2015 (batch), Ba, Kiros and Hinton 2016 (layer).
#pragma once

#include <stoker/nn/module.h>

namespace stoker::nn {

struct BatchNormOptions {
  int64_t num_features = 0;
  double eps = 1e-5;
  double momentum = 0.1;  ///< running = (1 - momentum) running + momentum batch: the other way round than in ONNX
  bool affine = true;     ///< has weight and bias
  bool track_running_stats = true;  ///< otherwise the batch's statistics serve in evaluation too
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;

/// y = (x - mean) / sqrt(var + eps) * weight + bias for each channel (axis 1). Training takes mean and biased variance
/// of the batch and moves running_mean and running_var, the latter with the unbiased variance; evaluation takes the
/// running ones. weight starts at 1, bias at 0. num_batches_tracked (i64) counts the training batches. Errors:
/// ValueError in training for one value per channel; the running statistics are then unchanged.
class BatchNorm : public Module {
 public:
  using Options = BatchNormOptions;
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  const BatchNormOptions options;
  Parameter weight, bias;
  Buffer running_mean, running_var, num_batches_tracked;

 protected:
  explicit BatchNorm(BatchNormOptions options);
  /// ShapeError unless `x` has the axes that the layer is for.
  virtual void check_input(const Tensor& x) const = 0;
};

/// BatchNorm of x[N, C] or x[N, C, L].
class BatchNorm1d : public BatchNorm {
 public:
  explicit BatchNorm1d(BatchNormOptions options) : BatchNorm(options) {}
  BatchNorm1d(Module& parent, std::string name, BatchNormOptions options) : BatchNorm(options) {
    parent.register_module(std::move(name), *this);
  }

 protected:
  void check_input(const Tensor& x) const override;
};

/// BatchNorm of x[N, C, H, W].
class BatchNorm2d : public BatchNorm {
 public:
  explicit BatchNorm2d(BatchNormOptions options) : BatchNorm(options) {}
  BatchNorm2d(Module& parent, std::string name, BatchNormOptions options) : BatchNorm(options) {
    parent.register_module(std::move(name), *this);
  }

 protected:
  void check_input(const Tensor& x) const override;
};

struct LayerNormOptions {
  Shape normalized_shape = {};  ///< extents of the last axes
  double eps = 1e-5;
  bool elementwise_affine = true;  ///< has weight and, unless `bias` is off, bias
  bool bias = true;
};

/// y = (x - mean) / sqrt(var + eps) * weight + bias, with mean and biased variance over the last axes. weight and bias
/// have normalized_shape and start at 1 and 0.
class LayerNorm : public Module {
 public:
  using Options = LayerNormOptions;
  explicit LayerNorm(LayerNormOptions options);
  LayerNorm(Module& parent, std::string name, LayerNormOptions options) : LayerNorm(options) {
    parent.register_module(std::move(name), *this);
  }
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  const LayerNormOptions options;
  Parameter weight, bias;
};

}  // namespace stoker::nn
