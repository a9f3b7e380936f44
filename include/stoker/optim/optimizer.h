/// \file
/// Optimizer: what SGD, Adam and AdamW have in common.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <stoker/io.h>
#include <stoker/tensor.h>

namespace stoker::optim {

/// Parameters with options of their own:
///
///     optim::SGD opt({{net.body.parameters(), {.lr = 0.01}}, {net.head.parameters(), {.lr = 0.1}}});
template <class Options>
struct ParamGroup {
  std::vector<Tensor> params;
  Options options = {};
};

/// A number, or numbers, that a state dict keeps under a name.
struct StateField {
  std::string name;
  std::variant<double*, int64_t*, bool*, std::vector<double>*, std::vector<int64_t>*> value;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Updates every parameter that has a gradient, and starts the whole step: forward pass, backward pass and update are
  /// one plan. Does not wait. Gradients are used up unless keep_grads: reading one afterwards is a GraphError.
  /// A parameter that is frozen or has no gradient is left alone, and so is its state.
  /// Errors: GraphError for a parameter whose gradient an earlier step() used up; nothing is then updated.
  void step(Loc loc = Loc::here());
  /// Forgets the gradients of every parameter.
  void zero_grad();

  size_t group_count() const { return groups_.size(); }
  /// Errors here and below: ValueError for a group that is not there.
  const std::vector<Tensor>& params(size_t group = 0) const;
  /// The learning rate of the next step. Changing it never makes a new plan.
  double lr(size_t group = 0) const;
  /// Sets one group's rate, or every group's. ValueError unless it is finite and at least 0.
  void set_lr(double lr, size_t group);
  void set_lr(double lr);
  /// The rate that the group was made with: what schedulers start from, whatever lr() is now.
  double initial_lr(size_t group = 0) const;

  /// A snapshot of everything that the next step depends on but the parameters themselves, under PyTorch's names:
  ///   state.<i>.step, state.<i>.<tensor>     of parameter i, counted over all groups; absent while it has no state
  ///   param_groups.<g>.params                i64 numbers of the group's parameters
  ///   param_groups.<g>.<option>              f64 or bool, lr and initial_lr among them
  StateDict state_dict() const;
  /// Restores a snapshot, hyperparameters included; what the constructor was given is forgotten. Tensors go to their
  /// parameter's device and dtype.
  /// Errors: ValueError that lists every entry that is missing, unexpected or of the wrong shape, with the parameter's
  /// name; the optimizer is then unchanged.
  void load_state_dict(const StateDict& dict, Loc loc = Loc::here());

 protected:
  /// Parameters of one group that one node updates: alike in device, dtype and phase.
  struct Batch {
    std::vector<Tensor> params, gradients;
    std::vector<Tensor> state;  ///< every first state tensor, then every second ...
    int64_t phase = 0;
    /// What update_cells takes: parameters, then state.
    std::vector<Tensor> cells() const;
  };

  explicit Optimizer(std::string name) : name_(std::move(name)) {}
  /// Appends a group; called once for each by constructors. ValueError for an empty group, a plain value, or a
  /// parameter that is there already.
  void add_params(std::vector<Tensor> params, double lr);
  /// Throws ValueError unless there is such a group.
  void check_group(size_t group) const;
  const std::string& name() const { return name_; }

  /// The group's hyperparameters, "lr" first.
  virtual std::vector<StateField> hyperparameters(size_t group) = 0;
  /// Throws ValueError for an option outside of its range.
  virtual void check_options(size_t group) const = 0;
  virtual bool keeps_gradients(size_t group) const = 0;
  /// The state tensors that a parameter of the group has; each starts as zeros. A group whose options change may need
  /// more, or fewer, of them than it had.
  virtual std::vector<std::string> state_names(size_t group) const = 0;
  /// Parameters of a group share a node when this number is the same for them. `step` counts from 1; `fresh`: some
  /// state tensor was made for this step.
  virtual int64_t phase(int64_t step, bool fresh) const = 0;
  /// Records the node that updates a batch.
  virtual void update(size_t group, const Batch& batch) = 0;

 private:
  struct ParamState {
    int64_t step = 0;
    std::map<std::string, Tensor> tensors;
  };
  struct Group {
    std::vector<Tensor> params;
    std::vector<ParamState> states;
    double initial_lr = 0;
  };
  struct Pending;

  std::vector<Pending> prepare(size_t group) const;
  ParamState next_state(const Tensor& param, const ParamState& state, const std::vector<std::string>& names) const;
  // What the state dict keeps of a group. Those of a const optimizer are only read.
  std::vector<StateField> fields(size_t group) const;
  double& lr_field(size_t group) const;
  ParamState read_state(const std::string& prefix, const Tensor& param, const std::vector<std::string>& names,
                        class StateReader& reader) const;

  std::string name_;
  std::vector<Group> groups_;
};

}  // namespace stoker::optim
