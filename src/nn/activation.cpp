#include <stoker/nn/activation.h>
#include <stoker/ops.h>

#include "nn/expect.h"
#include "nn/repr.h"

namespace stoker::nn {

Tensor ReLU::forward(const Tensor& x) { return relu(x); }
Tensor SiLU::forward(const Tensor& x) { return silu(x); }
Tensor Sigmoid::forward(const Tensor& x) { return sigmoid(x); }
Tensor Tanh::forward(const Tensor& x) { return tanh(x); }
Tensor Mish::forward(const Tensor& x) { return mish(x); }
Tensor Hardsigmoid::forward(const Tensor& x) { return hardsigmoid(x); }
Tensor Hardswish::forward(const Tensor& x) { return hardswish(x); }
Tensor LogSigmoid::forward(const Tensor& x) { return log_sigmoid(x); }

Tensor LeakyReLU::forward(const Tensor& x) { return leaky_relu(x, options.negative_slope); }
std::string LeakyReLU::extra_repr() const { return Repr().always("negative_slope", options.negative_slope); }

Tensor ELU::forward(const Tensor& x) { return elu(x, options.alpha); }
std::string ELU::extra_repr() const { return Repr().always("alpha", options.alpha); }

Tensor GELU::forward(const Tensor& x) { return gelu(x, options.approximate); }
std::string GELU::extra_repr() const { return Repr().unless(false, "approximate", options.approximate); }

Tensor Softplus::forward(const Tensor& x) { return softplus(x, options.beta, options.threshold); }
std::string Softplus::extra_repr() const {
  return Repr().always("beta", options.beta).always("threshold", options.threshold);
}

Hardtanh::Hardtanh(HardtanhOptions options) : ActivationLayer(options) {
  expect(options.min_val < options.max_val, "Hardtanh", "min_val below max_val",
         fmt::format("{} and {}", options.min_val, options.max_val), "swap them");
}
Hardtanh::Hardtanh(Module& parent, std::string name, HardtanhOptions options) : Hardtanh(options) {
  parent.register_module(std::move(name), *this);
}
Tensor Hardtanh::forward(const Tensor& x) { return hardtanh(x, options.min_val, options.max_val); }
std::string Hardtanh::extra_repr() const {
  return Repr().always("min_val", options.min_val).always("max_val", options.max_val);
}

Tensor Softmax::forward(const Tensor& x) { return softmax(x, options.dim); }
std::string Softmax::extra_repr() const { return Repr().always("dim", options.dim); }

Tensor LogSoftmax::forward(const Tensor& x) { return log_softmax(x, options.dim); }
std::string LogSoftmax::extra_repr() const { return Repr().always("dim", options.dim); }

}  // namespace stoker::nn
