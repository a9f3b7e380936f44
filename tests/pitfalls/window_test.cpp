// Faults that people met in other libraries; ids are those of shared/cases/pitfalls.jsonl.
#include <stoker/ops.h>

#include <cmath>

#include "graph/build.h"
#include "support/compare.h"
#include "tensor/access.h"

namespace stoker::test {
namespace {

const double kInf = INFINITY, kNaN = NAN;

// --- BR-014: windows of NaN and of -infinity

TEST(BR014, WindowsOfNaNOrNegativeInfinityKeepThem) {
  for (DType dtype : {kF32, kF64, kF16, kBF16})
    for (double value : {kNaN, -kInf}) {
      const Tensor x = tensor_of(std::vector<double>(16, value), {1, 1, 4, 4}, dtype);
      EXPECT_TRUE(matches(max_pool2d(x, 2), {1, 1, 2, 2}, dtype, std::vector<double>(4, value)));
      EXPECT_TRUE(
          matches(max_pool2d(x, 3, {.stride = 2, .padding = 1}), {1, 1, 2, 2}, dtype, std::vector<double>(4, value)));
      EXPECT_TRUE(matches(adaptive_max_pool2d(x, 2), {1, 1, 2, 2}, dtype, std::vector<double>(4, value)));
    }
}

TEST(BR014, OneNaNInAWindowWins) {
  for (int at = 0; at < 4; ++at) {
    std::vector<double> window{1, 2, kInf, 3};
    window[size_t(at)] = kNaN;
    EXPECT_TRUE(matches(max_pool2d(tensor_of(window, {1, 1, 2, 2}, kF32), 2), {1, 1, 1, 1}, kF32, {kNaN})) << at;
    const auto [value, index] = max_pool2d_with_indices(tensor_of(window, {1, 1, 2, 2}, kF32), 2);
    EXPECT_EQ(index.item<int64_t>(), at);
  }
}

TEST(BR014, IndicesLieInTheirWindowsAndGradientsGoThere) {
  for (double value : {kNaN, -kInf, 0.0}) {
    Tensor x = tensor_of(std::vector<double>(2 * 16, value), {1, 2, 4, 4}, kF32);
    x.requires_grad_();
    const auto [y, index] = max_pool2d_with_indices(x, 2);
    EXPECT_TRUE(equals<int64_t>(index, {1, 2, 2, 2}, {0, 2, 8, 10, 0, 2, 8, 10}));
    y.backward(ones({1, 2, 2, 2}));
    const std::vector<float> g = x.grad().to_vector<float>();
    for (size_t i = 0; i < g.size(); ++i) EXPECT_EQ(g[i], i / 4 % 2 == 0 && i % 2 == 0 ? 1 : 0) << i;
  }
}

TEST(BR014, PaddingIsNeverTaken) {
  const auto [y, index] = max_pool2d_with_indices(tensor_of({-kInf, -kInf, -kInf, -kInf}, {1, 1, 2, 2}, kF32), 2,
                                                  {.stride = 2, .padding = 1});
  EXPECT_TRUE(equals<int64_t>(index, {1, 1, 2, 2}, {0, 1, 2, 3}));
  EXPECT_TRUE(matches(y, {1, 1, 2, 2}, kF32, std::vector<double>(4, -kInf)));
}

// --- BR-016: the window that hangs over

TEST(BR016, AverageOfAnOverhangingWindowCountsWhatIsInsideThePaddedInput) {
  const std::vector<double> line{1, 2, 3, 4, 5}, want{1.5, 3.5, 5};
  for (DType dtype : {kF32, kF64, kF16})
    for (bool counted : {false, true}) {
      const PoolOptions options{.ceil_mode = true, .count_include_pad = counted};
      EXPECT_TRUE(
          matches(avg_pool2d(tensor_of(line, {1, 1, 1, 5}, dtype), {1, 2}, options), {1, 1, 1, 3}, dtype, want));
      EXPECT_TRUE(
          matches(avg_pool2d(tensor_of(line, {1, 1, 5, 1}, dtype), {2, 1}, options), {1, 1, 3, 1}, dtype, want));
    }
}

TEST(BR016, AverageOfAnOverhangingPaddedWindowDividesBySix) {
  const std::vector<double> row{0.5, 1, -1, 2, 0.25, 1, 3.3653, -1.5815, -2.3832};
  const PoolOptions across{.stride = Pair{1, 3}, .padding = {0, 3}, .ceil_mode = true},
      down{.stride = Pair{3, 1}, .padding = {3, 0}, .ceil_mode = true};
  const std::vector<float> y = avg_pool2d(tensor_of(row, {1, 1, 1, 9}, kF32), {1, 7}, across).to_vector<float>();
  const std::vector<float> z = avg_pool2d(tensor_of(row, {1, 1, 9, 1}, kF32), {7, 1}, down).to_vector<float>();
  ASSERT_EQ(y.size(), 4u);
  EXPECT_NEAR(y[2], (2 + 0.25 + 1 + 3.3653 - 1.5815 - 2.3832 + 0) / 7, 1e-6);
  EXPECT_NEAR(y[3], (3.3653 - 1.5815 - 2.3832) / 6, 1e-6);
  EXPECT_EQ(y, z);
}

// --- BR-017: padding on one side

TEST(BR017, AverageWithPaddingAfterTheInputDoesNotPadBefore) {
  auto pooled = [](Dims low, Dims high, bool counted) {
    const graph::PoolAttrs attrs{
        .kernel = {2, 2}, .padding_low = low, .padding_high = high, .count_include_pad = counted, .input = {}};
    return detail::Access::wrap(graph::avg_pool2d(detail::Access::value(ones({1, 1, 2, 2})), attrs));
  };
  EXPECT_TRUE(equals<float>(pooled({0, 0}, {1, 1}, true), {1, 1, 2, 2}, {1, 0.5f, 0.5f, 0.25f}));
  EXPECT_TRUE(equals<float>(pooled({1, 1}, {0, 0}, true), {1, 1, 2, 2}, {0.25f, 0.5f, 0.5f, 1}));
  EXPECT_TRUE(equals<float>(pooled({1, 0}, {0, 1}, true), {1, 1, 2, 2}, {0.5f, 0.25f, 1, 0.5f}));
  EXPECT_TRUE(equals<float>(pooled({0, 0}, {1, 1}, false), {1, 1, 2, 2}, {1, 1, 1, 1}));
}

// --- BR-018: transposed convolution is the gradient of a convolution

TEST(BR018, TransposedConvolutionWithSamePaddingCrops) {
  const std::vector<double> weight{2, 3, 4, 5, 6, 7, 8, 9, 10};
  for (DType dtype : {kF32, kF64}) {
    Tensor x = zeros({1, 1, 2, 2}, dtype);
    x.requires_grad_();
    conv2d(x, tensor_of(weight, {1, 1, 3, 3}, dtype), {}, {.padding = 1})
        .backward(tensor_of({2, 3, 4, 5}, {1, 1, 2, 2}, dtype));
    EXPECT_TRUE(matches(x.grad(), {1, 1, 2, 2}, dtype, {49, 63, 91, 105}));
    Tensor full = zeros({1, 1, 4, 4}, dtype);
    full.requires_grad_();
    conv2d(full, tensor_of(weight, {1, 1, 3, 3}, dtype)).backward(tensor_of({2, 3, 4, 5}, {1, 1, 2, 2}, dtype));
    EXPECT_TRUE(
        matches(full.grad(), {1, 1, 4, 4}, dtype, {4, 12, 17, 12, 18, 49, 63, 41, 36, 91, 105, 65, 32, 76, 85, 50}));
  }
}

// --- BR-020: padding that keeps the size

TEST(BR020, PaddingCountsTheDilatedKernel) {
  for (DType dtype : {kF32, kF64}) {
    const std::vector<double> x{1, 2, 3, 4, 5}, w{1, 1, 1}, want{4, 6, 9, 6, 8};
    const Tensor across = conv2d(tensor_of(x, {1, 1, 1, 5}, dtype), tensor_of(w, {1, 1, 1, 3}, dtype), {},
                                 {.padding = {0, 2}, .dilation = {1, 2}});
    const Tensor down = conv2d(tensor_of(x, {1, 1, 5, 1}, dtype), tensor_of(w, {1, 1, 3, 1}, dtype), {},
                               {.padding = {2, 0}, .dilation = {2, 1}});
    EXPECT_TRUE(matches(across, {1, 1, 1, 5}, dtype, want));
    EXPECT_TRUE(matches(down, {1, 1, 5, 1}, dtype, want));
  }
}

TEST(BR020, UnequalPaddingGivesTheRightSize) {
  const Tensor x = ones({1, 1, 7, 5}), w = ones({1, 1, 3, 3});
  EXPECT_EQ(conv2d(x, w, {}, {.stride = 2, .padding = {1, 1}}).shape(), (Shape{1, 1, 4, 3}));
  const Tensor y = conv2d(x, w, {}, {.stride = 2, .padding = {1, 0}});
  EXPECT_TRUE(equals<float>(y, {1, 1, 4, 2}, {6, 6, 9, 9, 9, 9, 6, 6}));
  const Tensor low_alone = conv2d(x, w, {}, {.stride = 2, .padding = {1, 0}, .padding_high = Pair{0, 0}});
  EXPECT_TRUE(equals<float>(low_alone, {1, 1, 3, 2}, {6, 6, 9, 9, 9, 9}));
}

// --- BR-048: ranks that differ

TEST(BR048, WeightOfAnotherRankIsAnErrorWithItsShape) {
  const std::string message = message_of<ShapeError>([] { conv2d(zeros({1, 1, 5, 5}), zeros({1, 1, 3, 3, 3})); });
  EXPECT_NE(message.find("[1, 1, 3, 3, 3]"), std::string::npos) << message;
  EXPECT_THROW(conv2d(zeros({1, 5, 5}), zeros({1, 1, 3, 3})), ShapeError);
}

}  // namespace
}  // namespace stoker::test
