#include <stoker/optim/optimizer.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/recorder.h"
#include "optim/expect.h"
#include "optim/state.h"
#include "tensor/update.h"

namespace stoker::optim {
namespace {

std::string describe(const Tensor& param) {
  const std::string& name = detail::Access::cell(param)->name;
  return name.empty() ? fmt::format("a parameter of shape {}", to_string(param.shape())) : fmt::format("'{}'", name);
}

std::string group_prefix(size_t group) { return fmt::format("param_groups.{}.", group); }
std::string state_prefix(int64_t param) { return fmt::format("state.{}.", param); }

}  // namespace

// What a step is going to do for one node.
struct Optimizer::Pending {
  Batch batch;
  std::vector<size_t> members;     // places in the group
  std::vector<ParamState> states;  // theirs after the step
};

std::vector<Tensor> Optimizer::Batch::cells() const {
  std::vector<Tensor> all = params;
  all.insert(all.end(), state.begin(), state.end());
  return all;
}

// --- groups ----------------------------------------------------------------------------------------------------------

void Optimizer::add_params(std::vector<Tensor> params, double lr) {
  expect(!params.empty(), name_, "at least one parameter", "an empty list", "pass net.parameters()");
  std::vector<const graph::Cell*> known;
  for (const Group& g : groups_)
    for (const Tensor& p : g.params) known.push_back(detail::Access::cell(p).get());
  for (size_t i = 0; i < params.size(); ++i) {
    expect(params[i].defined() && params[i].is_cell(), name_, "parameters, or tensors made cells by requires_grad_()",
           fmt::format("a plain value at place {}", i), "an optimizer changes cells alone");
    const graph::Cell* cell = detail::Access::cell(params[i]).get();
    expect(std::find(known.begin(), known.end(), cell) == known.end(), name_, "each parameter once",
           describe(params[i]) + " again", "leave it out of one of the lists");
    known.push_back(cell);
  }
  Group group;
  group.states.resize(params.size());
  group.params = std::move(params);
  group.initial_lr = lr;
  groups_.push_back(std::move(group));
}

void Optimizer::check_group(size_t group) const {
  expect(group < groups_.size(), name_, fmt::format("a group below {}", groups_.size()), group, "see group_count()");
}

const std::vector<Tensor>& Optimizer::params(size_t group) const {
  check_group(group);
  return groups_[group].params;
}

void Optimizer::zero_grad() {
  for (const Group& g : groups_)
    for (const Tensor& p : g.params) detail::clear_gradient(p);
}

std::vector<StateField> Optimizer::fields(size_t group) const {
  auto& self = const_cast<Optimizer&>(*this);
  std::vector<StateField> all = self.hyperparameters(group);
  all.push_back({"initial_lr", &self.groups_[group].initial_lr});
  return all;
}

double& Optimizer::lr_field(size_t group) const {
  check_group(group);
  return *std::get<double*>(const_cast<Optimizer*>(this)->hyperparameters(group).front().value);
}

double Optimizer::lr(size_t group) const { return lr_field(group); }

void Optimizer::set_lr(double lr, size_t group) {
  expect(std::isfinite(lr) && lr >= 0, name_, "a finite lr of at least 0", lr, "check the schedule");
  lr_field(group) = lr;
}

void Optimizer::set_lr(double lr) {
  for (size_t g = 0; g < groups_.size(); ++g) set_lr(lr, g);
}

double Optimizer::initial_lr(size_t group) const {
  check_group(group);
  return groups_[group].initial_lr;
}

// --- the step --------------------------------------------------------------------------------------------------------

void Optimizer::step(Loc loc) {
  const graph::LocScope line(loc);
  std::vector<std::vector<Pending>> work;
  for (size_t g = 0; g < groups_.size(); ++g) work.push_back(prepare(g));
  for (size_t g = 0; g < groups_.size(); ++g)
    for (Pending& p : work[g]) {
      for (const Tensor& param : p.batch.params)
        p.batch.gradients.push_back(detail::take_gradient(param, keeps_gradients(g)));
      update(g, p.batch);
      p.batch.gradients.clear();  // nobody holds them now, so that the plan does not store them
    }
  detail::step_boundary();
  // Counted only now: a step that did not start leaves the optimizer as it was.
  for (size_t g = 0; g < groups_.size(); ++g)
    for (Pending& p : work[g])
      for (size_t i = 0; i < p.members.size(); ++i) groups_[g].states[p.members[i]] = std::move(p.states[i]);
}

Optimizer::ParamState Optimizer::next_state(const Tensor& param, const ParamState& state,
                                            const std::vector<std::string>& names) const {
  ParamState next = state;
  ++next.step;
  for (const std::string& name : names) {
    Tensor& tensor = next.tensors[name];
    if (!tensor.defined()) {
      tensor = make_cell(zeros(param.shape(), {param.dtype(), param.device()}));
      const std::string& owner = detail::Access::cell(param)->name;
      detail::Access::cell(tensor)->name = owner.empty() ? name : owner + "." + name;
    } else if (tensor.device() != param.device() || tensor.dtype() != param.dtype()) {
      detail::reset_cell(tensor, tensor.detach().to(param.dtype()).to(param.device()));
    }
  }
  return next;
}

std::vector<Optimizer::Pending> Optimizer::prepare(size_t group) const {
  const Group& g = groups_[group];
  const std::vector<std::string> names = state_names(group);
  std::vector<Pending> pending;
  for (size_t i = 0; i < g.params.size(); ++i) {
    const Tensor& param = g.params[i];
    if (!param.requires_grad()) continue;
    if (!detail::has_gradient(param)) {
      detail::take_gradient(param, true);  // throws if an earlier step used it up
      continue;
    }
    ParamState next = next_state(param, g.states[i], names);
    const int64_t phase = this->phase(next.step, next.tensors.size() > g.states[i].tensors.size());
    auto place = std::find_if(pending.begin(), pending.end(), [&](const Pending& p) {
      const Tensor& first = p.batch.params[0];
      return p.batch.phase == phase && first.device() == param.device() && first.dtype() == param.dtype();
    });
    if (place == pending.end()) {
      place = pending.emplace(place);
      place->batch.phase = phase;
    }
    place->batch.params.push_back(param);
    place->members.push_back(i);
    place->states.push_back(std::move(next));
  }
  for (Pending& p : pending)
    for (const std::string& name : names)
      for (const ParamState& s : p.states) p.batch.state.push_back(s.tensors.at(name));
  return pending;
}

// --- state -----------------------------------------------------------------------------------------------------------

StateDict Optimizer::state_dict() const {
  StateDict dict;
  int64_t number = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g];
    write_fields(dict, group_prefix(g), fields(g));
    std::vector<int64_t> numbers(group.params.size());
    std::iota(numbers.begin(), numbers.end(), number);
    dict[group_prefix(g) + "params"] = number_tensor(numbers);
    const std::vector<std::string> names = state_names(g);
    for (size_t i = 0; i < group.params.size(); ++i, ++number) {
      const Tensor& param = group.params[i];
      const ParamState& state = group.states[i];
      const auto present = [&](const std::string& name) { return state.tensors.count(name) > 0; };
      if (std::none_of(names.begin(), names.end(), present)) continue;
      dict[state_prefix(number) + "step"] = number_tensor(state.step);
      // Zeros stand for what new options ask for and the next step would make.
      for (const std::string& name : names)
        dict[state_prefix(number) + name] =
            present(name) ? state.tensors.at(name).detach() : zeros(param.shape(), {param.dtype(), param.device()});
    }
  }
  return dict;
}

