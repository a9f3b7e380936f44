// Batch norm where it went wrong elsewhere: BR-005 and BR-006 of the project's list of pitfalls.
#include <stoker/nn.h>

#include "nn/reference.h"

namespace stoker {
namespace {

TEST(BatchNorm, MovesTheRunningVarianceByTheUnbiasedOne) {
  nn::BatchNorm1d norm({.num_features = 1});
  const Tensor y = norm(tensor<float>({1, 3}, Shape{2, 1}));
  const float scale = 1 / std::sqrt(1 + 1e-5f);
  EXPECT_TRUE(test::close(y, tensor<float>({-scale, scale}, Shape{2, 1}), 1e-6));
  EXPECT_NEAR(norm.running_mean.item<float>(), 0.2, 1e-7);
  EXPECT_NEAR(norm.running_var.item<float>(), 1.1, 1e-6);
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 1);
}

void expect_untouched(const nn::BatchNorm& norm) {
  EXPECT_TRUE(test::same(norm.running_mean, zeros({2})));
  EXPECT_TRUE(test::same(norm.running_var, ones({2})));
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 0);
}

TEST(BatchNorm, RefusesOneValuePerChannelInTrainingAndKeepsItsStatistics) {
  nn::BatchNorm1d norm({.num_features = 2});
  EXPECT_THROW(norm(tensor<float>({1, 2}, Shape{1, 2})), ValueError);
  expect_untouched(norm);
  nn::BatchNorm2d norm2d({.num_features = 2});
  EXPECT_THROW(norm2d(ones({1, 2, 1, 1})), ValueError);
  expect_untouched(norm2d);
}

TEST(BatchNorm, TrainsOnABatchOfOneThatHasSeveralPositions) {
  nn::BatchNorm2d norm({.num_features = 2});
  norm(rand({1, 2, 1, 3}));
  for (float v : norm.running_var.to_vector<float>()) EXPECT_TRUE(std::isfinite(v));
  EXPECT_EQ(norm.num_batches_tracked.item<int64_t>(), 1);
}

TEST(BatchNorm, EvaluatesABatchOfOne) {
  nn::BatchNorm1d norm({.num_features = 2});
  norm.eval();
  const Tensor x = tensor<float>({1, 2}, Shape{1, 2});
  EXPECT_TRUE(test::close(norm(x), x, 1e-5));
  expect_untouched(norm);
}

TEST(BatchNorm, RefusesInputsOfAnotherRank) {
  nn::BatchNorm1d one({.num_features = 2});
  nn::BatchNorm2d two({.num_features = 2});
  EXPECT_THROW(one(ones({2, 2, 2, 2})), ShapeError);
  EXPECT_THROW(two(ones({2, 2, 2})), ShapeError);
  EXPECT_NE(test::message_of<ShapeError>([&] {
              two(ones({2, 2, 2}));
            }).find("[BatchNorm2d] expected"),
            std::string::npos);
}

TEST(BatchNorm, KeepsRunningStatisticsOutOfAutograd) {
  nn::BatchNorm1d norm({.num_features = 2});
  const Tensor before = norm.running_mean.detach();
  sum(norm(rand({4, 2}))).backward();
  sum(norm(rand({4, 2}))).backward();
  EXPECT_FALSE(norm.running_mean.requires_grad());
  EXPECT_FALSE(test::same(norm.running_mean, before));
}

}  // namespace
}  // namespace stoker
