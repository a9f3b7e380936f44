/// \file
/// Stochastic gradient descent with momentum.
#pragma once

#include <stoker/optim/optimizer.h>

namespace stoker::optim {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;  ///< adds weight_decay * p to the gradient
  bool nesterov = false;    ///< needs momentum above 0 and dampening 0
  bool maximize = false;    ///< climbs instead of descends
  bool keep_grads = false;  ///< leaves gradients for reading, and for adding to, after step()
};

/// g += weight_decay p; v = momentum v + (1 - dampening) g, v = g at first; p -= lr v, or lr (g + momentum v) with
/// nesterov: Sutskever et al. 2013 in PyTorch's form. State: momentum_buffer (v), with momentum alone.
class SGD final : public Optimizer {
 public:
  using Options = SGDOptions;
  /// Errors: ValueError for an option outside of its range.
  explicit SGD(std::vector<Tensor> params, SGDOptions options = {});
  explicit SGD(std::vector<ParamGroup<SGDOptions>> groups);
  void add_param_group(ParamGroup<SGDOptions> group);

  const SGDOptions& options(size_t group = 0) const;
  /// Takes effect at the next step. initial_lr() stays.
  void set_options(const SGDOptions& options, size_t group = 0);

 private:
  std::vector<StateField> hyperparameters(size_t group) override;
  void check_options(size_t group) const override;
  bool keeps_gradients(size_t group) const override { return options_[group].keep_grads; }
  std::vector<std::string> state_names(size_t group) const override;
  int64_t phase(int64_t step, bool fresh) const override;
  void update(size_t group, const Batch& batch) override;

  std::vector<SGDOptions> options_;
};

}  // namespace stoker::optim
