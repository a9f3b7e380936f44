// argmax, argmin: first of equals, NaN, every axis.
#include <cmath>

#include "backends/harness.h"

namespace stoker::backends::test {
namespace {

using graph::ArgReduceAttrs;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

Array arg(const std::string& op, const Array& x, int axis) {
  Shape shape = x.shape;
  shape.erase(axis);
  return run(op, ArgReduceAttrs{axis}, {x}, {{kI64, shape}})[0];
}

TEST(ArgReduce, TheFirstOfEqualsIsTaken) {
  const Array x = array(kF32, {2, 4}, {3, 7, 7, -1, 0, 0, -2, -2});
  expect_close(arg("argmax", x, 1), {1, 0});
  expect_close(arg("argmin", x, 1), {3, 2});
  expect_close(arg("argmax", x, 0), {0, 0, 0, 0});
  expect_close(arg("argmin", x, 0), {1, 1, 1, 1});
}

TEST(ArgReduce, ZerosOfBothSignsAreEqual) {
  expect_close(arg("argmax", array(kF32, {2}, {-0.0, 0.0}), 0), {0});
  expect_close(arg("argmin", array(kF32, {2}, {0.0, -0.0}), 0), {0});
}

TEST(ArgReduce, TheFirstNaNIsTheExtremeOfBoth) {
  for (DType d : {kF16, kBF16, kF32, kF64}) {
    const Array x = array(d, {2, 4}, {kInf, 1, kNan, kNan, kNan, -kInf, kNan, kInf});
    for (const char* op : {"argmax", "argmin"}) expect_close(arg(op, x, 1), {2, 0});
    expect_close(arg("argmax", x, 0), {1, 0, 0, 0});
    expect_close(arg("argmin", x, 0), {1, 1, 0, 0});
  }
}

TEST(ArgReduce, InfinitiesAloneHaveAPlace) {
  expect_close(arg("argmax", array(kF32, {3}, {-kInf, -kInf, -kInf}), 0), {0});
  expect_close(arg("argmin", array(kF32, {3}, {kInf, kInf, kInf}), 0), {0});
}

class ArgReduceTypes : public testing::TestWithParam<DType> {};

TEST_P(ArgReduceTypes, AgreesWithALoopOverEveryAxis) {
  const Shape shape{7, 2500, 3};
  const Array x = pattern(GetParam(), shape, 11, is_floating(GetParam()) ? 1 : 60);
  for (int axis = 0; axis < 3; ++axis) {
    Shape rest = shape;
    rest.erase(axis);
    std::vector<double> largest(size_t(numel(rest)), -kInf), place(size_t(numel(rest)), -1);
    for (int64_t i = 0; i < x.count(); ++i) {
      const Dims at{i / 7500, i / 3 % 2500, i % 3};
      const int64_t line = axis == 0 ? at[1] * 3 + at[2] : axis == 1 ? at[0] * 3 + at[2] : at[0] * 2500 + at[1];
      if (x.get(i) > largest[size_t(line)]) largest[size_t(line)] = x.get(i), place[size_t(line)] = double(at[axis]);
    }
    expect_close(arg("argmax", x, axis), place);
  }
}
INSTANTIATE_TEST_SUITE_P(All, ArgReduceTypes,
                         testing::Values(kBool, kU8, kI8, kI16, kI32, kI64, kF16, kBF16, kF32, kF64));

TEST(ArgReduce, LargeIntegersAreComparedExactly) {
  Array x(kI64, {3});
  x.as<int64_t>()[0] = (int64_t(1) << 60), x.as<int64_t>()[1] = (int64_t(1) << 60) + 1,
  x.as<int64_t>()[2] = -(int64_t(1) << 60);
  expect_close(arg("argmax", x, 0), {1});
  expect_close(arg("argmin", x, 0), {2});
}

TEST(ArgReduce, ALateExtremeOfALongLineIsFound) {
  Array x(kF32, {100000});
  x.set(99999, 1);
  x.set(70001, -1);
  expect_close(arg("argmax", x, 0), {99999});
  expect_close(arg("argmin", x, 0), {70001});
}

TEST(ArgReduce, NoLinesGiveNothing) { EXPECT_EQ(arg("argmax", Array(kF32, {0, 3}), 1).count(), 0); }

}  // namespace
}  // namespace stoker::backends::test
