// Faults that people met in other libraries; ids are those of shared/cases/pitfalls.jsonl.
#include <stoker/ops.h>

#include <cmath>

#include "support/compare.h"

namespace stoker::test {
namespace {

Tensor some_scores(DType dtype) {
  std::vector<double> values;
  for (int i = 0; i < 50; ++i) values.push_back(std::round(64 * std::sin(i * 1.7)) / 32);
  return tensor_of(values, {5, 10}, dtype);
}

// --- BR-001: every target is ignored

TEST(BR001, SumAndNoneOfIgnoredTargetsAreZeroAndMeanIsNaN) {
  for (DType dtype : {kF32, kF64, kF16, kBF16}) {
    const Tensor target = full({5}, -100, kI64);
    for (auto loss : {cross_entropy, nll_loss}) {
      const Tensor none = loss(some_scores(dtype), target, {.reduction = Reduction::None});
      EXPECT_TRUE(matches(none, {5}, dtype, std::vector<double>(5)));
      EXPECT_EQ(loss(some_scores(dtype), target, {.reduction = Reduction::Sum}).item<double>(), 0);
      EXPECT_TRUE(std::isnan(loss(some_scores(dtype), target, {}).item<double>()));
    }
  }
}

TEST(BR001, GradientOfIgnoredTargetsIsExactlyZero) {
  for (double smoothing : {0.0, 0.1}) {
    Tensor x = some_scores(kF32);
    x.requires_grad_();
    cross_entropy(x, full({5}, -100, kI64), {.reduction = Reduction::Sum, .label_smoothing = smoothing}).backward();
    EXPECT_TRUE(equals<float>(x.grad(), {5, 10}, std::vector<float>(50))) << smoothing;
  }
}

TEST(BR001, OneIgnoredImageLeavesTheOthersAlone) {
  Tensor x = tensor<float>({1, 2, 3, 4, 5, 6, 0, 1, 0, 1, 0, 1}, Shape{2, 3, 2});
  x.requires_grad_();
  const Tensor loss = cross_entropy(x, tensor<int64_t>({-100, -100, 0, 2}, Shape{2, 2}));
  EXPECT_TRUE(std::isfinite(loss.item<float>()));
  loss.backward();
  const std::vector<float> g = x.grad().to_vector<float>();
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(g[i], 0) << i;
  for (size_t i = 6; i < 12; ++i) EXPECT_NE(g[i], 0) << i;
}

// --- BR-002: class indices out of range

TEST(BR002, ClassOutOfRangeIsAnErrorThatNamesItAndTheRange) {
  const Tensor x = zeros({3, 5});
  for (int64_t wrong : {-4, -100, 5, 255})
    for (auto loss : {cross_entropy, nll_loss})
      for (Reduction reduction : {Reduction::None, Reduction::Mean, Reduction::Sum}) {
        const std::string message = message_of<ValueError>([&] {
          loss(x, tensor<int64_t>({1, 3, wrong}), {.ignore_index = -1, .reduction = reduction}).to_vector<float>();
        });
        EXPECT_NE(message.find(std::to_string(wrong)), std::string::npos) << wrong << ": " << message;
        EXPECT_NE(message.find("5"), std::string::npos) << wrong << ": " << message;
      }
}

TEST(BR002, GradientOfAClassOutOfRangeIsNeverWritten) {
  Tensor x = zeros({3, 5});
  x.requires_grad_();
  EXPECT_THROW(
      {
        cross_entropy(x, tensor<int64_t>({1, 3, 7})).backward();
        x.grad().to_vector<float>();
      },
      ValueError);
}

TEST(BR002, IgnoredIndexIsNeverRangeChecked) {
  Tensor x = tensor<float>({1, 2, 3, 3, 2, 1, 0, 0, 0, 1, 1, 1, 2, 1, 0, 5, 5, 5}, Shape{6, 3});
  x.requires_grad_();
  const Tensor target = tensor<int64_t>({0, 1, 255, 0, 1, 2});
  const Tensor loss = cross_entropy(x, target, {.ignore_index = 255, .reduction = Reduction::None});
  EXPECT_EQ(loss.to_vector<float>()[2], 0);
  sum(loss).backward();
  const std::vector<float> g = x.grad().to_vector<float>();
  for (size_t i = 0; i < 18; ++i) EXPECT_EQ(g[i] == 0, i / 3 == 2) << i;
}

TEST(BR002, IndexOfAnotherIntegerTypeMeansTheSame) {
  const Tensor x = some_scores(kF32), target = tensor<int64_t>({0, 9, 255, 3, 1});
  const Tensor want = cross_entropy(x, target, {.ignore_index = 255});
  for (DType dtype : {kI32, kI16, kU8})
    EXPECT_TRUE(identical(cross_entropy(x, target.to(dtype), {.ignore_index = 255}), want));
}

// --- BR-055: a mean of means is not the mean

TEST(BR055, SumsDividedByTheWholeCountAccumulateToTheWholeBatch) {
  const std::vector<float> errors{2, 4, 1, 1, 1, 1, 1, 1};
  Tensor w = ones({8}), whole = ones({8});
  w.requires_grad_();
  whole.requires_grad_();
  double total = 0;
  for (auto [start, count] : {std::pair<int64_t, int64_t>{0, 2}, {2, 6}, {8, 0}}) {
    const Tensor loss = sum(narrow(w * tensor(errors), 0, start, count)) / 8;
    loss.backward();
    total += loss.item<float>();
  }
  EXPECT_EQ(total, 1.5);
  mean(whole * tensor(errors)).backward();
  EXPECT_TRUE(identical(w.grad(), whole.grad()));
}

}  // namespace
}  // namespace stoker::test
