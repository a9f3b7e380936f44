// Twenty steps of training against PyTorch's in float64: losses, rates, parameters, buffers and optimizer state.
// Recorded by tests/reference/optim_training.py.
#include <stoker/nn.h>
#include <stoker/ops.h>
#include <stoker/optim.h>

#include "nn/reference.h"

namespace stoker {
namespace {

using test::close;
using OptimizerPtr = std::unique_ptr<optim::Optimizer>;
using SchedulerPtr = std::unique_ptr<optim::LRScheduler>;

// A schedule and those that it runs.
struct Schedule {
  std::vector<SchedulerPtr> parts;
  SchedulerPtr whole;
};

struct Run {
  const char* name;
  OptimizerPtr (*optimizer)(nn::Module& net);
  Schedule (*schedule)(optim::Optimizer& opt);
};

template <class T>
OptimizerPtr optimizer(nn::Module& net, typename T::Options options) {
  return std::make_unique<T>(net.parameters(), options);
}

OptimizerPtr two_groups(nn::Module& net) {
  std::vector<Tensor> rest = net.parameters();
  const std::vector<Tensor> first{rest[0]};
  rest.erase(rest.begin());
  using Group = optim::ParamGroup<optim::AdamWOptions>;
  return std::make_unique<optim::AdamW>(
      std::vector<Group>{{first, {.lr = 0.01, .weight_decay = 0, .amsgrad = true}},
                         {rest, {.lr = 0.003, .weight_decay = 0.2, .amsgrad = true}}});
}

template <class T, class Options>
Schedule schedule(optim::Optimizer& opt, Options options) {
  return {{}, std::make_unique<T>(opt, options)};
}

Schedule none(optim::Optimizer&) { return {}; }

Schedule warm_up_then_cosine(optim::Optimizer& opt) {
  Schedule s;
  s.parts.push_back(
      std::make_unique<optim::LinearLR>(opt, optim::LinearLROptions{.start_factor = 0.2, .total_iters = 5}));
  s.parts.push_back(std::make_unique<optim::CosineAnnealingLR>(opt, optim::CosineAnnealingLROptions{.T_max = 15}));
  s.whole = std::make_unique<optim::SequentialLR>(
      opt, std::vector<std::reference_wrapper<optim::LRScheduler>>{*s.parts[0], *s.parts[1]}, std::vector<int64_t>{5});
  return s;
}

using namespace optim;
const Run kRuns[] = {
    {"sgd", [](nn::Module& n) { return optimizer<SGD>(n, {.lr = 0.05}); },
     [](Optimizer& o) { return schedule<StepLR>(o, StepLROptions{.step_size = 7, .gamma = 0.5}); }},
    {"sgd_momentum",
     [](nn::Module& n) {
       return optimizer<SGD>(n, {.lr = 0.05, .momentum = 0.9, .dampening = 0.1, .weight_decay = 0.01});
     },
     [](Optimizer& o) {
       return schedule<MultiStepLR>(o, MultiStepLROptions{.milestones = {5, 12}, .gamma = 0.3});
     }},
    {"sgd_nesterov",
     [](nn::Module& n) {
       return optimizer<SGD>(n, {.lr = 0.02, .momentum = 0.9, .weight_decay = 1e-3, .nesterov = true});
     },
     [](Optimizer& o) {
       return schedule<CosineAnnealingLR>(o, CosineAnnealingLROptions{.T_max = 15, .eta_min = 1e-4});
     }},
    {"sgd_maximize",
     [](nn::Module& n) {
       return optimizer<SGD>(n, {.lr = 0.001, .momentum = 0.5, .weight_decay = 0.1, .maximize = true});
     },
     none},
    {"adam", [](nn::Module& n) { return optimizer<Adam>(n, {.lr = 0.01}); },
     [](Optimizer& o) { return schedule<LinearLR>(o, LinearLROptions{.start_factor = 0.1, .total_iters = 6}); }},
    {"adam_amsgrad",
     [](nn::Module& n) {
       return optimizer<Adam>(n,
                              {.lr = 0.02, .betas = {0.8, 0.95}, .eps = 1e-6, .weight_decay = 0.05, .amsgrad = true});
     },
     [](Optimizer& o) { return schedule<ExponentialLR>(o, ExponentialLROptions{.gamma = 0.93}); }},
    {"adam_gaps", [](nn::Module& n) { return optimizer<Adam>(n, {.lr = 0.01}); }, none},
    {"adamw", [](nn::Module& n) { return optimizer<AdamW>(n, {.lr = 0.01, .weight_decay = 0.1}); },
     warm_up_then_cosine},
    {"adamw_groups", two_groups,
     [](Optimizer& o) {
       return schedule<LambdaLR>(o, LambdaLR::Factor([](int64_t t) { return 1 / (1 + double(t)); }));
     }},
    {"adamw_maximize", [](nn::Module& n) { return optimizer<AdamW>(n, {.lr = 0.001, .maximize = true}); }, none},
};

std::unique_ptr<nn::Sequential> network(const std::string& name) {
  if (name == "mlp")
    return std::make_unique<nn::Sequential>(nn::make<nn::Linear>({.in_features = 6, .out_features = 16}),
                                            nn::make<nn::Tanh>(),
                                            nn::make<nn::Linear>({.in_features = 16, .out_features = 3}));
  return std::make_unique<nn::Sequential>(
      nn::make<nn::Conv2d>({.in_channels = 1, .out_channels = 4, .kernel_size = 3, .padding = 1}),
      nn::make<nn::BatchNorm2d>({.num_features = 4}), nn::make<nn::ReLU>(), nn::make<nn::MaxPool2d>({.kernel_size = 2}),
      nn::make<nn::Flatten>(), nn::make<nn::Linear>({.in_features = 64, .out_features = 3}));
}

// A bias in front of batch norm has the gradient 0: in f32 what arrives is rounding, which Adam's division makes a
// whole step of.
bool decided_by_rounding(const std::string& net, const std::string& name, DType dtype) {
  return dtype == kF32 && net == "cnn" && (name == "0.bias" || name == "1.running_mean");
}

class Training : public ::testing::TestWithParam<std::tuple<Run, const char*, DType>> {};

TEST_P(Training, FollowsPyTorch) {
  const auto& [run, net_name, dtype] = GetParam();
  constexpr int kSteps = 20, kBatches = 4, kBatch = 12;
  // Where a gradient is about zero, Adam's step takes its sign from rounding.
  const double tolerance = dtype == kF64 ? 1e-8 : 2e-3;
  static const test::Reference reference("optim_training");
  const std::string common = std::string(net_name) + "/", own = std::string(net_name) + "." + run.name + "/";

  const auto net = network(net_name);
  net->to(dtype);
  net->load_state_dict(reference.below(common + "init."), false);
  const OptimizerPtr opt = run.optimizer(*net);
  const Schedule schedule = run.schedule(*opt);
  const Tensor x = reference.at(common + "x").to(dtype), y = reference.at(common + "y");
  const auto losses = reference.at(own + "losses").to_vector<double>();
  const auto rates = reference.at(own + "rates").to_vector<double>();

  for (int step = 0; step < kSteps; ++step) {
    const int64_t start = step % kBatches * kBatch;
    const Tensor loss = cross_entropy((*net)(narrow(x, 0, start, kBatch)), narrow(y, 0, start, kBatch));
    opt->zero_grad();
    loss.backward();
    if (std::string(run.name) == "adam_gaps" && step % 3 == 0) net->parameters().back().set_grad({});
    EXPECT_NEAR(opt->lr(), rates[size_t(step)], 1e-15);
    opt->step();
    if (schedule.whole) schedule.whole->step();
    ASSERT_NEAR(loss.item<double>(), losses[size_t(step)], tolerance) << "step " << step;
  }
  const StateDict expected = reference.below(own + "final."), got = net->state_dict();
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, value] : expected)
    if (!decided_by_rounding(net_name, name, dtype)) {
      EXPECT_TRUE(close(got.at(name), value, tolerance)) << name;
    }
  const StateDict state = opt->state_dict();
  for (const auto& [name, value] : reference.below(own + "state."))
    EXPECT_TRUE(close(state.at("state." + name), value, tolerance)) << name;
}

INSTANTIATE_TEST_SUITE_P(TwentySteps, Training,
                         ::testing::Combine(::testing::ValuesIn(kRuns), ::testing::Values("mlp", "cnn"),
                                            ::testing::Values(kF64, kF32)),
                         [](const auto& info) {
                           return std::string(std::get<1>(info.param)) + "_" + std::get<0>(info.param).name + "_" +
                                  std::string(name_of(std::get<2>(info.param)));
                         });

}  // namespace
}  // namespace stoker
