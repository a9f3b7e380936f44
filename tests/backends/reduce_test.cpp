// sum, prod, max, min over any axes of any strides.
#include "backends/harness.h"

namespace stoker::backends::test {
namespace {

using graph::ReduceAttrs;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

Shape without(const Shape& shape, const Dims& axes) {
  Shape out = shape;
  for (int i = axes.rank() - 1; i >= 0; --i) out.erase(int(axes[i]));
  return out;
}

DType sum_type(DType d) { return is_floating(d) ? d : kI64; }

struct ReduceCase {
  Shape shape;
  Dims axes;
};
class Reduce : public testing::TestWithParam<ReduceCase> {};

// Every element of `x` in logical order: its value, and the number of the result it belongs to.
template <class F>
void for_each(const Array& x, const Dims& axes, const F& f) {
  for (int64_t i = 0; i < x.count(); ++i) {
    int64_t rest = i, at = x.offset, result = 0, scale = 1;
    for (int k = x.shape.rank() - 1; k >= 0; --k) {
      const int64_t index = rest % x.shape[k];
      rest /= x.shape[k];
      at += index * x.strides[k];
      if (std::find(axes.begin(), axes.end(), k) == axes.end()) result += index * scale, scale *= x.shape[k];
    }
    f(x.get(at), result);
  }
}

// The same shape, with the axes in reverse order in memory.
Array reversed_axes(const Array& x) {
  Array out = x;
  int64_t stride = 1;
  for (int k = 0; k < x.shape.rank(); ++k) out.strides[k] = stride, stride *= std::max<int64_t>(x.shape[k], 1);
  return out;
}

TEST_P(Reduce, AddsUpAnyAxes) {
  const auto& [shape, axes] = GetParam();
  for (DType d : {kF32, kF64, kBF16, kI32, kU8}) {
    const Array dense = pattern(d, shape, 3, is_floating(d) ? 1 : 50);
    for (const Array& x : {dense, reversed_axes(dense)}) {
      const Shape result = without(shape, axes);
      std::vector<double> sum(size_t(numel(result)), 0), max(sum.size(), -kInf);
      for_each(x, axes,
               [&](double v, int64_t i) { sum[size_t(i)] += v, max[size_t(i)] = std::max(max[size_t(i)], v); });
      expect_close(run("sum", ReduceAttrs{axes}, {x}, {{sum_type(d), result}})[0], sum,
                   d == kBF16       ? 0x1p-8
                   : is_floating(d) ? 1e-5
                                    : 0);
      if (numel(shape) > 0) expect_close(run("max", ReduceAttrs{axes}, {x}, {{d, result}})[0], max);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Shapes, Reduce,
                         testing::Values(ReduceCase{{7}, {0}}, ReduceCase{{1}, {0}}, ReduceCase{{5, 7}, {0}},
                                         ReduceCase{{5, 7}, {1}}, ReduceCase{{5, 7}, {0, 1}},
                                         ReduceCase{{3, 4, 5}, {0, 2}}, ReduceCase{{3, 4, 5}, {1}},
                                         ReduceCase{{3, 1, 5}, {1}}, ReduceCase{{3, 4, 1}, {1}},
                                         ReduceCase{{2, 3, 4, 5}, {0, 2, 3}}, ReduceCase{{2, 3, 4, 5}, {1, 3}},
                                         ReduceCase{{2, 3, 4, 5}, {0, 2}}, ReduceCase{{1000, 3}, {0}},
                                         ReduceCase{{3, 700, 2}, {1}}, ReduceCase{{700, 600}, {0}},
                                         ReduceCase{{5000}, {0}}, ReduceCase{{0, 3}, {0}}, ReduceCase{{3, 0}, {1}},
                                         ReduceCase{{3, 0, 2}, {1}}, ReduceCase{{0, 3}, {1}}));

TEST(Reduce, HalvesAccumulateInFloat) {  // BR-007
  const std::vector<double> x{32000, 32000, 32000, 32000, -32000, -32000, -32000, -32000};
  expect_close(run("sum", ReduceAttrs{{0}}, {array(kF16, {8}, x)}, {{kF16, {}}})[0], {0});
  expect_close(run("sum", ReduceAttrs{{0}}, {array(kF16, {8, 1}, x)}, {{kF16, {1}}})[0], {0});
  std::vector<double> twice;
  for (double v : x) twice.insert(twice.end(), {v, v});
  expect_close(run("sum", ReduceAttrs{{0}}, {array(kF16, {8, 2}, twice)}, {{kF16, {2}}})[0], {0, 0});
}

TEST(Reduce, IntegersAddUpInSixtyFourBits) {  // BR-027
  EXPECT_EQ(run("sum", ReduceAttrs{{0}}, {array(kU8, {5000}, std::vector<double>(5000, 1))}, {{kI64, {}}})[0].get(0),
            5000);
  expect_close(
      run("sum", ReduceAttrs{{0}}, {array(kI32, {2, 2}, std::vector<double>(4, 2147483647))}, {{kI64, {2}}})[0],
      {4294967294, 4294967294});
  expect_close(run("sum", ReduceAttrs{{0}}, {array(kBool, {3, 2}, {1, 0, 1, 1, 1, 0})}, {{kI64, {2}}})[0], {3, 1});
}

TEST(Reduce, ExtremesOfNaNAreNaN) {
  const Array x = array(kF32, {2, 3}, {1, kNan, 3, -kInf, 5, -kInf});
  expect_close(run("max", ReduceAttrs{{0}}, {x}, {{kF32, {3}}})[0], {1, kNan, 3});
  expect_close(run("min", ReduceAttrs{{1}}, {x}, {{kF32, {2}}})[0], {kNan, -kInf});
}

TEST(Reduce, EmptyProductsAreOne) {
  expect_close(run("prod", ReduceAttrs{{0}}, {Array(kF32, {0, 2})}, {{kF32, {2}}})[0], {1, 1});
  expect_close(run("prod", ReduceAttrs{{1}}, {Array(kI32, {2, 0})}, {{kI64, {2}}})[0], {1, 1});
}

TEST(Reduce, ManyRowsOfFewColumnsAreSummedInParallel) {
  const Array x = pattern(kF32, {100000, 10}, 5);
  std::vector<double> sum(10, 0);
  for (int64_t i = 0; i < x.count(); ++i) sum[size_t(i % 10)] += x.get(i);
  expect_close(run("sum", ReduceAttrs{{0}}, {x}, {{kF32, {10}}})[0], sum, 1e-5);
}

TEST(Reduce, LayoutsOfEqualValuesGiveEqualBits) {
  Array x = pattern(kF32, {300, 70}, 9);
  for (int64_t i = 0; i < x.count(); ++i) x.as<float>()[i] *= 1.1f;
  Array y = x;
  y.strides = {1, 300};
  for (int64_t i = 0; i < 300; ++i)
    for (int64_t j = 0; j < 70; ++j) y.as<float>()[i + j * 300] = x.as<float>()[i * 70 + j];
  for (const Dims& axes : {Dims{0}, Dims{1}, Dims{0, 1}}) {
    const Shape result = without({300, 70}, axes);
    EXPECT_TRUE(run("sum", ReduceAttrs{axes}, {x}, {{kF32, result}})[0].same_bits(
        run("sum", ReduceAttrs{axes}, {y}, {{kF32, result}})[0]));
  }
}

}  // namespace
}  // namespace stoker::backends::test
