// Schedules against PyTorch's rates (recorded by tests/reference/optim_schedules.py), and resuming them: BR-059.
#include <stoker/optim.h>

#include <numbers>

#include "nn/reference.h"

namespace stoker {
namespace {

using namespace optim;

Tensor parameter() { return zeros({1}).requires_grad_(); }

SGD two_rates() {
  using Group = ParamGroup<SGDOptions>;
  return SGD(std::vector<Group>{{{parameter()}, {.lr = 0.001}}, {{parameter()}, {.lr = 0.3}}});
}

void expect_recorded(const std::string& name, Optimizer& opt, LRScheduler& schedule) {
  static const test::Reference reference("optim_schedules");
  const auto expected = reference.at(name).to_vector<double>();
  for (int64_t epoch = 0; epoch < 40; ++epoch) {
    EXPECT_EQ(schedule.last_epoch(), epoch);
    for (size_t g = 0; g < 2; ++g) {
      const double rate = expected[size_t(epoch) * 2 + g];
      EXPECT_NEAR(opt.lr(g), rate, 1e-13 * (1 + rate)) << name << " " << epoch;
      EXPECT_EQ(schedule.rate(epoch, g), opt.lr(g));
      EXPECT_EQ(schedule.last_lr()[g], opt.lr(g));
    }
    schedule.step();
  }
}

TEST(LRScheduler, StepLRFollowsPyTorch) {
  SGD opt = two_rates();
  StepLR schedule(opt, {.step_size = 6, .gamma = 0.3});
  expect_recorded("step", opt, schedule);
}
TEST(LRScheduler, MultiStepLRFollowsPyTorch) {
  SGD opt = two_rates();
  MultiStepLR schedule(opt, {.milestones = {3, 3, 10, 31}});
  expect_recorded("multi_step", opt, schedule);
}
TEST(LRScheduler, ExponentialLRFollowsPyTorch) {
  SGD opt = two_rates();
  ExponentialLR schedule(opt, {.gamma = 0.9});
  expect_recorded("exponential", opt, schedule);
}
TEST(LRScheduler, CosineAnnealingLRFollowsPyTorchBeyondTMax) {
  SGD opt = two_rates();
  CosineAnnealingLR schedule(opt, {.T_max = 14, .eta_min = 1e-4});
  expect_recorded("cosine", opt, schedule);
}
TEST(LRScheduler, LinearLRFollowsPyTorch) {
  SGD opt = two_rates();
  LinearLR schedule(opt);
  expect_recorded("linear", opt, schedule);
  SGD down = two_rates();
  LinearLR falling(down, {.start_factor = 1.0, .end_factor = 0.1, .total_iters = 20});
  expect_recorded("linear_down", down, falling);
}
TEST(LRScheduler, LambdaLRFollowsPyTorch) {
  SGD opt = two_rates();
  LambdaLR schedule(
      opt, {[](int64_t t) { return std::pow(0.95, double(t)); }, [](int64_t t) { return 1.0 / double(1 + t / 5); }});
  expect_recorded("lambda", opt, schedule);
}
TEST(LRScheduler, SequentialLRFollowsPyTorch) {
  SGD opt = two_rates();
  LinearLR warm_up(opt, {.start_factor = 0.25, .total_iters = 8});
  MultiStepLR steps(opt, {.milestones = {4, 9}, .gamma = 0.5});
  ExponentialLR decay(opt, {.gamma = 0.8});
  SequentialLR schedule(opt, {warm_up, steps, decay}, {8, 25});
  expect_recorded("sequence", opt, schedule);
}

// --- resuming --------------------------------------------------------------------------------------------------------

const CosineAnnealingLROptions kCosine{.T_max = 100};
double cosine(int64_t t) { return 0.001 * (1 + std::cos(std::numbers::pi * double(t) / 100)) / 2; }

struct Saved {
  StateDict optimizer, schedule;
};
Saved saved_at_45() {
  SGD opt({parameter()}, {.lr = 0.001});
  CosineAnnealingLR schedule(opt, kCosine);
  for (int i = 0; i < 45; ++i) schedule.step();
  return {opt.state_dict(), schedule.state_dict()};
}

void expect_continues(SGD& opt, CosineAnnealingLR& schedule) {
  EXPECT_EQ(schedule.last_epoch(), 45);
  EXPECT_NEAR(opt.lr(), 5.782172e-4, 1e-10);
  EXPECT_EQ(opt.lr(), cosine(45));
  schedule.step();
  EXPECT_NEAR(opt.lr(), 5.626666e-4, 1e-10);
  EXPECT_EQ(opt.lr(), cosine(46));
}

TEST(LRScheduler, ResumesExactlyInWhateverOrderStatesAreLoaded) {
  const Saved saved = saved_at_45();
  {
    SGD opt({parameter()}, {.lr = 0.001});
    opt.load_state_dict(saved.optimizer);
    CosineAnnealingLR schedule(opt, kCosine);
    schedule.load_state_dict(saved.schedule);
    expect_continues(opt, schedule);
  }
  {
    SGD opt({parameter()}, {.lr = 0.001});
    CosineAnnealingLR schedule(opt, kCosine);
    opt.load_state_dict(saved.optimizer);
    schedule.load_state_dict(saved.schedule);
    expect_continues(opt, schedule);
  }
  {
    SGD opt({parameter()}, {.lr = 0.001});
    CosineAnnealingLR schedule(opt, kCosine);
    schedule.load_state_dict(saved.schedule);
    opt.load_state_dict(saved.optimizer);
    expect_continues(opt, schedule);
  }
}

TEST(LRScheduler, ResumesFromTheNumberOfTheLastFinishedEpoch) {
  SGD opt({parameter()}, {.lr = 0.001});
  opt.load_state_dict(saved_at_45().optimizer);
  CosineAnnealingLR schedule(opt, kCosine, 44);
  expect_continues(opt, schedule);
}

TEST(LRScheduler, RestoresItsOptions) {
  SGD opt({parameter()}, {.lr = 0.001});
  CosineAnnealingLR schedule(opt, {.T_max = 7, .eta_min = 1e-5});
  schedule.load_state_dict(saved_at_45().schedule);
  expect_continues(opt, schedule);
}

TEST(LRScheduler, SequentialLRResumes) {
  SGD opt({parameter()}, {.lr = 1});
  LinearLR warm_up(opt, {.start_factor = 0.5, .total_iters = 4});
  ExponentialLR decay(opt, {.gamma = 0.5});
  SequentialLR schedule(opt, {warm_up, decay}, {4});
  for (int i = 0; i < 6; ++i) schedule.step();
  EXPECT_EQ(opt.lr(), 0.25);

  SGD opt2({parameter()}, {.lr = 1});
  LinearLR warm_up2(opt2);
  ExponentialLR decay2(opt2, {.gamma = 0.9});
  SequentialLR schedule2(opt2, {warm_up2, decay2}, {1});
  schedule2.load_state_dict(schedule.state_dict());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(opt2.lr(), opt.lr());
    schedule.step(), schedule2.step();
  }
}

TEST(LRScheduler, RefusesAForeignStateAndKeepsItsOwn) {
  SGD opt({parameter()}, {.lr = 0.001});
  CosineAnnealingLR schedule(opt, kCosine);
  schedule.step();
  StateDict dict = schedule.state_dict();
  dict.erase("T_max");
  dict["gamma"] = zeros({}, kF64);
  const std::string message = test::message_of<ValueError>([&] { schedule.load_state_dict(dict); });
  EXPECT_NE(message.find("T_max"), std::string::npos) << message;
  EXPECT_NE(message.find("gamma"), std::string::npos) << message;
  dict = schedule.state_dict();
  dict["T_max"] = zeros({}, kI64);
  EXPECT_THROW(schedule.load_state_dict(dict), ValueError);
  EXPECT_EQ(opt.lr(), cosine(1));
  schedule.step();
  EXPECT_EQ(opt.lr(), cosine(2));
}

TEST(LRScheduler, RefusesOptionsOutsideOfTheirRange) {
  SGD opt({parameter()}, {.lr = 0.1}), other({parameter()});
  EXPECT_THROW(StepLR(opt, {}), ValueError);
  EXPECT_THROW(MultiStepLR(opt, {.milestones = {5, 3}}), ValueError);
  EXPECT_THROW(ExponentialLR(opt, {}), ValueError);
  EXPECT_THROW(CosineAnnealingLR(opt, {}), ValueError);
  EXPECT_THROW(LinearLR(opt, {.start_factor = 0}), ValueError);
  EXPECT_THROW(LinearLR(opt, {.total_iters = 0}), ValueError);
  EXPECT_THROW(LambdaLR(opt, std::vector<LambdaLR::Factor>{}), ValueError);
  EXPECT_THROW(LambdaLR(opt, LambdaLR::Factor([](int64_t) { return -1.0; })), ValueError);
  EXPECT_THROW(StepLR(opt, {.step_size = 1}, -2), ValueError);
  LinearLR a(opt), b(other);
  EXPECT_THROW(SequentialLR(opt, {a, a}, {}), ValueError);
  EXPECT_THROW(SequentialLR(opt, {a, b}, {3}), ValueError);
  EXPECT_THROW(SequentialLR(opt, {}, {}), ValueError);
}

}  // namespace
}  // namespace stoker
