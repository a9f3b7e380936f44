// Faults that people met in other libraries; ids are those of shared/cases/pitfalls.jsonl.
#include <stoker/ops.h>

#include <cmath>

#include "support/compare.h"

namespace stoker::test {
namespace {

// --- BR-010: large constants beside halves

TEST(BR010, MaskConstantBeyondTheRangeOfHalvesDoesNotMakeNaN) {
  const Tensor x = tensor_of({1, 2, 3}, {3}, kF16), mask = ones({3}, kF16);
  EXPECT_TRUE(matches(x + (1 - mask) * -999999995904.0, {3}, kF16, {1, 2, 3}));
  EXPECT_TRUE(matches(minimum(x, INFINITY), {3}, kF16, {1, 2, 3}));
  EXPECT_TRUE(matches(clamp(x, -1e30, 1e30), {3}, kF16, {1, 2, 3}));
}

TEST(BR010, MaskedFillWithALargeNumberIsInfiniteOnlyWhereMasked) {
  for (DType dtype : {kF16, kBF16, kF32})
    EXPECT_TRUE(
        matches(softmax(masked_fill(zeros({2}, dtype), tensor<bool>({false, true}), -1e30), 0), {2}, dtype, {1, 0}));
}

// --- BR-025: signs of quotients and remainders

TEST(BR025, QuotientsOfIntegersRoundAsTheirNameSays) {
  const std::vector<double> a{8, -8, 7, -7}, b{-3, 3, -2, 2};
  for (DType dtype : {kI64, kI32, kI16, kI8, kF32, kF64, kF16}) {
    const Tensor x = tensor_of(a, {4}, dtype), y = tensor_of(b, {4}, dtype);
    EXPECT_TRUE(matches(div_trunc(x, y), {4}, dtype, {-2, -2, -3, -3})) << name_of(dtype);
    EXPECT_TRUE(matches(floor_divide(x, y), {4}, dtype, {-3, -3, -4, -4})) << name_of(dtype);
  }
}

TEST(BR025, RemaindersTakeTheSignOfTheDivisorOrOfTheDividend) {
  const std::vector<double> a{-4, 7, 5, 4, -7, 8}, b{2, -3, 8, -2, 3, 5};
  for (DType dtype : {kI64, kI32, kI16, kI8, kF32, kF64, kF16}) {
    const Tensor x = tensor_of(a, {6}, dtype), y = tensor_of(b, {6}, dtype);
    EXPECT_TRUE(matches(remainder(x, y), {6}, dtype, {0, -2, 5, 0, 2, 3})) << name_of(dtype);
    EXPECT_TRUE(matches(fmod(x, y), {6}, dtype, {0, 1, 5, 0, -1, 3})) << name_of(dtype);
  }
}

// A number of the host, a constant of the graph and a tensor give the same.
TEST(BR025, FoldedAndComputedDivisionsAgree) {
  const std::vector<int64_t> a{8, -8, 7, -7, 1, -1, 0};
  for (int64_t b : {-3, -2, -1, 1, 2, 3, 7}) {
    const Tensor x = tensor(a), y = tensor(std::vector<int64_t>(a.size(), b)), constant = full({7}, b, kI64);
    EXPECT_TRUE(identical(floor_divide(x, b), floor_divide(x, y))) << b;
    EXPECT_TRUE(identical(floor_divide(x, constant), floor_divide(x, y))) << b;
    EXPECT_TRUE(identical(remainder(x, b), remainder(x, y))) << b;
    EXPECT_TRUE(identical(fmod(x, b), fmod(x, y))) << b;
    EXPECT_TRUE(identical(remainder(x, constant), remainder(x, y))) << b;
  }
}

TEST(BR025, LargeIntegersDivideExactly) {
  const int64_t large = (int64_t(1) << 62) + 1;
  EXPECT_EQ(floor_divide(tensor<int64_t>({-large}), tensor<int64_t>({2})).item<int64_t>(), -(int64_t(1) << 61) - 1);
  EXPECT_EQ(remainder(tensor<int64_t>({large}), tensor<int64_t>({3})).item<int64_t>(), large % 3);
  EXPECT_EQ(div_trunc(tensor<int32_t>({2147483647}), tensor<int32_t>({-1})).item<int32_t>(), -2147483647);
  EXPECT_EQ(floor_divide(tensor<int32_t>({16777217}), tensor<int32_t>({1})).item<int32_t>(), 16777217);
}

// The processor traps on both of these.
TEST(BR025, DivisionByZeroAndOfTheSmallestByMinusOneDoNotTrap) {
  const Tensor smallest = tensor<int32_t>({std::numeric_limits<int32_t>::min()});
  for (auto f : {static_cast<Tensor (*)(Arg, Arg)>(floor_divide), div_trunc,
                 static_cast<Tensor (*)(Arg, Arg)>(remainder), static_cast<Tensor (*)(Arg, Arg)>(fmod)}) {
    EXPECT_EQ(f(tensor<int64_t>({5}), tensor<int64_t>({0})).item<int64_t>(), 0);
    f(smallest, tensor<int32_t>({-1})).item<int32_t>();
    f(tensor<int64_t>({std::numeric_limits<int64_t>::min()}), tensor<int64_t>({-1})).item<int64_t>();
  }
}

// --- BR-027: integers that grow

TEST(BR027, SumOfNarrowIntegersIsWide) {
  EXPECT_TRUE(equals<int64_t>(sum(ones({5000}, kU8)), {}, {5000}));
  EXPECT_TRUE(equals<int64_t>(sum(ones({5000, 2}, kI8), {0}), {2}, {5000, 5000}));
  EXPECT_TRUE(equals<int64_t>(sum(ones({300}, kBool)), {}, {300}));
  EXPECT_TRUE(equals<int64_t>(sum(tensor<int32_t>({2147483647, 2147483647})), {}, {4294967294}));
  EXPECT_TRUE(equals<int64_t>(prod(tensor<int8_t>({100, 100, 100})), {}, {1000000}));
  EXPECT_TRUE(equals<int64_t>(cumsum(tensor<int8_t>({100, 100, 100}), 0), {3}, {100, 200, 300}));
}

TEST(BR027, MeanOfIntegersIsRefusedAndOfTheirFloatsExact) {
  const Tensor x = tensor<int32_t>({2147483647, 2147483647});
  EXPECT_THROW(mean(x), DTypeError);
  EXPECT_EQ(mean(x.to(kF64)).item<double>(), 2147483647);
}

TEST(BR027, ProductOfNarrowMatricesIsWide) {
  const Tensor a = tensor<int8_t>({-44, -20, -126, 6}, Shape{2, 2}),
               b = tensor<int8_t>({24, -75, 127, -101}, Shape{2, 2});
  EXPECT_TRUE(equals<int32_t>(matmul(a, b), {2, 2}, {-3596, 5320, -2262, 8844}));
  EXPECT_TRUE(equals<int32_t>(matmul(full({2, 300}, 255, kU8), full({300, 2}, 255, kU8)), {2, 2},
                              std::vector<int32_t>(4, 19507500)));
  EXPECT_TRUE(equals<int32_t>(matmul(full({1, 4}, 255, kU8), full({4, 1}, -128, kI8)), {1, 1}, {-130560}));
  const int64_t large = int64_t(1) << 40;
  EXPECT_TRUE(equals<int64_t>(matmul(full({1, 2}, large + 1, kI64), full({2, 1}, 3, kI64)), {1, 1}, {6 * (large + 1)}));
}

// --- BR-036: a bound that is not there

TEST(BR036, ClampWithOneBoundLeavesTheOtherSideAlone) {
  for (DType dtype : {kF32, kF64, kF16, kI64, kI8}) {
    const Tensor x = tensor_of({-7, 5, 8}, {3}, dtype);
    EXPECT_TRUE(matches(clamp(x, {}, 6), {3}, dtype, {-7, 5, 6}));
    EXPECT_TRUE(matches(clamp(x, -2, {}), {3}, dtype, {-2, 5, 8}));
  }
  // As in PyTorch: the upper bound wins, and a floating bound makes integers floats.
  EXPECT_TRUE(equals<float>(clamp(tensor<float>({0, 5, 9}), 6, 4), {3}, {4, 4, 4}));
  EXPECT_TRUE(equals<float>(clamp(tensor<int64_t>({-7, 5, 8}), {}, 6.5), {3}, {-7, 5, 6.5f}));
}

}  // namespace
}  // namespace stoker::test
