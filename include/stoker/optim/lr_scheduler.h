/// \file
/// Learning-rate schedules. Each is a closed form: the rate at an epoch follows from initial_lr() of the group, the
/// schedule's options and the epoch alone, so that a resumed schedule gives the exact rates of an uninterrupted one, in
/// whatever order optimizer and schedule are made and loaded.
///
///     optim::LinearLR warm_up(opt, {.start_factor = 0.1, .total_iters = 500});
///     optim::CosineAnnealingLR cosine(opt, {.T_max = 9500});
///     optim::SequentialLR schedule(opt, {warm_up, cosine}, {500});
///     for (...) { ...; opt.step(); schedule.step(); }
///
/// "Epoch" is whatever lies between two calls of step(): an epoch, or one optimizer step.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <stoker/optim/optimizer.h>

namespace stoker::optim {

class LRScheduler {
 public:
  virtual ~LRScheduler() = default;
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  /// Moves on to the next epoch and gives the optimizer its rates. Call it after opt.step().
  void step();
  /// The epoch whose rates the optimizer has now; 0 for a new schedule.
  int64_t last_epoch() const { return last_epoch_; }
  /// The rates of the groups now.
  std::vector<double> last_lr() const;
  /// The rate of a group at an epoch, whatever epoch it is now.
  virtual double rate(int64_t epoch, size_t group = 0) const = 0;

  /// Epoch, initial rates and options, but no functions (LambdaLR): f64 and i64 tensors by name.
  StateDict state_dict() const;
  /// Restores a snapshot and gives the optimizer the rates of its epoch.
  /// Errors: ValueError that lists what is missing, unexpected or of the wrong length; nothing is then changed.
  void load_state_dict(const StateDict& dict, Loc loc = Loc::here());

 protected:
  explicit LRScheduler(Optimizer& optimizer, std::string name);
  /// Ends every constructor: checks the options and, as if epoch `last_epoch` had just been finished (-1: none), gives
  /// the optimizer the rates of the epoch after it.
  void start(int64_t last_epoch);
  double base_lr(size_t group) const;
  const std::string& name() const { return name_; }
  Optimizer& optimizer() const { return optimizer_; }
  /// The options that the state dict keeps.
  virtual std::vector<StateField> option_fields() = 0;
  /// Throws ValueError for an option outside of its range.
  virtual void check_options() const = 0;

 private:
  friend class SequentialLR;
  std::vector<StateField> fields() const;
  void apply();

  Optimizer& optimizer_;
  std::string name_;
  std::vector<double> base_lrs_;
  int64_t last_epoch_ = 0;
};

struct StepLROptions {
  int64_t step_size = 0;  ///< epochs between two drops
  double gamma = 0.1;
};
/// base * gamma^floor(t / step_size).
class StepLR final : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, StepLROptions options, int64_t last_epoch = -1);
  double rate(int64_t epoch, size_t group = 0) const override;

 private:
  std::vector<StateField> option_fields() override;
  void check_options() const override;
  StepLROptions options_;
};

struct MultiStepLROptions {
  std::vector<int64_t> milestones = {};  ///< epochs of a drop, in increasing order
  double gamma = 0.1;
};
/// base * gamma^(number of milestones <= t).
class MultiStepLR final : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, MultiStepLROptions options, int64_t last_epoch = -1);
  double rate(int64_t epoch, size_t group = 0) const override;

 private:
  std::vector<StateField> option_fields() override;
  void check_options() const override;
  MultiStepLROptions options_;
};

struct ExponentialLROptions {
  double gamma = 0;
};
/// base * gamma^t.
class ExponentialLR final : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, ExponentialLROptions options, int64_t last_epoch = -1);
  double rate(int64_t epoch, size_t group = 0) const override;

 private:
  std::vector<StateField> option_fields() override;
  void check_options() const override;
  ExponentialLROptions options_;
};

struct CosineAnnealingLROptions {
  int64_t T_max = 0;  ///< epochs from the initial rate to eta_min; beyond it the rate rises again
  double eta_min = 0;
};
/// eta_min + (base - eta_min) (1 + cos(pi t / T_max)) / 2. Loshchilov and Hutter 2017, without restarts.
class CosineAnnealingLR final : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, CosineAnnealingLROptions options, int64_t last_epoch = -1);
  double rate(int64_t epoch, size_t group = 0) const override;

 private:
  std::vector<StateField> option_fields() override;
  void check_options() const override;
  CosineAnnealingLROptions options_;
};

struct LinearLROptions {
  double start_factor = 1.0 / 3.0;
  double end_factor = 1.0;
  int64_t total_iters = 5;  ///< epochs from the first factor to the last
};
/// base times a factor that goes in equal steps from start_factor to end_factor, and stays there: a warm-up.
class LinearLR final : public LRScheduler {
 public:
  explicit LinearLR(Optimizer& optimizer, LinearLROptions options = {}, int64_t last_epoch = -1);
  double rate(int64_t epoch, size_t group = 0) const override;

 private:
  std::vector<StateField> option_fields() override;
  void check_options() const override;
  LinearLROptions options_;
};

/// base times a function of the epoch.
class LambdaLR final : public LRScheduler {
 public:
  using Factor = std::function<double(int64_t epoch)>;
  LambdaLR(Optimizer& optimizer, Factor factor, int64_t last_epoch = -1);
  /// One function for each group (ValueError for another number of them).
  LambdaLR(Optimizer& optimizer, std::vector<Factor> factors, int64_t last_epoch = -1);
  double rate(int64_t epoch, size_t group = 0) const override;

 private:
  std::vector<StateField> option_fields() override { return {}; }
  void check_options() const override;
  std::vector<Factor> factors_;
};

/// One schedule after the other: the first up to milestones[0], the second from there, starting at its own epoch 0 ...
class SequentialLR final : public LRScheduler {
 public:
  /// \param schedulers of the same optimizer; they must outlive this one, and are not stepped themselves
  /// \param milestones increasing, one fewer than schedulers
  SequentialLR(Optimizer& optimizer, std::vector<std::reference_wrapper<LRScheduler>> schedulers,
               std::vector<int64_t> milestones, int64_t last_epoch = -1);
  double rate(int64_t epoch, size_t group = 0) const override;

 private:
  std::vector<StateField> option_fields() override;
  void check_options() const override;
  std::vector<std::reference_wrapper<LRScheduler>> schedulers_;
  std::vector<int64_t> milestones_;
};

}  // namespace stoker::optim
