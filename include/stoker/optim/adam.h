/// \file
/// Adam and AdamW.
#pragma once

#include <utility>

#include <stoker/optim/optimizer.h>

namespace stoker::optim {

/// AdamOptions and AdamWOptions differ in the default of weight_decay alone: 0 and 0.01.
template <bool Decoupled>
struct BasicAdamOptions {
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};  ///< how fast the two moments forget, each in [0, 1)
  double eps = 1e-8;                               ///< added to the root of the corrected second moment
  double weight_decay = Decoupled ? 1e-2 : 0.0;
  bool amsgrad = false;     ///< divides by the largest second moment so far (before its correction, as PyTorch)
  bool maximize = false;    ///< climbs instead of descends
  bool keep_grads = false;  ///< leaves gradients for reading, and for adding to, after step()
};
using AdamOptions = BasicAdamOptions<false>;
using AdamWOptions = BasicAdamOptions<true>;

/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g²; at a parameter's step t
/// p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps).
/// Adam (Kingma and Ba 2015) adds weight_decay p to the gradient first; AdamW (Loshchilov and Hutter 2019) multiplies p
/// by 1 - lr weight_decay instead. State: exp_avg (m), exp_avg_sq (v), max_exp_avg_sq (with amsgrad).
template <bool Decoupled>
class BasicAdam final : public Optimizer {
 public:
  using Options = BasicAdamOptions<Decoupled>;
  /// Errors: ValueError for an option outside of its range.
  explicit BasicAdam(std::vector<Tensor> params, Options options = {});
  explicit BasicAdam(std::vector<ParamGroup<Options>> groups);
  void add_param_group(ParamGroup<Options> group);

  const Options& options(size_t group = 0) const;
  /// Takes effect at the next step. initial_lr() stays.
  void set_options(const Options& options, size_t group = 0);

 private:
  std::vector<StateField> hyperparameters(size_t group) override;
  void check_options(size_t group) const override;
  bool keeps_gradients(size_t group) const override { return options_[group].keep_grads; }
  std::vector<std::string> state_names(size_t group) const override;
  int64_t phase(int64_t step, bool fresh) const override;
  void update(size_t group, const Batch& batch) override;

  std::vector<Options> options_;
};

extern template class BasicAdam<false>;
extern template class BasicAdam<true>;
using Adam = BasicAdam<false>;
using AdamW = BasicAdam<true>;

}  // namespace stoker::optim
