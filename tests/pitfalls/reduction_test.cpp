// Faults that people met in other libraries; ids are those of shared/cases/pitfalls.jsonl.
#include <stoker/ops.h>

#include <cmath>

#include "graph/build.h"
#include "support/compare.h"
#include "tensor/access.h"

namespace stoker::test {
namespace {

const double kInf = INFINITY, kNaN = NAN;

// --- BR-004: deviation of one element and of constants

TEST(BR004, DeviationOfOneElementIsNaNWithCorrectionAndZeroWithout) {
  for (DType dtype : {kF32, kF64, kF16, kBF16}) {
    const Tensor x = tensor_of({4}, {1}, dtype);
    EXPECT_TRUE(matches(std(x), {}, dtype, {kNaN}));
    EXPECT_TRUE(matches(var(x), {}, dtype, {kNaN}));
    EXPECT_TRUE(matches(std(x, {}, 0), {}, dtype, {0}));
    EXPECT_TRUE(matches(var(expand(x, {3, 1}), {1}, 1), {3}, dtype, {kNaN, kNaN, kNaN}));
    EXPECT_TRUE(matches(std(tensor_of({1, 2}, {2}, dtype), {0}, 3), {}, dtype, {kNaN}));
  }
}

TEST(BR004, TooFewElementsForTheCorrectionGiveAWarning) {
  std::vector<std::string> warnings;
  set_warning_handler([&](const std::string& message) { warnings.push_back(message); });
  std(tensor<float>({4}));
  std(tensor<float>({4}), {}, 0);
  set_warning_handler({});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("correction"), std::string::npos) << warnings[0];
}

TEST(BR004, GradientOfTheDeviationOfConstantsIsZero) {
  for (DType dtype : {kF32, kF64, kF16, kBF16})
    for (int64_t correction : {0, 1}) {
      Tensor x = zeros({16}, dtype), columns = full({4, 3}, 2.5, dtype);
      x.requires_grad_();
      columns.requires_grad_();
      const Tensor s = std(x, {}, correction);
      EXPECT_EQ(s.item<double>(), 0);
      s.backward();
      std(columns, {0}, correction).backward(ones({3}, dtype));
      EXPECT_TRUE(matches(x.grad(), {16}, dtype, std::vector<double>(16)));
      EXPECT_TRUE(matches(columns.grad(), {4, 3}, dtype, std::vector<double>(12)));
    }
}

TEST(BR004, GradientOfTheNormOfZerosIsZero) {
  Tensor x = zeros({3, 2});
  x.requires_grad_();
  norm(x, {1}).backward(ones({3}));
  EXPECT_TRUE(equals<float>(x.grad(), {3, 2}, std::vector<float>(6)));
}

// --- BR-007: halves accumulate in f32

TEST(BR007, SumOfHalvesDoesNotOverflowOnTheWay) {
  const std::vector<double> x{32000, 32000, 32000, 32000, -32000, -32000, -32000, -32000};
  EXPECT_TRUE(matches(sum(tensor_of(x, {8}, kF16)), {}, kF16, {0}));
  EXPECT_TRUE(matches(sum(tensor_of(x, {8}, kF16), {0}), {}, kF16, {0}));
  EXPECT_TRUE(matches(sum(tensor_of(x, {8, 1}, kF16), {0}), {1}, kF16, {0}));
  EXPECT_TRUE(matches(sum(tensor_of(x, {1, 8}, kF16), {1}), {1}, kF16, {0}));
  EXPECT_TRUE(matches(sum(tensor_of(x, {2, 2, 2}, kF16), {0, 2}), {2}, kF16, {0, 0}));
  EXPECT_TRUE(matches(mean(tensor_of(x, {8}, kF16)), {}, kF16, {0}));
  EXPECT_TRUE(matches(mean(full({9}, 65504, kF16)), {}, kF16, {65504}));
  EXPECT_TRUE(matches(select(cumsum(tensor_of(x, {8}, kF16), 0), 0, -1), {}, kF16, {0}));
  EXPECT_TRUE(matches(matmul(tensor_of(x, {8}, kF16), ones({8}, kF16)), {}, kF16, {0}));
}

TEST(BR007, SumOfManySmallHalvesIsNotLost) {
  for (DType dtype : {kF16, kBF16}) {
    EXPECT_EQ(sum(ones({8192}, dtype)).item<double>(), 8192);
    EXPECT_EQ(mean(ones({100000}, dtype)).item<double>(), 1);
    EXPECT_EQ(norm(ones({65536}, dtype)).item<double>(), 256);
    EXPECT_EQ(var(full({3000}, 256, dtype)).item<double>(), 0);
  }
}

// --- BR-012: the first of equals

TEST(BR012, IndexOfTheExtremeIsTheFirstOfEqualsAtAnyLength) {
  for (int64_t n : {1, 2, 7, 8, 15, 16, 17, 31, 33, 64, 100, 1000, 4097, 100000})
    for (DType dtype : {kI64, kF32, kF16, kU8, kF64}) {
      const Tensor equal = full({n}, 3, dtype);
      EXPECT_EQ(argmax(equal).item<int64_t>(), 0) << n << name_of(dtype);
      EXPECT_EQ(argmin(equal, 0).item<int64_t>(), 0) << n << name_of(dtype);
      EXPECT_EQ(max(equal, 0).second.item<int64_t>(), 0) << n << name_of(dtype);
    }
}

TEST(BR012, IndexOfTheExtremeIsTheFirstAlongEitherAxis) {
  const std::vector<double> values{2, 3, 0, 3, 3, 1, 3, 1, 3, 1};
  for (DType dtype : {kI64, kI8, kF32, kF16, kBF16, kF64}) {
    const Tensor x = tensor_of(values, {2, 5}, dtype);
    EXPECT_TRUE(equals<int64_t>(argmax(x, 1), {2}, {1, 1}));
    EXPECT_TRUE(equals<int64_t>(argmax(x.t(), 0), {2}, {1, 1}));
    EXPECT_TRUE(equals<int64_t>(argmax(x, 0), {5}, {0, 0, 1, 0, 0}));
    EXPECT_TRUE(equals<int64_t>(argmin(x, 1), {2}, {2, 0}));
    EXPECT_EQ(argmax(x).item<int64_t>(), 1);
  }
}

TEST(BR012, IndexAlongAnAxisOfLengthOneIsZero) {
  for (Shape shape : {Shape{40, 900, 1}, Shape{40, 1, 900}, Shape{1, 40, 900}})
    for (int axis = 0; axis < 3; ++axis)
      if (shape[axis] == 1) {
        EXPECT_EQ(sum(argmax(zeros(shape), axis)).item<int64_t>(), 0);
        EXPECT_EQ(sum(argmin(zeros(shape), axis)).item<int64_t>(), 0);
      }
}

// --- BR-013: order of equals and of NaN

TEST(BR013, TopkTakesTheLowerIndexOfEquals) {
  EXPECT_TRUE(equals<int64_t>(topk(tensor<float>({0, 1, 2, 2}), 1).second, {1}, {2}));
  const std::vector<double> values{1, 2, 5, 4, 5};
  const std::vector<int64_t> order{2, 4, 3, 1, 0};
  for (DType dtype : {kF32, kF64, kF16, kI64, kI32, kU8})
    for (int64_t k = 1; k <= 5; ++k) {
      const std::vector<int64_t> first(order.begin(), order.begin() + k);
      EXPECT_TRUE(equals<int64_t>(topk(tensor_of(values, {5}, dtype), k).second, {k}, first));
      EXPECT_TRUE(equals<int64_t>(topk(tensor_of(values, {5, 1}, dtype), k, 0).second, {k, 1}, first));
    }
  EXPECT_TRUE(equals<int64_t>(topk(zeros({5000}), 3).second, {3}, {0, 1, 2}));
  EXPECT_TRUE(equals<int64_t>(topk(zeros({5000}), 3, 0, false).second, {3}, {0, 1, 2}));
}

TEST(BR013, NaNCountsAsTheGreatest) {
  for (DType dtype : {kF32, kF64, kF16, kBF16}) {
    const Tensor x = tensor_of({1, kNaN, 3, 2}, {4}, dtype);
    const auto [largest, largest_at] = topk(x, 2);
    EXPECT_TRUE(matches(largest, {2}, dtype, {kNaN, 3}));
    EXPECT_TRUE(equals<int64_t>(largest_at, {2}, {1, 2}));
    const auto [smallest, smallest_at] = topk(x, 2, -1, false);
    EXPECT_TRUE(matches(smallest, {2}, dtype, {1, 2}));
    EXPECT_TRUE(equals<int64_t>(smallest_at, {2}, {0, 3}));
    EXPECT_TRUE(matches(sort(x).first, {4}, dtype, {1, 2, 3, kNaN}));
    EXPECT_TRUE(matches(sort(x, 0, true).first, {4}, dtype, {kNaN, 3, 2, 1}));
  }
}

TEST(BR013, UnsignedAndSmallestIntegersAreNotNegated) {
  const auto [value, at] = topk(tensor<uint8_t>({0, 255, 1}), 1);
  EXPECT_TRUE(equals<uint8_t>(value, {1}, {255}));
  EXPECT_TRUE(equals<int64_t>(at, {1}, {1}));
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(topk(tensor<int64_t>({5, least, 7}), 1, 0, false).second.item<int64_t>(), 1);
  EXPECT_TRUE(equals<int64_t>(argsort(tensor<int64_t>({5, least, 7}), 0, true), {3}, {2, 0, 1}));
  EXPECT_TRUE(equals<int64_t>(argsort(tensor<int8_t>({5, -128, 127}), 0, true), {3}, {2, 0, 1}));
}

// --- BR-024: running sums

std::vector<double> running(const std::vector<double>& x, const Shape& shape, DType dtype, graph::ScanAttrs attrs) {
  const graph::Value v = detail::Access::value(tensor_of(x, shape, dtype));
  return detail::Access::wrap(graph::cumsum(v, attrs)).to_vector<double>();
}

TEST(BR024, RunningSumsKnowExclusiveAndReverse) {
  using Numbers = std::vector<double>;
  for (DType dtype : {kF32, kF64, kF16, kI64, kI8}) {
    for (const Shape& shape : {Shape{3}, Shape{3, 1}}) {
      EXPECT_EQ(running({1, 2, 3}, shape, dtype, {}), (Numbers{1, 3, 6}));
      EXPECT_EQ(running({1, 2, 3}, shape, dtype, {.exclusive = true}), (Numbers{0, 1, 3}));
      EXPECT_EQ(running({1, 2, 3}, shape, dtype, {.reverse = true}), (Numbers{6, 5, 3}));
      EXPECT_EQ(running({1, 2, 3}, shape, dtype, {.exclusive = true, .reverse = true}), (Numbers{5, 3, 0}));
    }
    EXPECT_EQ(running({1, 2}, {1, 2}, dtype, {.axis = 0, .exclusive = true, .reverse = true}), (Numbers{0, 0}));
    EXPECT_EQ(running({1, 2}, {1, 2}, dtype, {.axis = 1, .reverse = true}), (Numbers{3, 2}));
  }
  EXPECT_TRUE(equals<int64_t>(cumsum(tensor<uint8_t>({200, 100}), 0), {2}, {200, 300}));
}

// --- BR-031: reductions of nothing

TEST(BR031, ReductionsOfNothingGiveTheirIdentityOrAnError) {
  for (DType dtype : {kF32, kF64, kF16}) {
    const Tensor nothing = zeros({0}, dtype), inner = zeros({2, 0, 4}, dtype);
    EXPECT_TRUE(matches(mean(nothing), {}, dtype, {kNaN}));
    EXPECT_TRUE(matches(mean(inner, {-1}), {2, 0}, dtype, {}));
    EXPECT_TRUE(matches(mean(inner, {1}), {2, 4}, dtype, std::vector<double>(8, kNaN)));
    EXPECT_TRUE(matches(sum(nothing), {}, dtype, {0}));
    EXPECT_TRUE(matches(sum(inner, {1}), {2, 4}, dtype, std::vector<double>(8, 0)));
    EXPECT_TRUE(matches(prod(nothing), {}, dtype, {1}));
    EXPECT_TRUE(matches(prod(inner, {1}), {2, 4}, dtype, std::vector<double>(8, 1)));
    EXPECT_TRUE(matches(prod(inner, {2}), {2, 0}, dtype, {}));
    EXPECT_TRUE(matches(amax(inner, {2}), {2, 0}, dtype, {}));
    EXPECT_TRUE(matches(logsumexp(inner, {1}), {2, 4}, dtype, std::vector<double>(8, -kInf)));
    EXPECT_TRUE(matches(norm(inner, {1}), {2, 4}, dtype, std::vector<double>(8, 0)));
    EXPECT_TRUE(matches(var(inner, {1}, 0), {2, 4}, dtype, std::vector<double>(8, kNaN)));
    EXPECT_THROW(amax(inner, {1}), ShapeError);
    EXPECT_THROW(amin(nothing), ShapeError);
    EXPECT_THROW(argmax(nothing), ShapeError);
    EXPECT_THROW(max(inner, 1), ShapeError);
    EXPECT_TRUE(matches(softmax(inner, 1), {2, 0, 4}, dtype, {}));
  }
  EXPECT_TRUE(equals<int64_t>(sum(zeros({0}, kU8)), {}, {0}));
  EXPECT_TRUE(equals<bool>(all(zeros({0}, kBool)), {}, {true}));
}

TEST(BR031, GradientsOfReductionsOfNothingAreNothing) {
  Tensor x = zeros({2, 0, 4});
  x.requires_grad_();
  (mean(x, {1}) + sum(x, {1}) + prod(x, {1})).backward(ones({2, 4}));
  EXPECT_TRUE(matches(x.grad(), {2, 0, 4}, kF32, {}));
}

}  // namespace
}  // namespace stoker::test
