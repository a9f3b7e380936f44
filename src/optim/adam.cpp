#include <stoker/optim/adam.h>

#include <cmath>

#include "graph/ops/attributes.h"
#include "optim/expect.h"
#include "tensor/update.h"

namespace stoker::optim {
namespace {

template <bool Decoupled>
constexpr const char* kName = Decoupled ? "AdamW" : "Adam";

template <bool Decoupled>
void check(const BasicAdamOptions<Decoupled>& o) {
  constexpr const char* name = kName<Decoupled>;
  const auto [beta1, beta2] = o.betas;
  expect(o.lr >= 0, name, "lr of at least 0", o.lr, "the default is 1e-3");
  expect(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1, name, "betas in [0, 1)",
         fmt::format("{} and {}", beta1, beta2), "the defaults are 0.9 and 0.999");
  expect(o.eps >= 0, name, "eps of at least 0", o.eps, "the default is 1e-8");
  expect(o.weight_decay >= 0, name, "weight_decay of at least 0", o.weight_decay, "0 turns it off");
}

}  // namespace

template <bool Decoupled>
BasicAdam<Decoupled>::BasicAdam(std::vector<Tensor> params, Options options) : Optimizer(kName<Decoupled>) {
  add_param_group({std::move(params), options});
}

template <bool Decoupled>
BasicAdam<Decoupled>::BasicAdam(std::vector<ParamGroup<Options>> groups) : Optimizer(kName<Decoupled>) {
  expect(!groups.empty(), name(), "at least one group", "an empty list", "pass net.parameters()");
  for (auto& group : groups) add_param_group(std::move(group));
}

template <bool Decoupled>
void BasicAdam<Decoupled>::add_param_group(ParamGroup<Options> group) {
  check(group.options);
  add_params(std::move(group.params), group.options.lr);
  options_.push_back(group.options);
}

template <bool Decoupled>
const BasicAdamOptions<Decoupled>& BasicAdam<Decoupled>::options(size_t group) const {
  check_group(group);
  return options_[group];
}

template <bool Decoupled>
void BasicAdam<Decoupled>::set_options(const Options& options, size_t group) {
  check_group(group);
  check(options);
  options_[group] = options;
}

template <bool Decoupled>
std::vector<StateField> BasicAdam<Decoupled>::hyperparameters(size_t group) {
  Options& o = options_[group];
  return {{"lr", &o.lr},
          {"beta1", &o.betas.first},
          {"beta2", &o.betas.second},
          {"eps", &o.eps},
          {"weight_decay", &o.weight_decay},
          {"amsgrad", &o.amsgrad},
          {"maximize", &o.maximize}};
}

template <bool Decoupled>
void BasicAdam<Decoupled>::check_options(size_t group) const {
  check(options_[group]);
}

template <bool Decoupled>
std::vector<std::string> BasicAdam<Decoupled>::state_names(size_t group) const {
  std::vector<std::string> names{"exp_avg", "exp_avg_sq"};
  if (options_[group].amsgrad) names.push_back("max_exp_avg_sq");
  return names;
}

// The bias corrections depend on the step.
template <bool Decoupled>
int64_t BasicAdam<Decoupled>::phase(int64_t step, bool) const {
  return step;
}

template <bool Decoupled>
void BasicAdam<Decoupled>::update(size_t group, const Batch& batch) {
  const Options& o = options_[group];
  const double step = double(batch.phase);
  detail::update_cells("adam_update",
                       graph::AdamAttrs{.tensors = int64_t(batch.params.size()),
                                        .beta1 = o.betas.first,
                                        .beta2 = o.betas.second,
                                        .eps = o.eps,
                                        .weight_decay = o.weight_decay,
                                        .decoupled = Decoupled,
                                        .amsgrad = o.amsgrad,
                                        .maximize = o.maximize},
                       batch.cells(), batch.gradients,
                       {o.lr, 1 - std::pow(o.betas.first, step), 1 - std::pow(o.betas.second, step)});
}

template class BasicAdam<false>;
template class BasicAdam<true>;

}  // namespace stoker::optim
