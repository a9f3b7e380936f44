#include <stoker/nn.h>
#include <stoker/ops.h>

#include <cstdlib>
#include <type_traits>

#include "nn/reference.h"

namespace stoker {
namespace {

// Two devices, for the tests that move networks; before the first one is opened.
const int split = setenv("STOKER_CPU_DEVICES", "2", 1);

using test::message_of;
using test::same;

struct Block : nn::Module {
  nn::Linear a{*this, "a", {.in_features = 4, .out_features = 4}};
  nn::Dropout dropout{*this, "dropout", {.p = 0.5}};
  Block(nn::Module& parent, std::string name) : nn::Module(parent, std::move(name)) {}
  Tensor forward(const Tensor& x) override { return dropout(relu(a(x))); }
};

struct Net : nn::Module {
  nn::Parameter scale{*this, "scale", ones({4})};
  nn::BatchNorm1d norm{*this, "norm", {.num_features = 4}};
  Block block{*this, "block"};
  nn::Buffer steps{*this, "steps", zeros({}, kI64)};
  nn::Buffer mask{*this, "mask", ones({4}), false};
  Tensor forward(const Tensor& x) override { return block(norm(x)) * scale * mask; }
};

std::vector<std::string> names_of(const std::vector<std::pair<std::string, Tensor>>& named) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : named) names.push_back(name);
  return names;
}

static_assert(!std::is_copy_constructible_v<Net> && !std::is_move_constructible_v<Net>);
static_assert(!std::is_copy_constructible_v<nn::Parameter> && !std::is_move_constructible_v<nn::Parameter>);

TEST(Module, NamesItsCellsInOrderOfDeclaration) {
  Net net;
  EXPECT_EQ(names_of(net.named_parameters()),
            (std::vector<std::string>{"scale", "norm.weight", "norm.bias", "block.a.weight", "block.a.bias"}));
  EXPECT_EQ(names_of(net.named_buffers()), (std::vector<std::string>{"steps", "mask", "norm.running_mean",
                                                                     "norm.running_var", "norm.num_batches_tracked"}));
  EXPECT_EQ(net.parameters().size(), 5u);
  EXPECT_EQ(net.buffers().size(), 5u);
  for (const Tensor& p : net.parameters()) EXPECT_TRUE(p.is_cell() && p.requires_grad());
  for (const Tensor& b : net.buffers()) EXPECT_TRUE(b.is_cell() && !b.requires_grad());
}

TEST(Module, NamesTheModulesBelowIt) {
  Net net;
  std::vector<std::string> names;
  for (const auto& [name, module] : net.named_modules()) names.push_back(name + ":" + module->type_name());
  EXPECT_EQ(names, (std::vector<std::string>{":Net", "norm:BatchNorm1d", "block:Block", "block.a:Linear",
                                             "block.dropout:Dropout"}));
}

TEST(Module, RefusesNamesThatAreTakenOrCannotBe) {
  Net net;
  EXPECT_THROW((nn::Linear{net, "block", {.in_features = 1, .out_features = 1}}), ValueError);
  EXPECT_THROW((nn::Linear{net, "scale", {.in_features = 1, .out_features = 1}}), ValueError);
  EXPECT_THROW((nn::Parameter{net, "norm", ones({1})}), ValueError);
  EXPECT_THROW((nn::Parameter{net, "", ones({1})}), ValueError);
  EXPECT_THROW((nn::Buffer{net, "a.b", ones({1})}), ValueError);
  EXPECT_EQ(message_of<ValueError>([&] { nn::ReLU again(net, "block"); }),
            "[Net] expected a new name for a child, got 'block' again; names are unique within a module");
  EXPECT_EQ(net.parameters().size(), 5u);
  EXPECT_EQ(net.named_children().size(), 2u);
}

TEST(Module, ForgetsChildrenAndCellsThatDieBeforeIt) {
  Net net;
  {
    nn::Linear passing(net, "passing", {.in_features = 1, .out_features = 1});
    nn::Parameter short_lived(net, "short_lived", ones({1}));
    EXPECT_EQ(net.parameters().size(), 8u);
  }
  EXPECT_EQ(net.parameters().size(), 5u);
  auto parent = std::make_unique<nn::Module>();
  nn::Linear survivor(*parent, "survivor", {.in_features = 1, .out_features = 1});
  parent.reset();
  EXPECT_EQ(survivor.parameters().size(), 2u);
}