Optimizer::ParamState Optimizer::read_state(const std::string& prefix, const Tensor& param,
                                            const std::vector<std::string>& names, StateReader& reader) const {
  ParamState state;
  if (!reader.has(prefix)) return state;
  const std::string whose = describe(param);
  if (const Tensor* step = reader.find(prefix + "step", {}, whose)) state.step = step->item<int64_t>();
  if (state.step < 0) reader.fault(fmt::format("{}step of {} below 0", prefix, whose));
  for (const std::string& name : names)
    if (const Tensor* value = reader.find(prefix + name, param.shape(), whose))
      state.tensors[name] = make_cell(value->detach().to(param.dtype()).to(param.device()));
  return state;
}

void Optimizer::load_state_dict(const StateDict& dict, Loc loc) {
  const graph::LocScope line(loc);
  StateReader reader(dict);
  for (size_t g = 0; g < groups_.size(); ++g) {
    reader.check(group_prefix(g), fields(g));
    reader.find(group_prefix(g) + "params", {int64_t(groups_[g].params.size())});
  }
  // Which state there is to be depends on the options of the dict, so these come first and go back if it is refused.
  StateDict before;
  for (size_t g = 0; g < groups_.size(); ++g) {
    write_fields(before, group_prefix(g), fields(g));
    if (reader.good()) reader.read(group_prefix(g), fields(g));
  }
  std::vector<std::vector<ParamState>> states(groups_.size());
  int64_t number = 0;
  for (size_t g = 0; g < groups_.size(); ++g)
    for (const Tensor& param : groups_[g].params)
      states[g].push_back(read_state(state_prefix(number++), param, state_names(g), reader));
  try {
    reader.finish(name_, loc);
    for (size_t g = 0; g < groups_.size(); ++g) check_options(g);
  } catch (...) {
    for (size_t g = 0; g < groups_.size(); ++g) StateReader(before).read(group_prefix(g), fields(g));
    throw;
  }
  for (size_t g = 0; g < groups_.size(); ++g) groups_[g].states = std::move(states[g]);
}

}  // namespace stoker::optim
