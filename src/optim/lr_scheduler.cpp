#include <stoker/optim/lr_scheduler.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "optim/expect.h"
#include "optim/state.h"

namespace stoker::optim {
namespace {

bool increasing(const std::vector<int64_t>& milestones) { return std::is_sorted(milestones.begin(), milestones.end()); }

}  // namespace

LRScheduler::LRScheduler(Optimizer& optimizer, std::string name) : optimizer_(optimizer), name_(std::move(name)) {
  for (size_t g = 0; g < optimizer.group_count(); ++g) base_lrs_.push_back(optimizer.initial_lr(g));
}

void LRScheduler::start(int64_t last_epoch) {
  expect(last_epoch >= -1, name_, "last_epoch of at least -1", last_epoch, "-1 starts anew");
  check_options();
  last_epoch_ = last_epoch + 1;
  apply();
}

void LRScheduler::step() {
  ++last_epoch_;
  apply();
}

void LRScheduler::apply() {
  for (size_t g = 0; g < base_lrs_.size(); ++g) optimizer_.set_lr(rate(last_epoch_, g), g);
}

double LRScheduler::base_lr(size_t group) const {
  expect(group < base_lrs_.size(), name_, fmt::format("a group below {}", base_lrs_.size()), group,
         "groups added after the schedule are not scheduled");
  return base_lrs_[group];
}

std::vector<double> LRScheduler::last_lr() const {
  std::vector<double> rates;
  for (size_t g = 0; g < base_lrs_.size(); ++g) rates.push_back(rate(last_epoch_, g));
  return rates;
}

std::vector<StateField> LRScheduler::fields() const {
  auto& self = const_cast<LRScheduler&>(*this);
  std::vector<StateField> all = self.option_fields();
  all.push_back({"last_epoch", &self.last_epoch_});
  all.push_back({"base_lrs", &self.base_lrs_});
  return all;
}

StateDict LRScheduler::state_dict() const {
  StateDict dict;
  write_fields(dict, "", fields());
  return dict;
}

void LRScheduler::load_state_dict(const StateDict& dict, Loc loc) {
  StateReader reader(dict);
  reader.check("", fields());
  reader.finish(name_, loc);
  const StateDict before = state_dict();
  try {
    reader.read("", fields());
    expect(last_epoch_ >= 0, name_, "last_epoch of at least 0", last_epoch_, "the dict is not from state_dict()");
    check_options();
    apply();
  } catch (...) {
    StateReader(before).read("", fields());
    apply();
    throw;
  }
}

// --- closed forms ----------------------------------------------------------------------------------------------------

StepLR::StepLR(Optimizer& optimizer, StepLROptions options, int64_t last_epoch)
    : LRScheduler(optimizer, "StepLR"), options_(options) {
  start(last_epoch);
}
void StepLR::check_options() const {
  expect(options_.step_size >= 1, name(), "step_size of at least 1", options_.step_size,
         "set it to the epochs between drops");
}
double StepLR::rate(int64_t epoch, size_t group) const {
  return base_lr(group) * std::pow(options_.gamma, double(epoch / options_.step_size));
}
std::vector<StateField> StepLR::option_fields() {
  return {{"step_size", &options_.step_size}, {"gamma", &options_.gamma}};
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, MultiStepLROptions options, int64_t last_epoch)
    : LRScheduler(optimizer, "MultiStepLR"), options_(std::move(options)) {
  start(last_epoch);
}
void MultiStepLR::check_options() const {
  expect(increasing(options_.milestones), name(), "milestones in increasing order",
         fmt::format("[{}]", fmt::join(options_.milestones, ", ")), "sort them");
}
double MultiStepLR::rate(int64_t epoch, size_t group) const {
  const auto& m = options_.milestones;
  const auto passed = std::upper_bound(m.begin(), m.end(), epoch) - m.begin();
  return base_lr(group) * std::pow(options_.gamma, double(passed));
}
std::vector<StateField> MultiStepLR::option_fields() {
  return {{"milestones", &options_.milestones}, {"gamma", &options_.gamma}};
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, ExponentialLROptions options, int64_t last_epoch)
    : LRScheduler(optimizer, "ExponentialLR"), options_(options) {
  start(last_epoch);
}
void ExponentialLR::check_options() const {
  expect(options_.gamma > 0, name(), "gamma above 0", options_.gamma, "set it to the factor of an epoch, as 0.95");
}
double ExponentialLR::rate(int64_t epoch, size_t group) const {
  return base_lr(group) * std::pow(options_.gamma, double(epoch));
}
std::vector<StateField> ExponentialLR::option_fields() { return {{"gamma", &options_.gamma}}; }

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, CosineAnnealingLROptions options, int64_t last_epoch)
    : LRScheduler(optimizer, "CosineAnnealingLR"), options_(options) {
  start(last_epoch);
}
void CosineAnnealingLR::check_options() const {
  expect(options_.T_max >= 1, name(), "T_max of at least 1", options_.T_max, "set it to the epochs down to eta_min");
  expect(options_.eta_min >= 0, name(), "eta_min of at least 0", options_.eta_min, "set it to the smallest rate");
}
double CosineAnnealingLR::rate(int64_t epoch, size_t group) const {
  const double angle = std::numbers::pi * double(epoch) / double(options_.T_max);
  return options_.eta_min + (base_lr(group) - options_.eta_min) * (1 + std::cos(angle)) / 2;
}
std::vector<StateField> CosineAnnealingLR::option_fields() {
  return {{"T_max", &options_.T_max}, {"eta_min", &options_.eta_min}};
}

