// Faults that people met in other libraries; ids are those of shared/cases/pitfalls.jsonl.
#include <stoker/ops.h>

#include <limits>

#include "support/compare.h"

namespace stoker::test {
namespace {

// --- BR-030: broadcasting against nothing

TEST(BR030, ZeroExtentsBroadcast) {
  for (DType dtype : {kF32, kF64, kF16, kI64, kU8}) {
    EXPECT_TRUE(matches(zeros({0, 2}, dtype) + ones({1, 2}, dtype), {0, 2}, dtype, {}));
    EXPECT_TRUE(matches(zeros({1, 0, 3}, dtype) - ones({3}, dtype), {1, 0, 3}, dtype, {}));
    EXPECT_TRUE(matches(zeros({0, 1}, dtype) * ones({1, 0}, dtype), {0, 0}, dtype, {}));
    EXPECT_TRUE(matches(zeros({0}, dtype) + 1, {0}, dtype, {}));
    EXPECT_TRUE(matches(matmul(zeros({0, 2, 3}, dtype), ones({1, 3, 4}, dtype)).to(dtype), {0, 2, 4}, dtype, {}));
    EXPECT_THROW(add(zeros({0, 2}, dtype), ones({2, 2}, dtype)), ShapeError);
  }
}

TEST(BR030, GradientsOfTheSideThatGrewAreZeros) {
  Tensor none = zeros({0, 2}), one = ones({1, 2}), weight = ones({1, 3, 4}), batch = ones({0, 2, 3});
  for (Tensor* t : {&none, &one, &weight, &batch}) t->requires_grad_();
  (none + one * 3).backward(zeros({0, 2}));
  EXPECT_TRUE(matches(none.grad(), {0, 2}, kF32, {}));
  EXPECT_TRUE(matches(one.grad(), {1, 2}, kF32, {0, 0}));
  matmul(batch, weight).backward(zeros({0, 2, 4}));
  EXPECT_TRUE(matches(batch.grad(), {0, 2, 3}, kF32, {}));
  EXPECT_TRUE(matches(weight.grad(), {1, 3, 4}, kF32, std::vector<double>(12)));
}

TEST(BR030, EveryKindOfOperationTakesNothing) {
  const Tensor none = zeros({0, 3, 4, 4}), lines = zeros({0, 4});
  EXPECT_EQ(conv2d(none, zeros({2, 3, 3, 3})).shape(), (Shape{0, 2, 2, 2}));
  EXPECT_EQ(max_pool2d(none, 2).to_vector<float>().size(), 0u);
  EXPECT_EQ(avg_pool2d(none, 2).to_vector<float>().size(), 0u);
  EXPECT_EQ(layer_norm(lines, {4}).to_vector<float>().size(), 0u);
  EXPECT_EQ(softmax(lines, 1).to_vector<float>().size(), 0u);
  EXPECT_EQ(cat({lines, lines}).shape(), (Shape{0, 4}));
  EXPECT_EQ(index_select(ones({3, 2}), 0, zeros({0}, kI64)).to_vector<float>().size(), 0u);
  EXPECT_EQ(rand({0}).to_vector<float>().size(), 0u);
  EXPECT_EQ(sort(lines, 0).first.to_vector<float>().size(), 0u);
}

// --- BR-032: negative steps

TEST(BR032, SlicesWithNegativeStepsArePythons) {
  using Bound = std::optional<int64_t>;
  struct Example {
    Bound start, stop;
    int64_t step;
    std::vector<int64_t> want;
  };
  const int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t> reversed{9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  const Example examples[] = {
      {9, 0, -1, {9, 8, 7, 6, 5, 4, 3, 2, 1}},
      {9, 0, -3, {9, 6, 3}},
      {0, 5, -1, {}},
      {-1, least, -1, reversed},
      {-2, {}, 1, {8, 9}},
      {100, {}, -1, reversed},
      {{}, {}, -1, reversed},
      {-100, {}, -1, {}},
      {2, -100, -1, {2, 1, 0}},
      {{}, 7, -1, {9, 8}},
      {3, most, -1, {}},
      {8, 7, -1, {8}},
      {{}, {}, -100, {9}},
      {5, 5, -1, {}},
      {{}, {}, least, {9}},
  };
  for (DType dtype : {kI64, kF32, kF16, kU8})
    for (const Example& e : examples) {
      const std::vector<double> want(e.want.begin(), e.want.end());
      const int64_t n = int64_t(want.size());
      const Tensor x = arange(10).to(dtype), column = x.reshape({10, 1});
      EXPECT_TRUE(matches(slice(x, 0, e.start, e.stop, e.step), {n}, dtype, want));
      EXPECT_TRUE(matches(slice(column, 0, e.start, e.stop, e.step), {n, 1}, dtype, want));
      EXPECT_TRUE(matches(x.index({Slice{e.start, e.stop, e.step}}), {n}, dtype, want));
    }
}

TEST(BR032, StepsAlongBothAxesCombine) {
  const Tensor x = arange(6).reshape({2, 3});
  EXPECT_TRUE(equals<int64_t>(x.index({Slice{{}, {}, -1}, Slice{{}, {}, -2}}), {2, 2}, {5, 3, 2, 0}));
  EXPECT_TRUE(equals<int64_t>(slice(slice(x, 1, {}, {}, -1), 1, {}, {}, -1), {2, 3}, {0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(equals<int64_t>(flip(x, {1}).reshape({-1}), {6}, {2, 1, 0, 5, 4, 3}));
}

TEST(BR032, GradientsOfReversedSlicesGoBack) {
  Tensor x = zeros({6});
  x.requires_grad_();
  slice(x, 0, 4, 0, -2).backward(tensor<float>({1, 2}));
  EXPECT_TRUE(equals<float>(x.grad(), {6}, {0, 0, 2, 0, 1, 0}));
}

// --- BR-033: reshapes of nothing and with an unknown extent

TEST(BR033, ZerosAreExtentsAndOneExtentIsWorkedOut) {
  EXPECT_EQ(reshape(zeros({0, 8, 2}), {0, 0, 4}).shape(), (Shape{0, 0, 4}));
  EXPECT_EQ(reshape(zeros({0, 8, 2}), {4, 2, 0}).shape(), (Shape{4, 2, 0}));
  EXPECT_EQ(reshape(zeros({0, 8, 2}), {4, -1}).shape(), (Shape{4, 0}));
  EXPECT_EQ(reshape(zeros({1, 32, 5, 5}), {-1, 2, 4, 4, 5, 5}).shape(), (Shape{1, 2, 4, 4, 5, 5}));
  EXPECT_EQ(reshape(zeros({3, 0}), {0}).shape(), (Shape{0}));
  EXPECT_EQ(reshape(zeros({3, 0}), {0}).to_vector<float>().size(), 0u);
}

TEST(BR033, UnknownExtentBesideAZeroIsAnError) {
  EXPECT_THROW(reshape(zeros({1, 0}), {-1, 0}), ShapeError);
  EXPECT_THROW(reshape(zeros({2, 3}), {-1, 0}), ShapeError);
  EXPECT_THROW(reshape(zeros({2, 3}), {0, 6}), ShapeError);
}

TEST(BR033, ChainsOfReshapesKeepTheOrder) {
  const Tensor x = arange(24).reshape({2, 3, 4});
  EXPECT_TRUE(identical(x.reshape({4, 6}).reshape({-1}).reshape({24}), arange(24)));
  EXPECT_TRUE(equals<int64_t>(select(x.transpose(0, 2).reshape({4, 6}), 0, 1), {6}, {1, 13, 5, 17, 9, 21}));
}

}  // namespace
}  // namespace stoker::test