TEST(Module, HasOneParentAndNoCycle) {
  Net net, other;
  EXPECT_THROW(other.register_module("borrowed", net.block), ValueError);
  EXPECT_THROW(net.block.register_module("up", net), ValueError);
  EXPECT_THROW(net.register_module("self", net), ValueError);
}

TEST(Module, SetsTheModeOfEverythingBelow) {
  Net net;
  EXPECT_TRUE(net.training() && net.block.dropout.training());
  net.eval();
  EXPECT_FALSE(net.training() || net.norm.training() || net.block.dropout.training());
  const Tensor x = rand({3, 4});
  EXPECT_TRUE(same(net(x), net(x)));
  net.block.train();
  EXPECT_TRUE(!net.training() && net.block.training() && net.block.dropout.training());
}

TEST(Module, AppliesToChildrenFirst) {
  Net net;
  std::vector<std::string> order;
  net.apply([&](nn::Module& m) { order.push_back(m.type_name()); });
  EXPECT_EQ(order, (std::vector<std::string>{"BatchNorm1d", "Linear", "Dropout", "Block", "Net"}));
}

TEST(Module, FreezesParameters) {
  Net net;
  net.block.requires_grad_(false);
  sum(net(rand({3, 4}))).backward();
  EXPECT_FALSE(net.block.a.weight.grad().defined());
  EXPECT_TRUE(net.scale.grad().defined());
  EXPECT_EQ(net.parameters().size(), 5u);
  net.block.requires_grad_();
  EXPECT_TRUE(net.block.a.weight.requires_grad());
}

TEST(Module, ForgetsGradients) {
  Net net;
  sum(net(rand({3, 4}))).backward();
  net.zero_grad();
  for (const Tensor& p : net.parameters()) EXPECT_FALSE(p.grad().defined());
}

TEST(Module, ConvertsFloatingCellsWithTheirGradients) {
  Net net;
  net.eval();
  const Tensor weight = net.block.a.weight;  // another handle of the cell
  sum(net(rand({3, 4}))).backward();
  const auto gradient = net.scale.grad().to_vector<float>();
  net.to(kF64);
  EXPECT_EQ(weight.dtype(), kF64);
  EXPECT_EQ(net.norm.running_var.dtype(), kF64);
  EXPECT_EQ(net.norm.num_batches_tracked.dtype(), kI64);
  EXPECT_EQ(net.scale.grad().dtype(), kF64);
  EXPECT_EQ(net.scale.grad().to_vector<float>(), gradient);
  EXPECT_TRUE(weight.requires_grad());
  EXPECT_EQ(net(rand({3, 4}, kF64)).dtype(), kF64);
  EXPECT_THROW(net.to(kI64), DTypeError);
}

TEST(Module, MovesToAnotherDeviceWithItsGradients) {
  ASSERT_EQ(split, 0);
  Net net;
  net.eval();
  const Tensor x = rand({3, 4});
  const Tensor before = net(x);
  sum(before).backward();
  const Tensor gradient = net.scale.grad();
  net.to(cpu(1));
  for (const Tensor& p : net.parameters()) EXPECT_EQ(p.device(), cpu(1));
  for (const Tensor& b : net.buffers()) EXPECT_EQ(b.device(), cpu(1));
  EXPECT_EQ(net.scale.grad().device(), cpu(1));
  EXPECT_TRUE(same(net.scale.grad(), gradient));
  EXPECT_TRUE(same(net(x.to(cpu(1))), before));
  EXPECT_THROW(net(x), DeviceError);
}

TEST(Module, TiesTwoNamesToOneCell) {
  struct Tied : nn::Module {
    nn::Embedding embed{*this, "embed", {.num_embeddings = 5, .embedding_dim = 3}};
    nn::Linear head{*this, "head", {.in_features = 3, .out_features = 5, .bias = false}};
    Tied() { head.weight = embed.weight; }
    Tensor forward(const Tensor& x) override { return head(embed(x)); }
  } net;
  EXPECT_EQ(names_of(net.named_parameters()), (std::vector<std::string>{"embed.weight"}));
  EXPECT_EQ(net.state_dict().size(), 2u);
  net.embed.weight.assign(ones({5, 3}));
  EXPECT_TRUE(same(net.head.weight, ones({5, 3})));
  // Both uses reach the one gradient: of the embedding the row's count times 5, of the head the sum of the inputs.
  sum(net(tensor<int64_t>({0, 0}))).backward();
  std::vector<float> expected(15, 2);
  for (size_t i = 0; i < 3; ++i) expected[i] += 10;
  EXPECT_EQ(net.embed.weight.grad().to_vector<float>(), expected);
}

