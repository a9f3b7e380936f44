// update_slice: any steps, over its own input or not.
#include "backends/harness.h"

namespace stoker::backends::test {
namespace {

using graph::SliceAttrs;

std::vector<Input> inputs_of(const Array& x, const Array& v, const Dims& starts) {
  std::vector<Input> inputs{x, v};
  for (int64_t s : starts) inputs.push_back(Number::integer(s));
  return inputs;
}

// Into new memory and in place, which must be the same.
Array update(const Array& x, const Array& v, const Dims& starts, const Dims& steps) {
  const std::vector<std::pair<DType, Shape>> outputs{{x.dtype, x.shape}};
  const Array y = run("update_slice", SliceAttrs{v.shape, steps}, inputs_of(x, v, starts), outputs)[0];
  EXPECT_TRUE(y.same_bits(run("update_slice", SliceAttrs{v.shape, steps}, inputs_of(x, v, starts), outputs, 0)[0]));
  return y;
}

TEST(UpdateSlice, WritesWhereTheSliceIs) {
  for (DType d : {kU8, kBF16, kF32, kI64}) {
    const Array x = array(d, {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    expect_close(update(x, array(d, {2, 2}, {10, 11, 12, 13}), {1, 0}, {1, 1}), {1, 2, 3, 10, 11, 6, 12, 13, 9});
    expect_close(update(x, array(d, {1, 3}, {10, 11, 12}), {2, 0}, {1, 1}), {1, 2, 3, 4, 5, 6, 10, 11, 12});
  }
}

TEST(UpdateSlice, StepsMaySkipAndTurn) {
  const Array x = array(kF32, {5}, {0, 0, 0, 0, 0});
  expect_close(update(x, array(kF32, {2}, {1, 2}), {1}, {3}), {0, 1, 0, 0, 2});
  expect_close(update(x, array(kF32, {3}, {1, 2, 3}), {4}, {-2}), {3, 0, 2, 0, 1});
  const Array m = array(kF32, {3, 2}, {0, 0, 0, 0, 0, 0});
  expect_close(update(m, array(kF32, {2, 2}, {1, 2, 3, 4}), {2, 0}, {-2, 1}), {3, 4, 0, 0, 1, 2});
  expect_close(update(m, array(kF32, {3, 2}, {1, 2, 3, 4, 5, 6}), {2, 1}, {-1, -1}), {6, 5, 4, 3, 2, 1});
}

TEST(UpdateSlice, ACacheGrowsByOnePosition) {  // [batch, heads, time, depth]
  const Array x = pattern(kF32, {2, 20, 30, 64}, 1), v = pattern(kF32, {2, 20, 1, 64}, 2);
  std::vector<double> expected = x.values();
  for (int64_t head = 0; head < 40; ++head)
    for (int64_t d = 0; d < 64; ++d) expected[size_t((head * 30 + 11) * 64 + d)] = v.get(head * 64 + d);
  expect_close(update(x, v, {0, 0, 11, 0}, {1, 1, 1, 1}), expected);
}

TEST(UpdateSlice, NumbersAndEmptyValuesAreAllowed) {
  expect_close(update(array(kF32, {}, {1}), array(kF32, {}, {2}), {}, {}), {2});
  expect_close(update(array(kF32, {2}, {1, 2}), Array(kF32, {0}), {2}, {1}), {1, 2});
  EXPECT_EQ(update(Array(kF32, {0, 2}), Array(kF32, {0, 1}), {0, 1}, {1, 1}).count(), 0);
}

TEST(UpdateSlice, ASliceBeyondTheTensorIsRefused) {
  const Array x(kF32, {2, 5}), v(kF32, {1, 3});
  const auto message = [&](const Dims& starts, const Dims& steps) -> std::string {
    try {
      run("update_slice", SliceAttrs{v.shape, steps}, inputs_of(x, v, starts), {{x.dtype, x.shape}});
    } catch (const ValueError& e) {
      return e.what();
    }
    return "nothing";
  };
  EXPECT_NE(message({0, 3}, {1, 1}).find("within extent 5 of axis 1, got start 3, step 1 and 3 elements"),
            std::string::npos);
  EXPECT_NE(message({0, 3}, {1, -2}).find("got start 3, step -2"), std::string::npos);
  EXPECT_NE(message({-1, 0}, {1, 1}).find("extent 2 of axis 0, got start -1"), std::string::npos);
  EXPECT_EQ(message({0, 0}, {1, 2}), "nothing");
  EXPECT_EQ(message({1, 4}, {1, -2}), "nothing");
}

}  // namespace
}  // namespace stoker::backends::test
