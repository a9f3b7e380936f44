// What optimizers do with cells and gradients: aliases, snapshots, groups, frozen and shared parameters. BR-057.
#include <stoker/nn.h>
#include <stoker/ops.h>
#include <stoker/optim.h>

#include <algorithm>
#include <cstdlib>

#include "nn/reference.h"

namespace stoker {
namespace {

// Two devices, for the tests that move networks; before the first one is opened.
const int split = setenv("STOKER_CPU_DEVICES", "2", 1);

using namespace optim;
using test::close;
using test::message_of;
using test::same;

// A parameter with a gradient.
Tensor cell(double value, double gradient, DType dtype = kF64) {
  const Tensor p = full({}, value, dtype).requires_grad_();
  p.set_grad(full({}, gradient, dtype));
  return p;
}

TEST(Adam, AddsEpsilonToTheCorrectedMoment) {
  const AdamOptions options{.lr = 1};
  const Tensor small = cell(0, 1e-8), large = cell(0, 1);
  Adam(std::vector<Tensor>{small, large}, options).step();
  EXPECT_NEAR(small.item<double>(), -0.5, 1e-9);
  EXPECT_NEAR(large.item<double>(), -1 / (1 + 1e-8), 1e-12);
}

TEST(AdamW, DecaysBeforeTheStep) {
  const Tensor p = cell(2, 1);
  AdamW({p}, {.lr = 0.1, .weight_decay = 0.5}).step();
  EXPECT_NEAR(p.item<double>(), 2 * (1 - 0.1 * 0.5) - 0.1 / (1 + 1e-8), 1e-12);
}

TEST(Optimizer, UpdatesTheCellForEveryHandle) {
  Tensor p = cell(1, 0.5);
  const Tensor handle = p;
  const Tensor snapshot = p.detach(), doubled = p.detach() * 2;
  SGD opt({p}, {.lr = 1});
  opt.step();
  EXPECT_EQ(p.item<double>(), 0.5);
  EXPECT_EQ(handle.item<double>(), 0.5);
  EXPECT_EQ(snapshot.item<double>(), 1);
  EXPECT_EQ(doubled.item<double>(), 2);
}

TEST(Optimizer, SnapshotsSurviveManySteps) {
  nn::Linear net({.in_features = 3, .out_features = 2});
  Adam opt(net.parameters(), {.lr = 0.1});
  std::vector<StateDict> snapshots;
  std::vector<std::vector<float>> weights;
  for (int i = 0; i < 4; ++i) {
    snapshots.push_back(net.state_dict());
    weights.push_back(net.weight.to_vector<float>());
    opt.zero_grad();
    sum(net(rand({4, 3}))).backward();
    opt.step();
  }
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(snapshots[i].at("weight").to_vector<float>(), weights[i]);
  EXPECT_NE(weights[0], weights[3]);
}

TEST(Optimizer, LeavesParametersWithoutGradientAlone) {
  const Tensor used = cell(1, 1), unused = full({}, 3.0, kF64).requires_grad_();
  AdamW opt({used, unused}, {.lr = 0.1});
  opt.step();
  EXPECT_EQ(unused.item<double>(), 3);
  const StateDict state = opt.state_dict();
  EXPECT_EQ(state.count("state.0.exp_avg"), 1u);
  EXPECT_EQ(state.count("state.1.exp_avg"), 0u);
  // Its first step, when it comes, is corrected as a first step.
  opt.zero_grad();
  unused.set_grad(ones({}, kF64));
  opt.step();
  EXPECT_NEAR(unused.item<double>(), 3 * (1 - 0.1 * 0.01) - 0.1 / (1 + 1e-8), 1e-12);
}

TEST(Optimizer, LeavesFrozenParametersAlone) {
  Tensor frozen = cell(1, 1);
  frozen.requires_grad_(false);
  const Tensor other = cell(1, 1);
  AdamW({frozen, other}, {.lr = 0.1}).step();
  EXPECT_EQ(frozen.item<double>(), 1);
  EXPECT_NE(other.item<double>(), 1);
}

TEST(Optimizer, StepWithoutAnyGradientChangesNothing) {
  const Tensor p = ones({2}).requires_grad_();
  Adam opt({p});
  opt.step();
  EXPECT_TRUE(same(p, ones({2})));
}

TEST(Optimizer, UsesGradientsUpUnlessToldToKeepThem) {
  const Tensor p = ones({2}).requires_grad_();
  SGD opt({p}, {.lr = 0.1});
  sum(p * p).backward();
  opt.step();
  EXPECT_NE(message_of<GraphError>([&] { p.grad(); }).find("keep_grads"), std::string::npos);
  sum(p * p).backward();
  const Tensor before = p.detach();
  EXPECT_THROW(opt.step(), GraphError);
  EXPECT_TRUE(same(p, before));
  opt.zero_grad();
  EXPECT_FALSE(p.grad().defined());

  const Tensor q = ones({2}).requires_grad_();
  SGD keeping({q}, {.lr = 0.1, .keep_grads = true});
  sum(q * q).backward();
  keeping.step();
  EXPECT_TRUE(same(q.grad(), full({2}, 2)));
  sum(q).backward();
  EXPECT_TRUE(same(q.grad(), full({2}, 3)));
}

TEST(Optimizer, GradientsReadBeforeTheStepAreThere) {
  const Tensor p = ones({2}).requires_grad_();
  SGD opt({p}, {.lr = 0.5});
  sum(p * p).backward();
  const Tensor gradient = p.grad();
  EXPECT_TRUE(same(gradient, full({2}, 2)));
  opt.step();
  EXPECT_TRUE(same(p, zeros({2})));
  EXPECT_TRUE(same(gradient, full({2}, 2)));
}

TEST(Optimizer, AccumulatesOverSeveralBackwardPasses) {
  const Tensor p = ones({2}).requires_grad_();
  SGD opt({p}, {.lr = 1});
  for (int i = 1; i <= 3; ++i) sum(p * double(i)).backward();
  opt.step();
  EXPECT_TRUE(same(p, full({2}, -5)));
}

TEST(Optimizer, UpdatesTiedParametersOnceWithTheSumOfTheirGradients) {
  struct Tied : nn::Module {
    nn::Linear a{*this, "a", {.in_features = 2, .out_features = 2, .bias = false}};
    nn::Linear b{*this, "b", {.in_features = 2, .out_features = 2, .bias = false}};
    Tied() { b.weight = a.weight; }
    Tensor forward(const Tensor& x) override { return a(x) + b(x); }
  } net;
  net.a.weight.assign(zeros({2, 2}));
  SGD opt(net.parameters(), {.lr = 0.5});
  sum(net(ones({1, 2}))).backward();
  opt.step();
  EXPECT_TRUE(same(net.a.weight, full({2, 2}, -1)));
  EXPECT_TRUE(same(net.b.weight, full({2, 2}, -1)));
}

// Two networks trained against each other, each by its own optimizer, through one another: the same as with plain
// numbers.
TEST(Optimizer, TrainsTwoNetworksAgainstEachOther) {
  const Tensor generator = full({}, 0.5, kF64).requires_grad_(), critic = full({}, 2.0, kF64).requires_grad_();
  SGD generator_opt({generator}, {.lr = 0.01}), critic_opt({critic}, {.lr = 0.01});
  double g = 0.5, c = 2;
  for (int step = 0; step < 3; ++step) {
    const Tensor fake = generator * 3.0;
    critic_opt.zero_grad();
    square(critic * fake.detach() - 1.0).backward();
    critic_opt.step();
    c -= 0.01 * 2 * (c * 3 * g - 1) * 3 * g;
    EXPECT_NEAR(critic.item<double>(), c, 1e-12);

    generator_opt.zero_grad();
    square(critic * (generator * 3.0)).backward();
    generator_opt.step();
    g -= 0.01 * 2 * (c * 3 * g) * 3 * c;
    EXPECT_NEAR(generator.item<double>(), g, 1e-12);
    EXPECT_NEAR(critic.item<double>(), c, 1e-12);
  }
}

TEST(Optimizer, RefusesABackwardThroughAnUpdatedParameter) {
  const Tensor p = ones({2}).requires_grad_();
  SGD opt({p}, {.lr = 0.1});
  const Tensor loss = sum(p * p);
  loss.backward({.retain_graph = true});
  opt.step();
  opt.zero_grad();
  EXPECT_THROW(loss.backward(), GraphError);
}

TEST(Optimizer, GivesEachGroupItsOptions) {
  const Tensor a = cell(1, 1), b = cell(1, 1);
  SGD opt({{{a}, {.lr = 0.1}}, {{b}, {.lr = 0.5, .weight_decay = 1}}});
  EXPECT_EQ(opt.group_count(), 2u);
  EXPECT_EQ(opt.lr(1), 0.5);
  opt.step();
  EXPECT_NEAR(a.item<double>(), 0.9, 1e-15);
  EXPECT_NEAR(b.item<double>(), 0, 1e-15);
  SGDOptions changed = opt.options(1);
  changed.weight_decay = 0;
  opt.set_options(changed, 1);
  opt.set_lr(0.25);
  a.set_grad(ones({}, kF64)), b.set_grad(ones({}, kF64));
  opt.step();
  EXPECT_NEAR(a.item<double>(), 0.65, 1e-15);
  EXPECT_NEAR(b.item<double>(), -0.25, 1e-15);
  EXPECT_EQ(opt.initial_lr(1), 0.5);
}

TEST(Optimizer, TakesParametersOfSeveralDtypes) {
  const Tensor a = cell(1, 1, kF64), b = cell(1, 1, kF32);
  Adam({a, b}, {.lr = 0.5}).step();
  EXPECT_NEAR(a.item<double>(), 0.5, 1e-7);
  EXPECT_NEAR(b.item<double>(), 0.5, 1e-6);
}

TEST(Optimizer, IsOneNodeForAGroupInOnePlan) {
  nn::Sequential net(nn::make<nn::Linear>({.in_features = 4, .out_features = 8}), nn::make<nn::ReLU>(),
                     nn::make<nn::Linear>({.in_features = 8, .out_features = 2}));
  Adam opt({{net[0].parameters(), {}}, {net[2].parameters(), {.lr = 0.1}}});
  const Tensor x = rand({16, 4}), y = randint(0, 2, {16});
  eval({x, y});
  int64_t built = 0;
  const double rates[] = {0.01, 0.02, 0, 1, 2, 0.5};  // constants elsewhere, but not here
  for (int step = 0; step < 6; ++step) {
    const PlanStats before = plan_stats();
    const Tensor loss = cross_entropy(net(x), y);
    opt.zero_grad();
    loss.backward();
    opt.step();
    EXPECT_EQ(plan_stats().plans_run - before.plans_run, 1) << step;
    if (step == 1) built = plan_stats().plans_built;
    opt.set_lr(rates[step], 0);
  }
  EXPECT_EQ(plan_stats().plans_built, built);
  const auto names = last_plan().step_names;
  EXPECT_EQ(std::count_if(names.begin(), names.end(),
                          [](const std::string& n) { return n.find("adam_update") != std::string::npos; }),
            2);
}

TEST(Optimizer, StateFollowsTheNetworkToAnotherDtype) {
  nn::Linear net({.in_features = 3, .out_features = 2});
  SGD opt(net.parameters(), {.lr = 0.1, .momentum = 0.9});
  sum(net(ones({1, 3}))).backward();
  opt.step();
  const auto before = net.weight.to_vector<double>();
  net.to(kF64);
  opt.zero_grad();
  sum(net(ones({1, 3}, kF64))).backward();
  opt.step();
  const auto after = net.weight.to_vector<double>();
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i] - 0.19, 1e-6);
  EXPECT_EQ(opt.state_dict().at("state.0.momentum_buffer").dtype(), kF64);
}

