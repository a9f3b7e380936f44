// Faults that people met in other libraries; ids are those of shared/cases/pitfalls.jsonl.
#include <stoker/ops.h>

#include <cmath>

#include "support/compare.h"

namespace stoker::test {
namespace {

// --- BR-005: one value per channel

TEST(BR005, TrainingOnOneValuePerChannelIsAnErrorThatChangesNothing) {
  const Tensor mean = make_cell(zeros({2})), var = make_cell(ones({2}));
  EXPECT_THROW(batch_norm(tensor<float>({1, 2}, Shape{1, 2}), mean, var, {}, {}, true), ValueError);
  EXPECT_THROW(batch_norm(ones({1, 2, 1, 1}), mean, var, {}, {}, true), ValueError);
  EXPECT_TRUE(equals<float>(mean, {2}, {0, 0}));
  EXPECT_TRUE(equals<float>(var, {2}, {1, 1}));
}

TEST(BR005, SeveralPositionsOrEvaluationMakeOneSampleEnough) {
  const Tensor mean = make_cell(zeros({2})), var = make_cell(ones({2}));
  const Tensor x = tensor<float>({1, 2, 3, 4, 5, 6}, Shape{1, 2, 1, 3});
  const Tensor trained = batch_norm(x, mean, var, {}, {}, true);
  for (float v : trained.to_vector<float>()) EXPECT_TRUE(std::isfinite(v));
  for (float v : var.to_vector<float>()) EXPECT_TRUE(std::isfinite(v));
  const Tensor one = batch_norm(tensor<float>({1, 2}, Shape{1, 2}), zeros({2}), ones({2}));
  EXPECT_TRUE(matches(one, {1, 2}, kF32, {1 / std::sqrt(1 + 1e-5), 2 / std::sqrt(1 + 1e-5)}, {4}));
}

// --- BR-006: running variance is unbiased

TEST(BR006, RunningVarianceMovesByTheUnbiasedOne) {
  for (DType dtype : {kF32, kF64}) {
    const Tensor mean = make_cell(zeros({1}, dtype)), var = make_cell(ones({1}, dtype));
    const Tensor y = batch_norm(tensor_of({1, 3}, {2, 1}, dtype), mean, var, {}, {}, true);
    const double normal = 1 / std::sqrt(1 + 1e-5);
    EXPECT_TRUE(matches(y, {2, 1}, dtype, {-normal, normal}, {4}));
    EXPECT_TRUE(matches(mean, {1}, dtype, {0.2}, {4}));
    EXPECT_TRUE(matches(var, {1}, dtype, {1.1}, {8}));
  }
}

TEST(BR006, RunningStatisticsStayInF32BesideHalves) {
  const Tensor mean = make_cell(zeros({1})), var = make_cell(ones({1}));
  batch_norm(tensor_of({1, 3}, {2, 1}, kF16), mean, var, {}, {}, true);
  EXPECT_TRUE(matches(mean, {1}, kF32, {0.2}, {4}));
  EXPECT_TRUE(matches(var, {1}, kF32, {1.1}, {8}));
}

// --- BR-009: squares that overflow halves

TEST(BR009, NormalisationOfHalvesDoesNotOverflow) {
  const std::vector<double> x{-400, 400, -400, 400}, want{-1, 1, -1, 1};
  const Tensor half = tensor_of(x, {1, 4}, kF16);
  EXPECT_TRUE(matches(layer_norm(half, {4}), {1, 4}, kF16, want));
  EXPECT_TRUE(matches(layer_norm(half, {4}, ones({4}, kF16), zeros({4}, kF16)), {1, 4}, kF16, want));
  EXPECT_TRUE(matches(batch_norm(half.reshape({4, 1}), {}, {}, {}, {}, true), {4, 1}, kF16, want));
  EXPECT_TRUE(matches(std(half, {1}, 0), {1}, kF16, {400}));
  EXPECT_TRUE(matches(norm(half), {}, kF16, {800}));
}

// Written out, and in one fusion: half types stay f32 inside of it.
TEST(BR009, NormalisationWrittenOutDoesNotOverflowEither) {
  const Tensor x = tensor_of({-400, 400, -400, 400}, {1, 4}, kF16);
  const Tensor centered = x - mean(x, {1}, true);
  const Tensor y = centered / sqrt(mean(square(centered), {1}, true) + 1e-5);
  EXPECT_TRUE(matches(y, {1, 4}, kF16, {-1, 1, -1, 1}));
}

TEST(BR009, GradientOfTheNormalisationOfHalvesIsFinite) {
  Tensor x = tensor_of({-400, 400, -300, 400}, {1, 4}, kF16);
  x.requires_grad_();
  layer_norm(x, {4}).backward(tensor_of({1, 0, 0, 0}, {1, 4}, kF16));
  for (double g : x.grad().to_vector<double>()) EXPECT_TRUE(std::isfinite(g));
}

// --- BR-042: what is asked for besides the last result

TEST(BR042, IntermediatesOfAFusionThatAreHeldAreComputedToo) {
  manual_seed(1);
  const Tensor x = randn({2, 3, 6, 6}), w = randn({4, 3, 3, 3}), scale = rand({4}), shift = randn({4});
  const Tensor convolved = conv2d(x, w);
  const Tensor normalised = batch_norm(convolved, {}, {}, scale, shift, true);
  const Tensor y = relu(normalised);
  y.to_vector<float>();
  const Tensor alone = conv2d(x, w);
  EXPECT_TRUE(identical(convolved, alone));
  const Tensor batch = batch_norm(alone, {}, {}, scale, shift, true);
  EXPECT_TRUE(matches(normalised, batch.shape(), kF32, batch.to_vector<double>(), {8, true}));
  EXPECT_TRUE(identical(y, relu(normalised)));
}

TEST(BR042, ProductsHeldBeforeTheirBiasAndActivationAreThere) {
  manual_seed(2);
  const Tensor x = randn({5, 7}), w = randn({7, 3}), b = randn({3});
  for (bool held : {false, true}) {
    Tensor product = matmul(x, w), sum = product + b;
    const Tensor y = relu(sum);
    if (!held) product = Tensor(), sum = Tensor();
    const std::vector<float> got = y.to_vector<float>();
    const std::vector<double> a = matmul(x, w).to_vector<double>(), bias = b.to_vector<double>();
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], std::max(a[i] + bias[i % 3], 0.0), 1e-5) << held;
    if (held) {
      EXPECT_TRUE(identical(relu(product + b), y));
    }
  }
}

}  // namespace
}  // namespace stoker::test
