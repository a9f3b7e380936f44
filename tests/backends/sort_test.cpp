// sort, topk: stable, NaN the greatest, indices with the values.
#include <cmath>
#include <numeric>

#include "backends/harness.h"

namespace stoker::backends::test {
namespace {

using graph::SortAttrs;
using graph::TopkAttrs;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

std::vector<Array> sort(const Array& x, int axis, bool descending) {
  return run("sort", SortAttrs{axis, descending}, {x}, {{x.dtype, x.shape}, {kI64, x.shape}});
}
std::vector<Array> topk(const Array& x, int64_t k, int axis, bool largest) {
  Shape shape = x.shape;
  shape[axis] = k;
  return run("topk", TopkAttrs{k, axis, largest}, {x}, {{x.dtype, shape}, {kI64, shape}});
}

void expect_sorted(const std::vector<Array>& actual, const std::vector<double>& values,
                   const std::vector<double>& indices) {
  expect_close(actual[0], values);
  expect_close(actual[1], indices);
}

TEST(Sort, EqualsKeepTheirOrderBothWays) {
  const Array x = array(kI32, {6}, {2, 1, 2, 3, 1, 2});
  expect_sorted(sort(x, 0, false), {1, 1, 2, 2, 2, 3}, {1, 4, 0, 2, 5, 3});
  expect_sorted(sort(x, 0, true), {3, 2, 2, 2, 1, 1}, {3, 0, 2, 5, 1, 4});
}

TEST(Sort, NaNCountsAsTheGreatest) {
  for (DType d : {kF16, kBF16, kF32, kF64}) {
    const Array x = array(d, {6}, {kNan, kInf, -1, -kInf, kNan, 0});
    expect_sorted(sort(x, 0, false), {-kInf, -1, 0, kInf, kNan, kNan}, {3, 2, 5, 1, 0, 4});
    expect_sorted(sort(x, 0, true), {kNan, kNan, kInf, 0, -1, -kInf}, {0, 4, 1, 5, 2, 3});
  }
}

TEST(Sort, ZerosOfBothSignsAreEqualAndKeepTheirSigns) {
  const std::vector<Array> y = sort(array(kF32, {4}, {0.0, -0.0, 0.0, -0.0}), 0, false);
  expect_close(y[1], {0, 1, 2, 3});
  EXPECT_TRUE(std::signbit(y[0].get(1)));
  EXPECT_FALSE(std::signbit(y[0].get(0)));
}

TEST(Sort, OrdersTheExtremesOfEachInteger) {
  expect_sorted(sort(array(kU8, {3}, {255, 0, 128}), 0, false), {0, 128, 255}, {1, 2, 0});
  expect_sorted(sort(array(kI8, {3}, {127, -128, 0}), 0, false), {-128, 0, 127}, {1, 2, 0});
  expect_sorted(sort(array(kI16, {3}, {32767, -32768, 0}), 0, true), {32767, 0, -32768}, {0, 2, 1});
  expect_sorted(sort(array(kI32, {3}, {2147483647, -2147483648.0, 0}), 0, false), {-2147483648.0, 0, 2147483647},
                {1, 2, 0});
  expect_sorted(sort(array(kI64, {3}, {0x1p62, -0x1p63, 0}), 0, false), {-0x1p63, 0, 0x1p62}, {1, 2, 0});
  expect_sorted(sort(array(kBool, {3}, {1, 0, 1}), 0, false), {0, 1, 1}, {1, 0, 2});
}

class SortLines : public testing::TestWithParam<std::pair<Shape, int>> {};
TEST_P(SortLines, AgreesWithAStableSortOfEachLine) {
  const auto [shape, axis] = GetParam();
  const Dims strides = contiguous_strides(shape);
  for (DType d : {kF32, kF64, kI16}) {
    const Array x = pattern(d, shape, 17, is_floating(d) ? 1 : 100);
    std::vector<double> values(size_t(x.count())), indices(values.size());
    for (int64_t i = 0; i < x.count(); ++i) {
      if (i / strides[axis] % shape[axis] != 0) continue;
      std::vector<int64_t> order;
      order.resize(size_t(shape[axis]));
      std::iota(order.begin(), order.end(), 0);
      const auto value = [&, stride = strides[axis]](int64_t k) { return x.get(i + k * stride); };
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return value(a) < value(b); });
      for (size_t k = 0; k < order.size(); ++k) {
        values[size_t(i) + k * size_t(strides[axis])] = value(order[k]);
        indices[size_t(i) + k * size_t(strides[axis])] = double(order[k]);
      }
    }
    expect_sorted(sort(x, axis, false), values, indices);
  }
}
INSTANTIATE_TEST_SUITE_P(Shapes, SortLines,
                         testing::Values(std::pair{Shape{50, 300}, 1}, std::pair{Shape{50, 300}, 0},
                                         std::pair{Shape{4, 100, 30}, 1}, std::pair{Shape{20000}, 0},
                                         std::pair{Shape{2, 9001}, 1}, std::pair{Shape{5, 1}, 1}));

TEST(Topk, GivesTheFirstOfAStableSortInOrder) {
  const Array x = array(kF32, {2, 5}, {1, 5, 3, 5, 2, -1, kNan, 0, -1, 7});
  expect_sorted(topk(x, 3, 1, true), {5, 5, 3, kNan, 7, 0}, {1, 3, 2, 1, 4, 2});
  expect_sorted(topk(x, 2, 1, false), {1, 2, -1, -1}, {0, 4, 0, 3});
  expect_sorted(topk(x, 1, 0, true), {1, kNan, 3, 5, 7}, {0, 1, 0, 0, 1});
}

TEST(Topk, OfALongLineIsTheStartOfItsSort) {
  for (DType d : {kF32, kF64}) {
    const Array x = pattern(d, {50000}, 23);
    const std::vector<Array> all = sort(x, 0, true), top = topk(x, 100, 0, true);
    for (int64_t i = 0; i < 100; ++i) {
      EXPECT_EQ(top[0].get(i), all[0].get(i));
      EXPECT_EQ(top[1].get(i), all[1].get(i));
    }
  }
}

TEST(Topk, EveryElementAndNone) {
  const Array x = array(kF32, {3}, {2, 3, 1});
  expect_sorted(topk(x, 3, 0, true), {3, 2, 1}, {1, 0, 2});
  EXPECT_EQ(topk(x, 0, 0, true)[0].count(), 0);
}

TEST(Sort, NothingGivesNothing) {
  for (int axis : {0, 1}) EXPECT_EQ(sort(Array(kF32, {0, 3}), axis, false)[0].count(), 0);
  EXPECT_EQ(topk(Array(kF64, {0, 3}), 2, 1, true)[1].count(), 0);
}

}  // namespace
}  // namespace stoker::backends::test
