// Every layer against PyTorch's float64 results: output, gradients, buffers. Recorded by tests/reference/nn_layers.py.
#include <stoker/nn.h>

#include "nn/reference.h"

namespace stoker {
namespace {

using test::close;

struct Case {
  const char* name;
  std::unique_ptr<nn::Module> (*make)();
};

template <class Layer>
std::unique_ptr<nn::Module> layer(typename Layer::Options options) {
  return nn::make<Layer>(options);
}
template <class Layer>
std::unique_ptr<nn::Module> layer() {
  return nn::make<Layer>();
}

const nn::Conv2dOptions kConv{.in_channels = 4, .out_channels = 6, .kernel_size = 3};

const Case kCases[] = {
    {"linear", [] { return layer<nn::Linear>({.in_features = 5, .out_features = 3}); }},
    {"linear_no_bias", [] { return layer<nn::Linear>({.in_features = 5, .out_features = 3, .bias = false}); }},
    {"linear_3d", [] { return layer<nn::Linear>({.in_features = 5, .out_features = 3}); }},
    {"conv", [] { return layer<nn::Conv2d>(kConv); }},
    {"conv_no_bias",
     [] { return layer<nn::Conv2d>({.in_channels = 4, .out_channels = 6, .kernel_size = 3, .bias = false}); }},
    {"conv_stride_padding_dilation",
     [] {
       return layer<nn::Conv2d>(
           {.in_channels = 4, .out_channels = 6, .kernel_size = 3, .stride = 2, .padding = 2, .dilation = 2});
     }},
    {"conv_grouped",
     [] {
       return layer<nn::Conv2d>({.in_channels = 4, .out_channels = 6, .kernel_size = 3, .padding = 1, .groups = 2});
     }},
    {"conv_depthwise",
     [] {
       return layer<nn::Conv2d>({.in_channels = 4, .out_channels = 8, .kernel_size = 3, .padding = 1, .groups = 4});
     }},
    {"conv_oblong",
     [] {
       return layer<nn::Conv2d>(
           {.in_channels = 4, .out_channels = 6, .kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 0}});
     }},
    {"max_pool", [] { return layer<nn::MaxPool2d>({.kernel_size = 2}); }},
    {"max_pool_ceil",
     [] { return layer<nn::MaxPool2d>({.kernel_size = 3, .stride = 2, .padding = 1, .ceil_mode = true}); }},
    {"avg_pool", [] { return layer<nn::AvgPool2d>({.kernel_size = 2}); }},
    {"avg_pool_padding", [] { return layer<nn::AvgPool2d>({.kernel_size = 3, .stride = 2, .padding = 1}); }},
    {"avg_pool_ceil",
     [] {
       return layer<nn::AvgPool2d>(
           {.kernel_size = 3, .stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false});
     }},
    {"adaptive_avg_pool",
     [] {
       return layer<nn::AdaptiveAvgPool2d>({.output_size = {3, 4}});
     }},
    {"adaptive_avg_pool_global", [] { return layer<nn::AdaptiveAvgPool2d>({.output_size = 1}); }},
    {"batch_norm_1d", [] { return layer<nn::BatchNorm1d>({.num_features = 5}); }},
    {"batch_norm_1d_length", [] { return layer<nn::BatchNorm1d>({.num_features = 5, .eps = 1e-3, .momentum = 0.3}); }},
    {"batch_norm_2d", [] { return layer<nn::BatchNorm2d>({.num_features = 4}); }},
    {"batch_norm_2d_plain", [] { return layer<nn::BatchNorm2d>({.num_features = 4, .affine = false}); }},
    {"batch_norm_2d_untracked",
     [] { return layer<nn::BatchNorm2d>({.num_features = 4, .track_running_stats = false}); }},
    {"batch_norm_2d_eval", [] { return layer<nn::BatchNorm2d>({.num_features = 4}); }},
    {"batch_norm_2d_untracked_eval",
     [] { return layer<nn::BatchNorm2d>({.num_features = 4, .track_running_stats = false}); }},
    {"layer_norm", [] { return layer<nn::LayerNorm>({.normalized_shape = {6}}); }},
    {"layer_norm_two_axes",
     [] {
       return layer<nn::LayerNorm>({.normalized_shape = {7, 6}, .eps = 1e-3});
     }},
    {"layer_norm_plain", [] { return layer<nn::LayerNorm>({.normalized_shape = {6}, .elementwise_affine = false}); }},
    {"embedding", [] { return layer<nn::Embedding>({.num_embeddings = 7, .embedding_dim = 3}); }},
    {"embedding_padding",
     [] { return layer<nn::Embedding>({.num_embeddings = 7, .embedding_dim = 3, .padding_idx = 2}); }},
    {"flatten", [] { return layer<nn::Flatten>(); }},
    {"relu", [] { return layer<nn::ReLU>(); }},
    {"leaky_relu", [] { return layer<nn::LeakyReLU>({.negative_slope = 0.2}); }},
    {"elu", [] { return layer<nn::ELU>({.alpha = 1.5}); }},
    {"gelu", [] { return layer<nn::GELU>(); }},
    {"gelu_tanh", [] { return layer<nn::GELU>({.approximate = true}); }},
    {"silu", [] { return layer<nn::SiLU>(); }},
    {"sigmoid", [] { return layer<nn::Sigmoid>(); }},
    {"tanh", [] { return layer<nn::Tanh>(); }},
    {"softplus", [] { return layer<nn::Softplus>({.beta = 2, .threshold = 3}); }},
    {"hardtanh", [] { return layer<nn::Hardtanh>({.min_val = -0.5, .max_val = 1.5}); }},
    {"hardsigmoid", [] { return layer<nn::Hardsigmoid>(); }},
    {"hardswish", [] { return layer<nn::Hardswish>(); }},
    {"mish", [] { return layer<nn::Mish>(); }},
    {"log_sigmoid", [] { return layer<nn::LogSigmoid>(); }},
    {"softmax", [] { return layer<nn::Softmax>({.dim = 1}); }},
    {"log_softmax", [] { return layer<nn::LogSoftmax>({.dim = 1}); }},
};

class Layers : public ::testing::TestWithParam<std::tuple<Case, DType>> {};

TEST_P(Layers, GivePyTorchsResults) {
  const auto& [layer_case, dtype] = GetParam();
  const std::string prefix = std::string(layer_case.name) + "/";
  // PyTorch's gradient of hardsigmoid multiplies by 1/6 as a float, whatever the dtype.
  const bool rounded_sixth = prefix == "hardsigmoid/";
  const double tolerance = dtype == kF64 ? (rounded_sixth ? 1e-7 : 1e-11) : 3e-5;
  static const test::Reference reference("nn_layers");

  const std::unique_ptr<nn::Module> layer = layer_case.make();
  layer->to(dtype);
  layer->load_state_dict(reference.below(prefix + "p."));
  layer->train(!prefix.ends_with("_eval/"));
  Tensor x = reference.at(prefix + "x");
  if (is_floating(x.dtype())) x = x.to(dtype).detach().requires_grad_();

  const Tensor y = (*layer)(x);
  EXPECT_EQ(y.dtype(), dtype);
  EXPECT_TRUE(close(y, reference.at(prefix + "y"), tolerance));
  y.backward(reference.at(prefix + "g").to(dtype));
  if (x.requires_grad()) {
    EXPECT_TRUE(close(x.grad(), reference.at(prefix + "dx"), tolerance));
  }
  const StateDict gradients = reference.below(prefix + "d.");
  EXPECT_EQ(layer->named_parameters().size(), gradients.size());
  for (const auto& [name, parameter] : layer->named_parameters())
    EXPECT_TRUE(close(parameter.grad(), gradients.at(name), tolerance)) << name;
  const StateDict buffers = reference.below(prefix + "b.");
  EXPECT_EQ(layer->named_buffers().size(), buffers.size());
  for (const auto& [name, buffer] : layer->named_buffers())
    EXPECT_TRUE(close(buffer, buffers.at(name), tolerance)) << name;
}

INSTANTIATE_TEST_SUITE_P(PyTorch, Layers,
                         ::testing::Combine(::testing::ValuesIn(kCases), ::testing::Values(kF32, kF64)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::string(name_of(std::get<1>(info.param)));
                         });

TEST(Dropout, KeepsTheShareAndTheMeanInTraining) {
  manual_seed(3);
  nn::Dropout dropout({.p = 0.25});
  const std::vector<float> y = dropout(ones({100, 100})).to_vector<float>();
  size_t kept = 0;
  for (float v : y) {
    EXPECT_TRUE(v == 0 || std::abs(v - 4.0f / 3) < 1e-6f) << v;
    kept += v != 0;
  }
  EXPECT_NEAR(double(kept) / 1e4, 0.75, 0.02);
}

TEST(Dropout, IsTheIdentityInEvaluation) {
  nn::Dropout dropout({.p = 0.9});
  dropout.eval();
  EXPECT_TRUE(test::same(dropout(ones({50})), ones({50})));
}

TEST(Dropout, DrawsAnewAtEachCallAndPassesTheSameMaskBackward) {
  manual_seed(4);
  nn::Dropout dropout;
  const Tensor x = ones({64}).requires_grad_();
  const Tensor a = dropout(x), b = dropout(x);
  EXPECT_FALSE(test::same(a, b));
  a.backward(ones({64}));
  EXPECT_TRUE(test::same(x.grad(), a));
}

TEST(Embedding, StartsWithAPaddingRowOfZeros) {
  nn::Embedding embedding({.num_embeddings = 5, .embedding_dim = 4, .padding_idx = -1});
  const auto table = embedding.weight.to_vector<float>();
  for (size_t i = 0; i < table.size(); ++i) EXPECT_EQ(table[i] == 0, i >= 16) << i;
}

TEST(Identity, GivesTheSameTensor) {
  nn::Identity identity;
  EXPECT_TRUE(test::same(identity(arange(5)), arange(5)));
}

}  // namespace
}  // namespace stoker
