#include <stoker/nn.h>
#include <stoker/ops.h>

#include <limits>

#include "nn/reference.h"

namespace stoker {
namespace {

using test::close;

// Cells with the given gradients.
std::vector<Tensor> with_gradients(const std::vector<std::vector<float>>& gradients) {
  std::vector<Tensor> cells;
  for (const auto& g : gradients) {
    cells.push_back(zeros({int64_t(g.size())}).requires_grad_());
    sum(cells.back() * tensor(g)).backward();
  }
  return cells;
}

TEST(ClipGradNorm, ScalesAllGradientsByOneFactor) {
  const auto cells = with_gradients({{3, 0}, {0, 4, 0}});
  const Tensor norm = nn::clip_grad_norm_(cells, 1);
  EXPECT_FLOAT_EQ(norm.item<float>(), 5);
  const float scale = 1 / (5 + 1e-6f);
  EXPECT_TRUE(close(cells[0].grad(), tensor<float>({3 * scale, 0}), 1e-6));
  EXPECT_TRUE(close(cells[1].grad(), tensor<float>({0, 4 * scale, 0}), 1e-6));
}

TEST(ClipGradNorm, LeavesSmallGradientsAsTheyAre) {
  const auto cells = with_gradients({{0.3f, 0.4f}});
  EXPECT_FLOAT_EQ(nn::clip_grad_norm_(cells, 1).item<float>(), 0.5f);
  EXPECT_EQ(cells[0].grad().to_vector<float>(), (std::vector<float>{0.3f, 0.4f}));
}

TEST(ClipGradNorm, TakesOtherNorms) {
  EXPECT_FLOAT_EQ(nn::clip_grad_norm_(with_gradients({{3, -1}, {-4}}), 100, 1).item<float>(), 8);
  EXPECT_FLOAT_EQ(nn::clip_grad_norm_(with_gradients({{3, -1}, {-4}}), 100, 3).item<float>(), std::cbrt(92.0f));
  const auto cells = with_gradients({{3, -1}, {-4}});
  EXPECT_FLOAT_EQ(nn::clip_grad_norm_(cells, 2, std::numeric_limits<double>::infinity()).item<float>(), 4);
  EXPECT_TRUE(close(cells[1].grad(), tensor<float>({-2}), 1e-6));
}

TEST(ClipGradNorm, LeavesOutParametersWithoutGradient) {
  auto cells = with_gradients({{6, 8}});
  cells.push_back(ones({3}).requires_grad_());
  EXPECT_FLOAT_EQ(nn::clip_grad_norm_(cells, 5).item<float>(), 10);
  EXPECT_FALSE(cells[1].grad().defined());
  EXPECT_EQ(nn::clip_grad_norm_({cells[1]}, 5).item<float>(), 0);
}

TEST(ClipGradNorm, SquaresHalfGradientsInSingle) {
  const Tensor cell = zeros({4}, kF16).requires_grad_();
  sum(cell * full({4}, 300, kF16)).backward();
  const Tensor norm = nn::clip_grad_norm_({cell}, 60);
  EXPECT_EQ(norm.dtype(), kF32);
  EXPECT_FLOAT_EQ(norm.item<float>(), 600);
  EXPECT_EQ(cell.grad().dtype(), kF16);
  EXPECT_TRUE(close(cell.grad(), full({4}, 30), 1e-3));
}

TEST(ClipGradNorm, RefusesImpossibleArguments) {
  EXPECT_THROW(nn::clip_grad_norm_({}, -1), ValueError);
  EXPECT_THROW(nn::clip_grad_norm_({}, 1, 0), ValueError);
  EXPECT_THROW(nn::clip_grad_value_({}, -1), ValueError);
}

TEST(ClipGradNorm, RecordsWithoutRunningAnything) {
  const auto cells = with_gradients({{3, 4}});
  const int64_t before = plan_stats().plans_run;
  const Tensor norm = nn::clip_grad_norm_(cells, 1);
  EXPECT_EQ(plan_stats().plans_run, before);
  EXPECT_FLOAT_EQ(norm.item<float>(), 5);
}

TEST(ClipGradValue, ClampsEveryElement) {
  const auto cells = with_gradients({{3, -0.5f, -7}});
  nn::clip_grad_value_(cells, 2);
  EXPECT_EQ(cells[0].grad().to_vector<float>(), (std::vector<float>{2, -0.5f, -2}));
}

}  // namespace
}  // namespace stoker
