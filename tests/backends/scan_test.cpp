// cumsum, cumprod along any axis, exclusive, in reverse.
#include "backends/harness.h"

namespace stoker::backends::test {
namespace {

using graph::ScanAttrs;

Array scan(const std::string& op, const Array& x, const ScanAttrs& a) {
  return run(op, a, {x}, {{is_floating(x.dtype) ? x.dtype : kI64, x.shape}})[0];
}

TEST(Scan, SumsRunAlongTheAxis) {
  const Array x = array(kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_close(scan("cumsum", x, {1}), {1, 3, 6, 4, 9, 15});
  expect_close(scan("cumsum", x, {0}), {1, 2, 3, 5, 7, 9});
  expect_close(scan("cumsum", x, {1, true}), {0, 1, 3, 0, 4, 9});
  expect_close(scan("cumsum", x, {1, false, true}), {6, 5, 3, 15, 11, 6});
  expect_close(scan("cumsum", x, {0, true, true}), {4, 5, 6, 0, 0, 0});
}

TEST(Scan, ProductsRunAlongTheAxis) {
  const Array x = array(kF64, {4}, {2, 3, 0.5, -1});
  expect_close(scan("cumprod", x, {0}), {2, 6, 3, -3});
  expect_close(scan("cumprod", x, {0, true}), {1, 2, 6, 3});
  expect_close(scan("cumprod", x, {0, true, true}), {-1.5, -0.5, -1, 1});
}

TEST(Scan, HalvesAccumulateInFloat) {
  expect_close(scan("cumsum", array(kF16, {4}, {60000, 60000, -60000, -49984}), {0}),
               {60000, std::numeric_limits<double>::infinity(), 60000, 10016});
  std::vector<double> ones(4096, 1);
  EXPECT_EQ(scan("cumsum", array(kBF16, {4096}, ones), {0}).get(4095), 4096);
}

TEST(Scan, IntegersAccumulateInSixtyFourBits) {
  expect_close(scan("cumsum", array(kU8, {3, 1}, {200, 200, 200}), {0}), {200, 400, 600});
  expect_close(scan("cumsum", array(kBool, {4}, {1, 0, 1, 1}), {0}), {1, 1, 2, 3});
  expect_close(scan("cumprod", array(kI32, {3}, {100000, 100000, -2}), {0}), {1e5, 1e10, -2e10});
}

TEST(Scan, IntegersWrap) {
  Array x(kI64, {2});
  x.as<int64_t>()[0] = std::numeric_limits<int64_t>::max(), x.as<int64_t>()[1] = 1;
  EXPECT_EQ(scan("cumsum", x, {0}).as<int64_t>()[1], std::numeric_limits<int64_t>::min());
}

class ScanShapes : public testing::TestWithParam<int> {};
TEST_P(ScanShapes, LinesThatThreadsShareAgreeWithALoop) {
  const int axis = GetParam();
  const Shape shape{20, 30, 600};
  const Dims strides = contiguous_strides(shape);
  const Array x = pattern(kF64, shape, 5);  // sums of multiples of 1/64 are exact
  std::vector<double> expected = x.values();
  for (int64_t i = 0; i < x.count(); ++i)
    if (i / strides[axis] % shape[axis] > 0) expected[size_t(i)] += expected[size_t(i - strides[axis])];
  expect_close(scan("cumsum", x, {axis}), expected);
}
INSTANTIATE_TEST_SUITE_P(Axes, ScanShapes, testing::Values(0, 1, 2));

TEST(Scan, NothingGivesNothing) {
  for (const Shape& shape : {Shape{0}, Shape{3, 0}, Shape{0, 3}}) {
    EXPECT_EQ(scan("cumsum", Array(kF32, shape), {0, true, true}).count(), 0);
    EXPECT_EQ(scan("cumprod", Array(kF32, shape), {shape.rank() - 1}).count(), 0);
  }
}

}  // namespace
}  // namespace stoker::backends::test