LinearLR::LinearLR(Optimizer& optimizer, LinearLROptions options, int64_t last_epoch)
    : LRScheduler(optimizer, "LinearLR"), options_(options) {
  start(last_epoch);
}
void LinearLR::check_options() const {
  expect(options_.start_factor > 0 && options_.start_factor <= 1, name(), "start_factor in (0, 1]",
         options_.start_factor, "the default is 1/3");
  expect(options_.end_factor >= 0 && options_.end_factor <= 1, name(), "end_factor in [0, 1]", options_.end_factor,
         "the default is 1");
  expect(options_.total_iters >= 1, name(), "total_iters of at least 1", options_.total_iters, "the default is 5");
}
double LinearLR::rate(int64_t epoch, size_t group) const {
  const double done = double(std::min(epoch, options_.total_iters)) / double(options_.total_iters);
  return base_lr(group) * (options_.start_factor + (options_.end_factor - options_.start_factor) * done);
}
std::vector<StateField> LinearLR::option_fields() {
  return {{"start_factor", &options_.start_factor},
          {"end_factor", &options_.end_factor},
          {"total_iters", &options_.total_iters}};
}

LambdaLR::LambdaLR(Optimizer& optimizer, Factor factor, int64_t last_epoch)
    : LambdaLR(optimizer, std::vector<Factor>(optimizer.group_count(), std::move(factor)), last_epoch) {}
LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Factor> factors, int64_t last_epoch)
    : LRScheduler(optimizer, "LambdaLR"), factors_(std::move(factors)) {
  start(last_epoch);
}
void LambdaLR::check_options() const {
  expect(factors_.size() == optimizer().group_count(), name(), fmt::format("{} functions", optimizer().group_count()),
         factors_.size(), "give one for each group, or one for all");
}
double LambdaLR::rate(int64_t epoch, size_t group) const { return base_lr(group) * factors_[group](epoch); }

// --- in sequence -----------------------------------------------------------------------------------------------------

SequentialLR::SequentialLR(Optimizer& optimizer, std::vector<std::reference_wrapper<LRScheduler>> schedulers,
                           std::vector<int64_t> milestones, int64_t last_epoch)
    : LRScheduler(optimizer, "SequentialLR"), schedulers_(std::move(schedulers)), milestones_(std::move(milestones)) {
  start(last_epoch);
}
void SequentialLR::check_options() const {
  expect(!schedulers_.empty(), name(), "at least one schedule", "none", "give them in the order in which they run");
  expect(milestones_.size() + 1 == schedulers_.size(), name(), fmt::format("{} milestones", schedulers_.size() - 1),
         milestones_.size(), "give one for each change of schedule");
  expect(increasing(milestones_), name(), "milestones in increasing order",
         fmt::format("[{}]", fmt::join(milestones_, ", ")), "sort them");
  for (const LRScheduler& s : schedulers_) {
    expect(&s.optimizer() == &optimizer(), name(), "schedules of the same optimizer", "one of another",
           "make them for this optimizer");
    s.check_options();
  }
}

double SequentialLR::rate(int64_t epoch, size_t group) const {
  const auto next = std::upper_bound(milestones_.begin(), milestones_.end(), epoch);
  const int64_t began = next == milestones_.begin() ? 0 : *(next - 1);
  return schedulers_[size_t(next - milestones_.begin())].get().rate(epoch - began, group);
}

std::vector<StateField> SequentialLR::option_fields() {
  std::vector<StateField> all;
  for (size_t i = 0; i < milestones_.size(); ++i) all.push_back({fmt::format("milestones.{}", i), &milestones_[i]});
  for (size_t i = 0; i < schedulers_.size(); ++i)
    for (StateField field : schedulers_[i].get().fields()) {
      field.name = fmt::format("schedulers.{}.{}", i, field.name);
      all.push_back(std::move(field));
    }
  return all;
}

}  // namespace stoker::optim
