// Autograd: what is collected, used up, refused, and kept when values are read in the middle.
#include <gtest/gtest.h>

#include <cmath>

#include <stoker/stoker.h>

#include "tensor/update.h"

namespace stoker {
namespace {

using Floats = std::vector<float>;

Tensor parameter(std::vector<float> values) { return make_cell(tensor(values), true); }

TEST(Backward, AddsToGradientsUntilTheyAreCleared) {
  Tensor p = parameter({1, 2});
  (p * 3).sum().backward();
  (p * p).sum().backward();
  EXPECT_EQ(p.grad().to_vector<float>(), (Floats{5, 7}));
  p.set_grad({});
  EXPECT_FALSE(p.grad().defined());
  (p * 3).sum().backward();
  EXPECT_EQ(p.grad().to_vector<float>(), (Floats{3, 3}));
}

TEST(Backward, AccumulationOverMicroBatchesReplaysOnePlan) {
  Tensor p = parameter({1, 2, 3});
  auto window = [&] {
    p.set_grad({});
    for (int i = 0; i < 4; ++i) (square(p - float(i)) * 0.25f).sum().backward();
    NoGrad off;
    p.assign(p - p.grad() * 0.1f);
    eval();
  };
  for (int i = 0; i < 3; ++i) window();
  const int64_t built = plan_stats().plans_built;
  for (int i = 0; i < 5; ++i) window();
  EXPECT_EQ(plan_stats().plans_built, built);
  // Each window: p <- p - 0.1 * 2 * (p - 1.5).
  float expected = 1;
  for (int i = 0; i < 8; ++i) expected -= 0.2f * (expected - 1.5f);
  EXPECT_NEAR(p.to_vector<float>()[0], expected, 1e-5);
}

TEST(Backward, ReadingTheLossFirstGivesTheSameGradient) {
  auto run = [](bool read) {
    manual_seed(3);
    Tensor w = make_cell(randn({4, 5}), true), x = randn({8, 4});
    Tensor h = tanh((x.unsqueeze(2) * w.unsqueeze(0)).sum({1}));
    Tensor loss = (softmax(h, 1) * h).sum();
    if (read) (void)loss.item<float>();
    loss.backward();
    return w.grad().to_vector<float>();
  };
  EXPECT_EQ(run(false), run(true));
}

TEST(Backward, ReadingTheLossFirstDoesNotRunTheForwardPassTwice) {
  manual_seed(4);
  Tensor w = make_cell(randn({64}), true);
  auto step = [&](bool read) {
    const int64_t before = plan_stats().steps_run;
    Tensor loss = sum(exp(w));
    if (read) (void)loss.item<float>();
    w.set_grad({});
    loss.backward();
    (void)w.grad().to_vector<float>();
    return plan_stats().steps_run - before;
  };
  step(true);
  // exp is stored by the first plan, and the second only multiplies: one step more, not the forward pass again.
  EXPECT_LE(step(true), step(false) + 1);
}

TEST(Backward, UsedUpRecipeIsRefusedWhetherItRanOrNot) {
  for (bool run : {false, true}) {
    Tensor p = parameter({2});
    Tensor loss = (p * p).sum();
    if (run) (void)loss.item<float>();
    loss.backward();
    if (run) (void)p.grad().item<float>();
    try {
      loss.backward();
      FAIL() << "ran: " << run;
    } catch (const GraphError& e) {
      EXPECT_NE(std::string(e.what()).find("retain_graph"), std::string::npos) << e.what();
    }
  }
}

TEST(Backward, RetainedRecipeCanBeUsedAgain) {
  Tensor p = parameter({2});
  Tensor loss = (p * p).sum();
  loss.backward({.retain_graph = true});
  loss.backward();
  EXPECT_EQ(p.grad().item<float>(), 8);
}

TEST(Backward, ThroughAnUpdatedCellIsRefusedWithItsLine) {
  Tensor p = parameter({3});
  Tensor loss = (p * p).sum();
  p.assign(p.detach() + 1);
  try {
    loss.backward();
    FAIL();
  } catch (const GraphError& e) {
    EXPECT_NE(std::string(e.what()).find("backward_test.cpp"), std::string::npos) << e.what();
  }
}

TEST(Backward, ThroughAnUpdatedCellWhoseValueIsNotNeededIsFine) {
  Tensor p = parameter({3});
  Tensor loss = (p * 2).sum();
  p.assign(p.detach() + 1);
  loss.backward();
  EXPECT_EQ(p.grad().item<float>(), 2);
}

TEST(Backward, NeedsAScalarOrAGradient) {
  Tensor p = parameter({1, 2});
  EXPECT_THROW((p * 2).backward(), ShapeError);
  EXPECT_THROW(ones({}).backward(), GraphError);
  Tensor y = p * 2;
  y.backward(tensor<float>({1, 10}));
  EXPECT_EQ(p.grad().to_vector<float>(), (Floats{2, 20}));
}

TEST(Grad, OfInputsTouchesNoCell) {
  Tensor p = parameter({3}), q = parameter({5});
  const std::vector<Tensor> g = grad({p * q}, {p, q});
  EXPECT_EQ(g[0].item<float>(), 5);
  EXPECT_EQ(g[1].item<float>(), 3);
  EXPECT_FALSE(p.grad().defined());
}

TEST(Grad, OfAnIntermediateAndOfWhatItDependsOn) {
  Tensor p = parameter({3});
  Tensor h = p * p;
  Tensor y = h * h;
  const std::vector<Tensor> g = grad({y}, {h, p});
  EXPECT_EQ(g[0].item<float>(), 18);
  EXPECT_EQ(g[1].item<float>(), 108);
}

TEST(Grad, UnusedInputIsNamed) {
  Tensor p = parameter({3}), unused = parameter({1});
  EXPECT_THROW(grad({p * 2}, {unused}), GraphError);
  EXPECT_FALSE(grad({p * 2}, {unused}, {}, {.allow_unused = true})[0].defined());
}

TEST(Grad, HigherDerivatives) {
  Tensor x = parameter({1.5f});
  Tensor y = x * x * x * x;
  Tensor first = grad({y}, {x}, {}, {.create_graph = true})[0];
  Tensor second = grad({first}, {x}, {}, {.create_graph = true})[0];
  Tensor third = grad({second}, {x})[0];
  EXPECT_FLOAT_EQ(first.item<float>(), 4 * 1.5f * 1.5f * 1.5f);
  EXPECT_FLOAT_EQ(second.item<float>(), 12 * 1.5f * 1.5f);
  EXPECT_FLOAT_EQ(third.item<float>(), 24 * 1.5f);
}

TEST(Step, UsesGradientsUp) {
  Tensor p = parameter({3});
  (p * 2).sum().backward();
  { Tensor g = detail::take_gradient(p, /*keep=*/false); }
  try {
    (void)p.grad();
    FAIL();
  } catch (const GraphError& e) {
    EXPECT_NE(std::string(e.what()).find("keep_grads"), std::string::npos) << e.what();
  }
  (p * 2).sum().backward();  // nobody may ask for this sum, which lacks what was used up
  EXPECT_THROW((void)p.grad(), GraphError);
  EXPECT_THROW((void)detail::take_gradient(p, false), GraphError);
  detail::clear_gradient(p);
  (p * 2).sum().backward();
  EXPECT_EQ(p.grad().item<float>(), 2);
}

TEST(CustomFunction, HasItsOwnGradient) {
  Tensor x = parameter({2});
  // The straight-through estimator: rounds forward, passes backward.
  Tensor y = custom_function(
      {x}, [](const std::vector<Tensor>& in) { return round(in[0] * 1.3f); },
      [](const Tensor& g, const std::vector<Tensor>&, const Tensor&) { return std::vector<Tensor>{g * 7}; });
  EXPECT_EQ(y.item<float>(), 3);
  y.sum().backward();
  EXPECT_EQ(x.grad().item<float>(), 7);
}

TEST(CustomFunction, WrongNumberOfGradientsIsAnError) {
  Tensor x = parameter({2});
  Tensor y = custom_function(
      {x}, [](const std::vector<Tensor>& in) { return in[0] + 1; },
      [](const Tensor&, const std::vector<Tensor>&, const Tensor&) { return std::vector<Tensor>{}; });
  EXPECT_THROW(y.sum().backward(), ValueError);
}

TEST(DetectAnomaly, NamesTheFirstOperationThatGaveNaN) {
  Tensor x = parameter({-1});
  DetectAnomaly on;
  try {
    (void)(sqrt(x) * 2 + 1);
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_NE(std::string(e.what()).find("[sqrt]"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("backward_test.cpp"), std::string::npos) << e.what();
  }
}

TEST(Detach, CutsTheRecipe) {
  Tensor p = parameter({3});
  Tensor y = (p * 2).detach() * p;
  y.sum().backward();
  EXPECT_EQ(p.grad().item<float>(), 6);
}

TEST(FrozenParameter, GetsNoGradientAndLetsOthersThrough) {
  Tensor p = parameter({3}), q = parameter({4});
  q.requires_grad_(false);
  (p * q).sum().backward();
  EXPECT_EQ(p.grad().item<float>(), 4);
  EXPECT_FALSE(q.grad().defined());
}

}  // namespace
}  // namespace stoker
