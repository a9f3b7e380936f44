#include <stoker/nn.h>

#include "nn/reference.h"

namespace stoker {
namespace {

TEST(Sequential, RunsItsLayersInOrder) {
  nn::Sequential net(nn::make<nn::Linear>({.in_features = 3, .out_features = 4}), nn::make<nn::Tanh>(),
                     nn::make<nn::Linear>({.in_features = 4, .out_features = 2}));
  const Tensor x = rand({5, 3});
  const auto& first = net.at<nn::Linear>(0);
  const auto& last = net.at<nn::Linear>(2);
  const Tensor expected = linear(tanh(linear(x, first.weight, first.bias)), last.weight, last.bias);
  EXPECT_TRUE(test::same(net(x), expected));
}

TEST(Sequential, NamesItsLayersByNumber) {
  struct Net : nn::Module {
    nn::Sequential body{*this, "body", nn::make<nn::Linear>({.in_features = 3, .out_features = 4}),
                        nn::make<nn::ReLU>()};
  } net;
  net.body.push_back(nn::make<nn::Linear>({.in_features = 4, .out_features = 2, .bias = false}));
  std::vector<std::string> names;
  for (const auto& [name, parameter] : net.named_parameters()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"body.0.weight", "body.0.bias", "body.2.weight"}));
  EXPECT_EQ(net.body.size(), 3u);
}

TEST(Sequential, WithoutLayersIsTheIdentity) {
  nn::Sequential net;
  EXPECT_TRUE(test::same(net(arange(3)), arange(3)));
}

TEST(Sequential, RefusesWhatIsNotThere) {
  nn::Sequential net(nn::make<nn::ReLU>());
  EXPECT_THROW(net[1], ValueError);
  EXPECT_THROW(net.at<nn::Linear>(0), ValueError);
  EXPECT_THROW(net.push_back(std::unique_ptr<nn::ReLU>()), ValueError);
  EXPECT_EQ(net.size(), 1u);
}

TEST(ModuleList, OwnsModulesButHasNoForward) {
  struct Net : nn::Module {
    nn::ModuleList layers{*this, "layers"};
    Net() {
      for (int i = 0; i < 3; ++i) layers.push_back(nn::make<nn::Linear>({.in_features = 2, .out_features = 2}));
    }
    Tensor forward(const Tensor& x) override {
      Tensor y = x;
      for (size_t i = 0; i < layers.size(); ++i) y = y + layers[i](y);
      return y;
    }
  } net;
  EXPECT_EQ(net.parameters().size(), 6u);
  EXPECT_EQ(net(rand({4, 2})).shape(), (Shape{4, 2}));
  EXPECT_THROW(net.layers(ones({2})), Unsupported);
}

}  // namespace
}  // namespace stoker
