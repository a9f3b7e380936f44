// Saving and restoring optimizers: BR-058 and its kind.
#include <stoker/nn.h>
#include <stoker/ops.h>
#include <stoker/optim.h>

#include "nn/reference.h"

namespace stoker {
namespace {

using namespace optim;
using test::message_of;

struct Net : nn::Module {
  nn::Linear a{*this, "a", {.in_features = 3, .out_features = 4}};
  nn::Linear b{*this, "b", {.in_features = 4, .out_features = 2}};
  Tensor forward(const Tensor& x) override { return b(tanh(a(x))); }
};

void train(Net& net, Optimizer& opt, int steps) {
  for (int i = 0; i < steps; ++i) {
    const Tensor x = linspace(-1, 1, 12).reshape({4, 3}) * (1.0 + 0.1 * i);
    opt.zero_grad();
    sum(square(net(x))).backward();
    opt.step();
  }
}

void expect_equal(const StateDict& a, const StateDict& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, value] : a) EXPECT_EQ(value.to_vector<double>(), b.at(name).to_vector<double>()) << name;
}

// Trains five steps, saves, goes on for three; then loads into objects made with other options and does the same three.
template <class T>
void expect_exact_resume(typename T::Options options, typename T::Options others) {
  Net net;
  T opt(net.parameters(), options);
  train(net, opt, 5);
  const StateDict weights = net.state_dict(), state = opt.state_dict();
  train(net, opt, 3);

  Net fresh;
  T restored(fresh.parameters(), others);
  fresh.load_state_dict(weights);
  restored.load_state_dict(state);
  expect_equal(restored.state_dict(), state);
  train(fresh, restored, 3);
  expect_equal(fresh.state_dict(), net.state_dict());
  expect_equal(restored.state_dict(), opt.state_dict());
}

TEST(Resume, ContinuesAdamExactlyWhateverTheConstructorWasGiven) {
  expect_exact_resume<Adam>({.lr = 0.02, .betas = {0.8, 0.95}, .eps = 1e-6, .weight_decay = 0.1}, {});
  expect_exact_resume<Adam>({.lr = 0.02, .amsgrad = true}, {.betas = {0.5, 0.6}});
  expect_exact_resume<Adam>({.maximize = true}, {.amsgrad = true});
}

TEST(Resume, ContinuesAdamWExactly) { expect_exact_resume<AdamW>({.lr = 0.05, .weight_decay = 0.2}, {}); }

TEST(Resume, ContinuesSGDExactly) {
  expect_exact_resume<SGD>({.lr = 0.05, .momentum = 0.9, .dampening = 0.2, .weight_decay = 0.1}, {});
  expect_exact_resume<SGD>({.lr = 0.05, .momentum = 0.9, .nesterov = true}, {.maximize = true});
  expect_exact_resume<SGD>({.lr = 0.05}, {.momentum = 0.9});
}

TEST(Resume, ContinuesOverAFile) {
  Net net;
  Adam opt(net.parameters(), {.lr = 0.01});
  train(net, opt, 2);
  const auto path = std::filesystem::path(::testing::TempDir()) / "stoker_optim_resume.safetensors";
  save(opt.state_dict(), path);
  Net other;
  Adam restored(other.parameters());
  restored.load_state_dict(load(path));
  expect_equal(restored.state_dict(), opt.state_dict());
  std::filesystem::remove(path);
}

TEST(Resume, ASavedStateIsASnapshot) {
  Net net;
  Adam opt(net.parameters());
  train(net, opt, 1);
  const StateDict state = opt.state_dict();
  const auto before = state.at("state.0.exp_avg").to_vector<float>();
  train(net, opt, 2);
  EXPECT_EQ(state.at("state.0.exp_avg").to_vector<float>(), before);
  EXPECT_EQ(state.at("state.0.step").item<int64_t>(), 1);
}

TEST(Resume, TakesTheStateOfAnOptimizerThatNeverStepped) {
  Net net;
  const StateDict state = Adam(net.parameters(), {.lr = 0.5}).state_dict();
  Adam opt(net.parameters());
  train(net, opt, 2);
  opt.load_state_dict(state);
  EXPECT_EQ(opt.lr(), 0.5);
  EXPECT_EQ(opt.state_dict().count("state.0.exp_avg"), 0u);
}

TEST(Resume, StateSavedAfterAChangeOfOptionsCanBeLoaded) {
  Net net;
  Adam opt(net.parameters());
  train(net, opt, 1);
  AdamOptions options = opt.options();
  options.amsgrad = true;
  opt.set_options(options);
  const StateDict state = opt.state_dict();
  EXPECT_EQ(state.count("state.0.max_exp_avg_sq"), 1u);
  Adam other(net.parameters());
  other.load_state_dict(state);
  EXPECT_TRUE(other.options().amsgrad);
}

TEST(Resume, ListsEveryFaultByParameterAndChangesNothing) {
  Net net;
  Adam opt(net.parameters(), {.lr = 0.25});
  train(net, opt, 1);
  const StateDict own = opt.state_dict();
  StateDict wrong = own;
  wrong["state.0.exp_avg"] = zeros({3, 4});
  wrong.erase("state.3.exp_avg_sq");
  wrong.erase("param_groups.0.beta2");
  wrong["state.9.exp_avg"] = zeros({1});
  wrong["param_groups.0.lr"] = from_host(std::vector<double>{0.5}.data(), {}, kF64);
  const std::string message = message_of<ValueError>([&] { opt.load_state_dict(wrong); });
  EXPECT_NE(message.find("state.0.exp_avg of 'a.weight' of shape [3, 4] instead of [4, 3]"), std::string::npos)
      << message;
  EXPECT_NE(message.find("no state.3.exp_avg_sq of 'b.bias'"), std::string::npos) << message;
  EXPECT_NE(message.find("no param_groups.0.beta2"), std::string::npos) << message;
  EXPECT_NE(message.find("state.9.exp_avg, which nothing asks for"), std::string::npos) << message;
  expect_equal(opt.state_dict(), own);

  wrong = own;
  wrong["param_groups.0.beta1"] = from_host(std::vector<double>{1.5}.data(), {}, kF64);
  EXPECT_THROW(opt.load_state_dict(wrong), ValueError);
  expect_equal(opt.state_dict(), own);
}

TEST(Resume, RefusesAnotherNumberOfGroupsOrParameters) {
  Net net;
  Adam whole(net.parameters());
  Adam halves({{net.a.parameters(), {}}, {net.b.parameters(), {}}});
  EXPECT_THROW(halves.load_state_dict(whole.state_dict()), ValueError);
  EXPECT_THROW(whole.load_state_dict(halves.state_dict()), ValueError);
  Adam part(net.a.parameters());
  EXPECT_THROW(part.load_state_dict(whole.state_dict()), ValueError);
  SGD other(net.parameters());
  EXPECT_THROW(other.load_state_dict(whole.state_dict()), ValueError);
}

}  // namespace
}  // namespace stoker
