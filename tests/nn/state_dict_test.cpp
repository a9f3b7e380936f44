#include <stoker/nn.h>

#include "nn/reference.h"

namespace stoker {
namespace {

using test::same;

struct Net : nn::Module {
  nn::Linear body{*this, "body", {.in_features = 3, .out_features = 4}};
  nn::BatchNorm1d norm{*this, "norm", {.num_features = 4}};
  nn::Buffer scratch{*this, "scratch", zeros({2}), false};
  Tensor forward(const Tensor& x) override { return norm(body(x)); }
};

void expect_equal(const StateDict& a, const StateDict& b) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, value] : a) EXPECT_TRUE(same(value, b.at(name))) << name;
}

TEST(StateDict, HoldsParametersAndPersistentBuffers) {
  Net net;
  std::vector<std::string> names;
  for (const auto& [name, value] : net.state_dict()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"body.bias", "body.weight", "norm.bias", "norm.num_batches_tracked",
                                             "norm.running_mean", "norm.running_var", "norm.weight"}));
}

TEST(StateDict, IsASnapshot) {
  Net net;
  const auto before = net.body.weight.to_vector<float>();
  const StateDict dict = net.state_dict();
  net.body.weight.assign(zeros({4, 3}));
  net(rand({5, 3}));
  EXPECT_EQ(dict.at("body.weight").to_vector<float>(), before);
  EXPECT_TRUE(same(dict.at("norm.running_mean"), zeros({4})));
  EXPECT_FALSE(dict.at("body.weight").requires_grad());
}

TEST(StateDict, LoadsIntoAnotherNetworkWithoutSharing) {
  Net from, to;
  from(rand({5, 3}));
  const Tensor weight = to.body.weight;
  const nn::LoadReport report = to.load_state_dict(from.state_dict());
  EXPECT_TRUE(report.missing.empty() && report.unexpected.empty());
  expect_equal(to.state_dict(), from.state_dict());
  EXPECT_TRUE(same(weight, from.body.weight));
  const auto before = to.body.weight.to_vector<float>();
  from.body.weight.assign(zeros({4, 3}));
  EXPECT_EQ(to.body.weight.to_vector<float>(), before);
  EXPECT_TRUE(to.body.weight.requires_grad());
}

TEST(StateDict, LoadsItsOwn) {
  Net net;
  const auto before = net.body.weight.to_vector<float>();
  net.load_state_dict(net.state_dict());
  EXPECT_EQ(net.body.weight.to_vector<float>(), before);
}

TEST(StateDict, LoadingListsEveryFaultAndChangesNothing) {
  Net net;
  const StateDict before = net.state_dict();
  StateDict dict;
  for (const auto& [name, value] : before) dict[name] = ones_like(value);
  dict.erase("norm.bias");
  dict["extra"] = ones({1});
  dict["body.weight"] = ones({3, 4});
  const std::string message = test::message_of<ValueError>([&] { net.load_state_dict(dict); });
  EXPECT_NE(message.find("missing: norm.bias"), std::string::npos) << message;
  EXPECT_NE(message.find("unexpected: extra"), std::string::npos) << message;
  EXPECT_NE(message.find("body.weight (expected [4, 3], got [3, 4])"), std::string::npos) << message;
  expect_equal(net.state_dict(), before);
}

TEST(StateDict, NotStrictReportsWhatHasNoPartnerAndLoadsTheRest) {
  Net net;
  const nn::LoadReport report = net.load_state_dict({{"body.bias", ones({4})}, {"extra", ones({1})}}, false);
  EXPECT_EQ(report.unexpected, (std::vector<std::string>{"extra"}));
  EXPECT_EQ(report.missing.size(), 6u);
  EXPECT_TRUE(same(net.body.bias, ones({4})));
  EXPECT_THROW(net.load_state_dict({{"body.bias", ones({3})}}, false), ValueError);
  EXPECT_THROW(net.load_state_dict({{"body.bias", Tensor()}}, false), ValueError);
}

TEST(StateDict, ConvertsToTheDtypeOfTheCell) {
  Net net;
  net.load_state_dict({{"body.bias", tensor<double>({1, 2, 3, 4})}}, false);
  EXPECT_EQ(net.body.bias.dtype(), kF32);
  EXPECT_EQ(net.body.bias.to_vector<float>(), (std::vector<float>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace stoker
