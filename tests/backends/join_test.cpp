// concat, pad.
#include "backends/harness.h"

namespace stoker::backends::test {
namespace {

using graph::IndexAttrs;
using graph::PadAttrs;

Array concat(const std::vector<Array>& parts, int axis) {
  Shape shape = parts[0].shape;
  shape[axis] = 0;
  for (const Array& p : parts) shape[axis] += p.shape[axis];
  return run("concat", IndexAttrs{axis}, {parts.begin(), parts.end()}, {{parts[0].dtype, shape}})[0];
}

Array pad(const Array& x, const Dims& low, const Dims& high, const Number& value) {
  Shape shape = x.shape;
  for (int k = 0; k < shape.rank(); ++k) shape[k] += low[k] + high[k];
  return run("pad", PadAttrs{low, high}, {x, value}, {{x.dtype, shape}})[0];
}

TEST(Concat, PutsInputsAfterEachOther) {
  for (DType d : {kU8, kF16, kF32, kI64}) {
    const Array a = array(d, {2, 1}, {1, 2}), b = array(d, {2, 2}, {3, 4, 5, 6});
    expect_close(concat({a, b, a}, 1), {1, 3, 4, 1, 2, 5, 6, 2});
    expect_close(concat({b, b}, 0), {3, 4, 5, 6, 3, 4, 5, 6});
  }
}

TEST(Concat, EmptyInputsTakeNoRoom) {
  const Array none(kF32, {2, 0}), a = array(kF32, {2, 1}, {1, 2});
  expect_close(concat({none, a, none, a, none}, 1), {1, 1, 2, 2});
  EXPECT_EQ(concat({none, none}, 0).count(), 0);
  EXPECT_EQ(concat({none, none}, 1).count(), 0);
}

class ConcatAxes : public testing::TestWithParam<int> {};
TEST_P(ConcatAxes, LargeInputsAgreeWithALoop) {
  const int axis = GetParam();
  const Shape shape{30, 40, 50};
  Shape longer = shape;
  longer[axis] += 7;
  const Array a = pattern(kF32, shape, 1), b = pattern(kF32, longer, 2), y = concat({a, b}, axis);
  const auto at = [](const Array& x, const Dims& i) { return x.get((i[0] * x.shape[1] + i[1]) * x.shape[2] + i[2]); };
  std::vector<double> expected;
  Dims i = Dims::filled(3, 0);
  for (i[0] = 0; i[0] < y.shape[0]; ++i[0])
    for (i[1] = 0; i[1] < y.shape[1]; ++i[1])
      for (i[2] = 0; i[2] < y.shape[2]; ++i[2]) {
        Dims j = i;
        j[axis] -= shape[axis];
        expected.push_back(j[axis] < 0 ? at(a, i) : at(b, j));
      }
  expect_close(y, expected);
}
INSTANTIATE_TEST_SUITE_P(All, ConcatAxes, testing::Values(0, 1, 2));

TEST(Pad, PutsANumberAround) {
  const Array x = array(kF32, {2, 2}, {1, 2, 3, 4});
  expect_close(pad(x, {1, 0}, {0, 2}, Number::real(-1)), {-1, -1, -1, -1, 1, 2, -1, -1, 3, 4, -1, -1});
  expect_close(pad(x, {0, 0}, {0, 0}, Number::real(-1)), {1, 2, 3, 4});
  expect_close(pad(array(kI8, {1}, {7}), {1}, {1}, Number::integer(-3, kI8)), {-3, 7, -3});
  expect_close(pad(array(kBool, {1}, {0}), {0}, {2}, Number::integer(1, kBool)), {0, 1, 1});
  expect_close(pad(array(kBF16, {1}, {0.5}), {1}, {0}, Number::real(2, kBF16)), {2, 0.5});
  expect_close(pad(array(kF64, {}, {0.5}), {}, {}, Number::real(2, kF64)), {0.5});
}

TEST(Pad, NegativePaddingCrops) {
  const Array x = array(kF32, {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_close(pad(x, {0, -1}, {0, 1}, Number::real(9)), {2, 3, 9, 5, 6, 9});
  expect_close(pad(x, {-1, 0}, {0, -2}, Number::real(9)), {4});
  expect_close(pad(x, {0, 5}, {0, -7}, Number::real(9)), {9, 9});
}

TEST(Pad, NothingGrowsIntoNumbers) {
  expect_close(pad(Array(kF32, {0, 2}), {1, 0}, {0, 1}, Number::real(4)), {4, 4, 4});
  EXPECT_EQ(pad(Array(kF32, {0, 2}), {0, 1}, {0, 0}, Number::real(4)).count(), 0);
}

TEST(Pad, ImagesAgreeWithALoop) {
  const Array x = pattern(kF32, {3, 20, 30, 40}, 3);
  const Array y = pad(x, {0, 1, 2, 3}, {0, 0, 1, 2}, Number::real(0.5));
  std::vector<double> expected;
  for (int64_t n = 0; n < 3; ++n)
    for (int64_t c = -1; c < 20; ++c)
      for (int64_t h = -2; h < 31; ++h)
        for (int64_t w = -3; w < 42; ++w)
          expected.push_back(c >= 0 && h >= 0 && h < 30 && w >= 0 && w < 40 ? x.get(((n * 20 + c) * 30 + h) * 40 + w)
                                                                            : 0.5);
  expect_close(y, expected);
}

}  // namespace
}  // namespace stoker::backends::test
