// iota: start + step * position along the last axis.
#include "backends/harness.h"

namespace stoker::backends::test {
namespace {

using graph::MakeAttrs;

Array iota(const Number& start, const Number& step, DType dtype, const Shape& shape) {
  return run("iota", MakeAttrs{dtype, shape, {}}, {start, step}, {{dtype, shape}})[0];
}

TEST(Iota, CountsAlongTheLastAxis) {
  expect_close(iota(Number::real(1), Number::real(0.5), kF32, {2, 3}), {1, 1.5, 2, 1, 1.5, 2});
  expect_close(iota(Number::integer(5), Number::integer(-2), kI64, {4}), {5, 3, 1, -1});
  expect_close(iota(Number::integer(3), Number::integer(1), kI32, {}), {3});
}

TEST(Iota, NumbersMayBeOfTheOtherKind) {
  expect_close(iota(Number::integer(1), Number::real(0.25, kF64), kF64, {3}), {1, 1.25, 1.5});
  expect_close(iota(Number::real(2), Number::integer(3), kI16, {3}), {2, 5, 8});
}

TEST(Iota, FloatsAreRoundedOnce) {
  const Array y = iota(Number::real(0), Number::real(0.1), kF32, {100000});
  for (int64_t i = 0; i < y.count(); i += 997) EXPECT_EQ(y.as<float>()[i], float(0.1 * double(i)));
  expect_close(iota(Number::real(2048, kF16), Number::real(1, kF16), kF16, {3}), {2048, 2048, 2050});
}

TEST(Iota, IntegersWrapAndLargeOnesAreExact) {
  expect_close(iota(Number::integer(254), Number::integer(1), kU8, {4}), {254, 255, 0, 1});
  const int64_t large = (int64_t(1) << 60) + 1;
  EXPECT_EQ(iota(Number::integer(large), Number::integer(2), kI64, {2}).as<int64_t>()[1], large + 2);
}

TEST(Iota, NothingGivesNothing) {
  EXPECT_EQ(iota(Number::real(0), Number::real(1), kF32, {3, 0}).count(), 0);
  EXPECT_EQ(iota(Number::real(0), Number::real(1), kF32, {0, 3}).count(), 0);
}

}  // namespace
}  // namespace stoker::backends::test
