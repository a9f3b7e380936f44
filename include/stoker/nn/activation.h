/// \file
/// Activations as layers, for Sequential; the functions of the same names in ops.h do the work. Shapes and floating
/// dtypes stay as they are.
#pragma once

#include <stoker/nn/module.h>

namespace stoker::nn {

/// An activation with options, alone or as a child.
template <class OptionsT>
class ActivationLayer : public Module {
 public:
  using Options = OptionsT;
  explicit ActivationLayer(OptionsT options = {}) : options(options) {}
  ActivationLayer(Module& parent, std::string name, OptionsT options = {})
      : Module(parent, std::move(name)), options(options) {}

  const OptionsT options;
};

class ReLU : public Module {
 public:
  using Module::Module;
  Tensor forward(const Tensor& x) override;
};

/// x * sigmoid(x).
class SiLU : public Module {
 public:
  using Module::Module;
  Tensor forward(const Tensor& x) override;
};

class Sigmoid : public Module {
 public:
  using Module::Module;
  Tensor forward(const Tensor& x) override;
};

class Tanh : public Module {
 public:
  using Module::Module;
  Tensor forward(const Tensor& x) override;
};

/// x * tanh(softplus(x)).
class Mish : public Module {
 public:
  using Module::Module;
  Tensor forward(const Tensor& x) override;
};

class Hardsigmoid : public Module {
 public:
  using Module::Module;
  Tensor forward(const Tensor& x) override;
};

class Hardswish : public Module {
 public:
  using Module::Module;
  Tensor forward(const Tensor& x) override;
};

class LogSigmoid : public Module {
 public:
  using Module::Module;
  Tensor forward(const Tensor& x) override;
};

struct LeakyReLUOptions {
  double negative_slope = 0.01;
};

class LeakyReLU : public ActivationLayer<LeakyReLUOptions> {
 public:
  using ActivationLayer::ActivationLayer;
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

struct ELUOptions {
  double alpha = 1.0;
};

class ELU : public ActivationLayer<ELUOptions> {
 public:
  using ActivationLayer::ActivationLayer;
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

struct GELUOptions {
  bool approximate = false;  ///< the tanh formula, PyTorch's approximate='tanh'
};

/// x * Phi(x), Phi the normal distribution function. Hendrycks and Gimpel 2016.
class GELU : public ActivationLayer<GELUOptions> {
 public:
  using ActivationLayer::ActivationLayer;
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

struct SoftplusOptions {
  double beta = 1.0;
  double threshold = 20.0;  ///< the identity where beta * x exceeds it
};

/// log(1 + exp(beta x)) / beta.
class Softplus : public ActivationLayer<SoftplusOptions> {
 public:
  using ActivationLayer::ActivationLayer;
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

struct HardtanhOptions {
  double min_val = -1.0;
  double max_val = 1.0;
};

/// Clamps to [min_val, max_val]; the gradient is 0 at and beyond the bounds.
class Hardtanh : public ActivationLayer<HardtanhOptions> {
 public:
  explicit Hardtanh(HardtanhOptions options = {});
  Hardtanh(Module& parent, std::string name, HardtanhOptions options = {});
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

/// The axis along which a softmax sums to one. The last one unless said otherwise (PyTorch guesses from the rank).
struct SoftmaxOptions {
  int64_t dim = -1;
};

class Softmax : public ActivationLayer<SoftmaxOptions> {
 public:
  using ActivationLayer::ActivationLayer;
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

class LogSoftmax : public ActivationLayer<SoftmaxOptions> {
 public:
  using ActivationLayer::ActivationLayer;
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

}  // namespace stoker::nn