TEST(Optimizer, StateFollowsTheNetworkToAnotherDevice) {
  ASSERT_EQ(split, 0);
  nn::Linear net({.in_features = 3, .out_features = 2});
  Adam opt(net.parameters());
  int64_t steps = 0;
  for (Device device : {cpu(0), cpu(1), cpu(0)}) {
    net.to(device);
    opt.zero_grad();
    sum(net(ones({1, 3}, device))).backward();
    opt.step();
    EXPECT_EQ(opt.state_dict().at("state.0.exp_avg").device(), device);
    EXPECT_EQ(opt.state_dict().at("state.0.step").item<int64_t>(), ++steps);
  }
}

TEST(Optimizer, RefusesWhatItCannotUpdate) {
  const Tensor p = ones({1}).requires_grad_();
  EXPECT_THROW(SGD(std::vector<Tensor>{}), ValueError);
  EXPECT_THROW(SGD({ones({1})}), ValueError);
  EXPECT_THROW(SGD({p, p}), ValueError);
  EXPECT_THROW(SGD({{{p}, {}}, {{p}, {}}}), ValueError);
  EXPECT_THROW(SGD({Tensor()}), ValueError);
  SGD opt({p});
  EXPECT_THROW(opt.lr(1), ValueError);
  EXPECT_THROW(opt.params(1), ValueError);
  EXPECT_THROW(opt.set_lr(-1), ValueError);
  EXPECT_THROW(opt.set_lr(std::nan("")), ValueError);
}

