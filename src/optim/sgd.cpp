#include <stoker/optim/sgd.h>

#include "graph/ops/attributes.h"
#include "optim/expect.h"
#include "tensor/update.h"

namespace stoker::optim {
namespace {

void check(const SGDOptions& o) {
  expect(o.lr >= 0, "SGD", "lr of at least 0", o.lr, "the default is 1e-3");
  expect(o.momentum >= 0, "SGD", "momentum of at least 0", o.momentum, "0 turns it off");
  expect(o.weight_decay >= 0, "SGD", "weight_decay of at least 0", o.weight_decay, "0 turns it off");
  expect(!o.nesterov || (o.momentum > 0 && o.dampening == 0), "SGD", "momentum above 0 and dampening 0 with nesterov",
         fmt::format("momentum {} and dampening {}", o.momentum, o.dampening), "change them or turn nesterov off");
}

}  // namespace

SGD::SGD(std::vector<Tensor> params, SGDOptions options) : Optimizer("SGD") {
  add_param_group({std::move(params), options});
}

SGD::SGD(std::vector<ParamGroup<SGDOptions>> groups) : Optimizer("SGD") {
  expect(!groups.empty(), name(), "at least one group", "an empty list", "pass net.parameters()");
  for (auto& group : groups) add_param_group(std::move(group));
}

void SGD::add_param_group(ParamGroup<SGDOptions> group) {
  check(group.options);
  add_params(std::move(group.params), group.options.lr);
  options_.push_back(group.options);
}

const SGDOptions& SGD::options(size_t group) const {
  check_group(group);
  return options_[group];
}

void SGD::set_options(const SGDOptions& options, size_t group) {
  check_group(group);
  check(options);
  options_[group] = options;
}

std::vector<StateField> SGD::hyperparameters(size_t group) {
  SGDOptions& o = options_[group];
  return {{"lr", &o.lr},
          {"momentum", &o.momentum},
          {"dampening", &o.dampening},
          {"weight_decay", &o.weight_decay},
          {"nesterov", &o.nesterov},
          {"maximize", &o.maximize}};
}

void SGD::check_options(size_t group) const { check(options_[group]); }

std::vector<std::string> SGD::state_names(size_t group) const {
  if (options_[group].momentum == 0) return {};
  return {"momentum_buffer"};
}

// The first gradient goes into a new buffer undampened.
int64_t SGD::phase(int64_t, bool fresh) const { return fresh; }

void SGD::update(size_t group, const Batch& batch) {
  const SGDOptions& o = options_[group];
  detail::update_cells("sgd_update",
                       graph::SgdAttrs{.tensors = int64_t(batch.params.size()),
                                       .momentum = o.momentum,
                                       .dampening = o.dampening,
                                       .weight_decay = o.weight_decay,
                                       .nesterov = o.nesterov,
                                       .maximize = o.maximize},
                       batch.cells(), batch.gradients, {o.lr, double(batch.phase)});
}

}  // namespace stoker::optim
