// Initialisers: exact bounds, and moments of large samples within four standard errors.
#include <stoker/nn.h>

#include <algorithm>
#include <numeric>

#include "nn/reference.h"

namespace stoker {
namespace {

struct Moments {
  double mean, deviation, low, high;
};

Moments moments(const Tensor& tensor) {
  const auto v = tensor.to_vector<double>();
  const double mean = std::accumulate(v.begin(), v.end(), 0.0) / double(v.size());
  double square = 0;
  for (double x : v) square += (x - mean) * (x - mean);
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  return {mean, std::sqrt(square / double(v.size())), *low, *high};
}

class Init : public ::testing::Test {
 protected:
  void SetUp() override { manual_seed(5); }
  // 40,000 elements: the standard error of a mean is 1/200 of the deviation.
  const Tensor weight = make_cell(zeros({100, 400}), true);
  const Tensor kernel = make_cell(zeros({64, 25, 5, 5}), true);
};

TEST_F(Init, ConstantsFill) {
  nn::init::ones_(weight);
  EXPECT_TRUE(test::same(weight, ones({100, 400})));
  nn::init::constant_(weight, -2.5);
  EXPECT_TRUE(test::same(weight, full({100, 400}, -2.5)));
  nn::init::zeros_(weight);
  EXPECT_TRUE(test::same(weight, zeros({100, 400})));
  EXPECT_TRUE(weight.is_cell() && weight.requires_grad());
}

TEST_F(Init, UniformAndNormalHaveTheirMoments) {
  nn::init::uniform_(weight, -1, 3);
  Moments m = moments(weight);
  EXPECT_NEAR(m.mean, 1, 4 * 1.155 / 200);
  EXPECT_NEAR(m.deviation, 4 / std::sqrt(12.0), 0.02);
  EXPECT_TRUE(m.low >= -1 && m.high < 3);
  nn::init::normal_(weight, 2, 0.5);
  m = moments(weight);
  EXPECT_NEAR(m.mean, 2, 4 * 0.5 / 200);
  EXPECT_NEAR(m.deviation, 0.5, 0.01);
}

TEST_F(Init, TruncatedNormalStaysWithinItsBounds) {
  nn::init::trunc_normal_(weight, 0, 1, -0.5, 1.5);
  Moments m = moments(weight);
  EXPECT_TRUE(m.low >= -0.5 && m.high <= 1.5);
  // phi(-0.5) = 0.3520653, phi(1.5) = 0.1295176, Phi(1.5) - Phi(-0.5) = 0.6246553
  EXPECT_NEAR(m.mean, (0.3520653 - 0.1295176) / 0.6246553, 4 * 0.54 / 200);
  nn::init::trunc_normal_(weight, 0, 0.02);
  m = moments(weight);
  EXPECT_NEAR(m.deviation, 0.02, 4e-4);
  EXPECT_NEAR(m.mean, 0, 4e-4);
  EXPECT_GT(m.high, 0.06);  // three deviations: bounds are absolute
  nn::init::trunc_normal_(weight, 5, 1, 0, 2);
  m = moments(weight);
  EXPECT_TRUE(m.low >= 0 && m.high <= 2);
}

TEST_F(Init, XavierAndKaimingScaleByTheFans) {
  EXPECT_EQ(nn::init::fans({100, 400}), (std::pair<int64_t, int64_t>(400, 100)));
  EXPECT_EQ(nn::init::fans({64, 25, 5, 5}), (std::pair<int64_t, int64_t>(625, 1600)));
  EXPECT_THROW(nn::init::fans({3}), ShapeError);

  nn::init::xavier_uniform_(weight, 2.0);
  EXPECT_NEAR(moments(weight).deviation, 2 * std::sqrt(2.0 / 500), 2e-3);
  EXPECT_LE(moments(weight).high, 2 * std::sqrt(6.0 / 500));
  nn::init::xavier_normal_(kernel);
  EXPECT_NEAR(moments(kernel).deviation, std::sqrt(2.0 / 2225), 5e-4);
  nn::init::kaiming_uniform_(weight);
  EXPECT_NEAR(moments(weight).deviation, std::sqrt(2.0 / 400), 1e-3);
  EXPECT_LE(moments(weight).high, std::sqrt(6.0 / 400));
  nn::init::kaiming_normal_(kernel, {.mode = nn::init::FanMode::FanOut, .nonlinearity = nn::init::Nonlinearity::ReLU});
  EXPECT_NEAR(moments(kernel).deviation, std::sqrt(2.0 / 1600), 5e-4);
}

TEST_F(Init, GainsArePyTorchs) {
  using nn::init::calculate_gain;
  using nn::init::Nonlinearity;
  EXPECT_EQ(calculate_gain(Nonlinearity::Linear), 1);
  EXPECT_EQ(calculate_gain(Nonlinearity::Sigmoid), 1);
  EXPECT_DOUBLE_EQ(calculate_gain(Nonlinearity::Tanh), 5.0 / 3);
  EXPECT_DOUBLE_EQ(calculate_gain(Nonlinearity::ReLU), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(calculate_gain(Nonlinearity::LeakyReLU, 0.2), std::sqrt(2 / 1.04));
  EXPECT_EQ(calculate_gain(Nonlinearity::SELU), 0.75);
}

TEST_F(Init, OrthogonalRowsOrColumnsHaveTheLengthOfTheGain) {
  for (const Shape& shape : {Shape{8, 20}, Shape{20, 8}, Shape{6, 2, 2, 2}}) {
    const Tensor cell = make_cell(zeros(shape, kF64));
    nn::init::orthogonal_(cell, 1.5);
    const Tensor matrix = cell.detach().reshape({shape[0], -1});
    const Tensor product = matrix.size(0) <= matrix.size(1) ? matrix.matmul(matrix.t()) : matrix.t().matmul(matrix);
    EXPECT_TRUE(test::close(product, eye(product.size(0), kF64) * 2.25, 1e-12)) << to_string(shape);
  }
  EXPECT_THROW(nn::init::orthogonal_(make_cell(zeros({4}))), ShapeError);
}

TEST_F(Init, LayersStartAsPyTorchs) {
  nn::Linear linear({.in_features = 100, .out_features = 300});
  EXPECT_NEAR(moments(linear.weight).deviation, 0.1 / std::sqrt(3.0), 1e-3);
  EXPECT_LE(std::max(-moments(linear.weight).low, moments(linear.weight).high), 0.1f);
  EXPECT_LE(std::max(-moments(linear.bias).low, moments(linear.bias).high), 0.1f);
  nn::Conv2d conv({.in_channels = 8, .out_channels = 64, .kernel_size = 5, .groups = 2});
  EXPECT_NEAR(moments(conv.weight).deviation, 0.1 / std::sqrt(3.0), 2e-3);
  EXPECT_LE(moments(conv.bias).high, 0.1f);
  nn::Embedding embedding({.num_embeddings = 100, .embedding_dim = 100});
  EXPECT_NEAR(moments(embedding.weight).deviation, 1, 0.03);
}

TEST_F(Init, FollowsTheSeedAndTheDtypeOfTheCell) {
  const Tensor half = make_cell(zeros({4, 4}, kF16));
  nn::init::kaiming_normal_(half);
  EXPECT_EQ(half.dtype(), kF16);
  nn::init::trunc_normal_(half);
  EXPECT_EQ(half.dtype(), kF16);
  manual_seed(9);
  nn::init::normal_(weight);
  const auto first = weight.to_vector<float>();
  manual_seed(9);
  nn::init::normal_(weight);
  EXPECT_EQ(weight.to_vector<float>(), first);
}

TEST_F(Init, RefusesImpossibleArguments) {
  EXPECT_THROW(nn::init::uniform_(weight, 1, 0), ValueError);
  EXPECT_THROW(nn::init::normal_(weight, 0, -1), ValueError);
  EXPECT_THROW(nn::init::trunc_normal_(weight, 0, 1, 2, 2), ValueError);
  EXPECT_THROW(nn::init::zeros_(zeros({2})), Error);  // a plain value
}

}  // namespace
}  // namespace stoker