TEST(Module, TiesCellsOfEqualShapeOnly) {
  nn::Linear a({.in_features = 2, .out_features = 3}), b({.in_features = 3, .out_features = 2});
  EXPECT_THROW(a.weight = b.weight, ShapeError);
  EXPECT_THROW(a.weight = ones({3, 2}), ValueError);
  EXPECT_THROW(a.weight = Tensor(), ValueError);
  EXPECT_EQ(a.weight.shape(), (Shape{3, 2}));
}

TEST(Module, ReportsTheLineOfTheCall) {
  Net net;
  const int line = __LINE__ + 1;
  const std::string message = message_of<ShapeError>([&] { net(rand({3, 7})); });
  EXPECT_NE(message.find("module_test.cpp:" + std::to_string(line)), std::string::npos) << message;
}

TEST(Module, WithoutForwardSaysSo) {
  nn::Module module;
  EXPECT_NE(message_of<Unsupported>([&] { module(ones({1})); }).find("override forward()"), std::string::npos);
}

TEST(Module, PrintsAsATree) {
  struct Printed : nn::Module {
    nn::Conv2d conv{*this, "conv", {.in_channels = 1, .out_channels = 8, .kernel_size = {3, 5}, .padding = 1}};
    nn::Sequential body{*this, "body", nn::make<nn::BatchNorm2d>({.num_features = 8}), nn::make<nn::ReLU>()};
    nn::Linear head{*this, "head", {.in_features = 8, .out_features = 2, .bias = false}};
  } net;
  EXPECT_EQ(to_string(net),
            "Printed(\n"
            "  (conv): Conv2d(in_channels=1, out_channels=8, kernel_size={3, 5}, padding=1)\n"
            "  (body): Sequential(\n"
            "    (0): BatchNorm2d(num_features=8)\n"
            "    (1): ReLU()\n"
            "  )\n"
            "  (head): Linear(in_features=8, out_features=2, bias=false)\n"
            ")");
}

TEST(Options, OutsideOfTheirRangeAreRefusedInWords) {
  EXPECT_EQ(message_of<ValueError>([] { nn::Linear({.out_features = 3}); }),
            "[Linear] expected in_features of at least 1, got 0; set it to the extent of the input's last axis");
  EXPECT_THROW(nn::Conv2d({.in_channels = 1, .out_channels = 1}), ValueError);
  EXPECT_THROW(nn::Conv2d({.in_channels = 1, .out_channels = 1, .kernel_size = {3, 0}}), ValueError);
  EXPECT_THROW(nn::Conv2d({.in_channels = 1, .out_channels = 1, .kernel_size = 3, .stride = 0}), ValueError);
  EXPECT_THROW(nn::Conv2d({.in_channels = 1, .out_channels = 1, .kernel_size = 3, .padding = -1}), ValueError);
  EXPECT_THROW(nn::Conv2d({.in_channels = 4, .out_channels = 6, .kernel_size = 3, .groups = 4}), ValueError);
  EXPECT_THROW(nn::MaxPool2d({.kernel_size = 0}), ValueError);
  EXPECT_THROW(nn::MaxPool2d({.kernel_size = 2, .padding = 2}), ValueError);
  EXPECT_THROW(nn::AvgPool2d({.kernel_size = 2, .stride = 0}), ValueError);
  EXPECT_THROW(nn::AdaptiveAvgPool2d({.output_size = 0}), ValueError);
  EXPECT_THROW(nn::Dropout({.p = 1.1}), ValueError);
  EXPECT_THROW(nn::Dropout({.p = -0.1}), ValueError);
  EXPECT_THROW(nn::Dropout({.p = std::nan("")}), ValueError);
  EXPECT_THROW(nn::BatchNorm2d({.num_features = 0}), ValueError);
  EXPECT_THROW(nn::BatchNorm2d({.num_features = 1, .momentum = 2}), ValueError);
  EXPECT_THROW(nn::LayerNorm({.normalized_shape = {}}), ValueError);
  EXPECT_THROW(nn::LayerNorm({.normalized_shape = {0}}), ValueError);
  EXPECT_THROW(nn::Embedding({.num_embeddings = 3, .embedding_dim = 2, .padding_idx = 3}), ValueError);
  EXPECT_THROW(nn::Hardtanh({.min_val = 1, .max_val = 1}), ValueError);
}

}  // namespace
}  // namespace stoker