TEST(Optimizer, RefusesOptionsOutsideOfTheirRange) {
  const std::vector<Tensor> p{ones({1}).requires_grad_()};
  EXPECT_EQ(message_of<ValueError>([&] { SGD(p, {.lr = -1}); }),
            "[SGD] expected lr of at least 0, got -1; the default is 1e-3");
  EXPECT_THROW(SGD(p, {.momentum = -0.1}), ValueError);
  EXPECT_THROW(SGD(p, {.weight_decay = -1}), ValueError);
  EXPECT_THROW(SGD(p, {.nesterov = true}), ValueError);
  EXPECT_THROW(SGD(p, {.momentum = 0.9, .dampening = 0.1, .nesterov = true}), ValueError);
  EXPECT_THROW(Adam(p, {.betas = {1.0, 0.999}}), ValueError);
  EXPECT_THROW(Adam(p, {.betas = {0.9, -0.1}}), ValueError);
  EXPECT_THROW(Adam(p, {.eps = -1}), ValueError);
  EXPECT_THROW(AdamW(p, {.weight_decay = -1}), ValueError);
  SGD opt(p);
  EXPECT_THROW(opt.set_options({.lr = -1}), ValueError);
  EXPECT_EQ(opt.options().lr, 1e-3);
}

}  // namespace
}  // namespace stoker
