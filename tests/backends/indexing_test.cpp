// gather, scatter, scatter_add, take, index_add: against loops, in place, and with indices that are wrong.
#include "backends/harness.h"

namespace stoker::backends::test {
namespace {

using graph::IndexAttrs;

Dims place_of(int64_t i, const Shape& shape) {
  Dims at = shape;
  for (int k = shape.rank() - 1; k >= 0; --k) at[k] = i % shape[k], i /= shape[k];
  return at;
}
int64_t offset_of(const Dims& at, const Shape& shape) {
  int64_t offset = 0;
  for (int k = 0; k < shape.rank(); ++k) offset = offset * shape[k] + at[k];
  return offset;
}

// Indices all over -extent..extent-1.
Array indices(DType dtype, const Shape& shape, int64_t extent) {
  Array index(dtype, shape);
  for (int64_t i = 0; i < index.count(); ++i) index.set(i, double((i * 7 + i / 5) % (2 * extent) - extent));
  return index;
}

// Where in x each element of a gather's index leads.
std::vector<int64_t> aligned_places(const Shape& x, const Array& index, int axis) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < index.count(); ++i) {
    Dims at = place_of(i, index.shape);
    const int64_t v = int64_t(index.get(i));
    at[axis] = v < 0 ? v + x[axis] : v;
    places.push_back(offset_of(at, x));
  }
  return places;
}

// Where in x each element of a take's result comes from.
std::vector<int64_t> taken_places(const Shape& x, const Array& index, int axis) {
  int64_t outer = 1, inner = 1;
  for (int k = 0; k < x.rank(); ++k) (k < axis ? outer : inner) *= k == axis ? 1 : x[k];
  std::vector<int64_t> places;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t j = 0; j < index.count(); ++j)
      for (int64_t c = 0; c < inner; ++c) {
        const int64_t v = int64_t(index.get(j));
        places.push_back((o * x[axis] + (v < 0 ? v + x[axis] : v)) * inner + c);
      }
  return places;
}
Shape taken_shape(Shape x, const Shape& index, int axis) {
  x.erase(axis);
  for (int i = 0; i < index.rank(); ++i) x.insert(axis + i, index[i]);
  return x;
}

Array update(const std::string& op, const Array& x, const Array& index, const Array& source, int axis) {
  const std::vector<std::pair<DType, Shape>> outputs{{x.dtype, x.shape}};
  const Array y = run(op, IndexAttrs{axis}, {x, index, source}, outputs)[0];
  EXPECT_TRUE(y.same_bits(run(op, IndexAttrs{axis}, {x, index, source}, outputs, 0)[0])) << op << " in place";
  return y;
}

struct IndexCase {
  Shape x;
  int axis;
  Shape index;
};

class Aligned : public testing::TestWithParam<IndexCase> {};

TEST_P(Aligned, AgreeWithLoops) {
  const auto& [shape, axis, index_shape] = GetParam();
  for (DType d : {kF32, kF64, kBF16, kU8, kI64})
    for (DType of_index : {kI32, kI64}) {
      const Array x = pattern(d, shape, 1, is_floating(d) ? 1 : 40),
                  source = pattern(d, index_shape, 2, is_floating(d) ? 1 : 40);
      const Array index = indices(of_index, index_shape, shape[axis]);
      const std::vector<int64_t> places = aligned_places(shape, index, axis);
      std::vector<double> gathered, scattered = x.values(), added = x.values();
      for (size_t i = 0; i < places.size(); ++i) {
        gathered.push_back(x.get(places[i]));
        scattered[size_t(places[i])] = source.get(int64_t(i));
        added[size_t(places[i])] += source.get(int64_t(i));
      }
      if (d == kU8)
        for (double& v : added) v = double(uint8_t(int64_t(v)));
      expect_close(run("gather", IndexAttrs{axis}, {x, index}, {{d, index_shape}})[0], gathered);
      expect_close(update("scatter", x, index, source, axis), scattered);
      expect_close(update("scatter_add", x, index, source, axis), added, d == kBF16 ? 0x1p-8 : 0);
    }
}
INSTANTIATE_TEST_SUITE_P(Shapes, Aligned,
                         testing::Values(IndexCase{{5}, 0, {9}}, IndexCase{{5, 4}, 1, {5, 1}},
                                         IndexCase{{5, 4}, 0, {3, 4}}, IndexCase{{5, 4}, 0, {7, 2}},
                                         IndexCase{{3, 4, 5}, 1, {3, 6, 5}}, IndexCase{{3, 4, 5}, 1, {2, 6, 3}},
                                         IndexCase{{3, 4, 5, 6}, 1, {2, 9, 4, 6}},
                                         IndexCase{{3, 4, 5, 6}, 2, {3, 4, 2, 5}},
                                         IndexCase{{3, 4, 5, 6}, 0, {8, 3, 5, 6}}, IndexCase{{3, 4}, 0, {0, 4}},
                                         IndexCase{{3, 4}, 1, {0, 4}}, IndexCase{{300, 400}, 0, {200, 400}},
                                         IndexCase{{300, 400}, 1, {300, 200}}, IndexCase{{50}, 0, {60000}}));

class Runs : public testing::TestWithParam<IndexCase> {};

TEST_P(Runs, AgreeWithLoops) {
  const auto& [shape, axis, index_shape] = GetParam();
  const Shape result = taken_shape(shape, index_shape, axis);
  for (DType d : {kF32, kF16, kI16, kBool, kI64})
    for (DType of_index : {kI32, kI64}) {
      const Array x = pattern(d, shape, 1, is_floating(d) ? 1 : 40),
                  source = pattern(d, result, 2, is_floating(d) ? 1 : 40);
      const Array index = indices(of_index, index_shape, shape[axis]);
      const std::vector<int64_t> places = taken_places(shape, index, axis);
      std::vector<double> taken, added = x.values();
      for (size_t i = 0; i < places.size(); ++i) {
        taken.push_back(x.get(places[i]));
        double& sum = added[size_t(places[i])];
        sum = d == kBool ? double(sum != 0 || source.get(int64_t(i)) != 0) : sum + source.get(int64_t(i));
      }
      expect_close(run("take", IndexAttrs{axis}, {x, index}, {{d, result}})[0], taken);
      expect_close(update("index_add", x, index, source, axis), added, d == kF16 ? 0x1p-10 : 0);
    }
}
INSTANTIATE_TEST_SUITE_P(Shapes, Runs,
                         testing::Values(IndexCase{{5}, 0, {9}}, IndexCase{{5}, 0, {}}, IndexCase{{5, 4}, 0, {2, 3}},
                                         IndexCase{{5, 4}, 1, {7}}, IndexCase{{3, 4, 5}, 1, {2, 2}},
                                         IndexCase{{3, 4, 5}, 1, {0}}, IndexCase{{0, 4}, 1, {3}},
                                         IndexCase{{3, 4, 0}, 1, {3}}, IndexCase{{100, 64}, 0, {20, 50}},
                                         IndexCase{{40, 30}, 1, {900}}));

TEST(Scatter, TheLastOfEqualsWins) {
  const Array x(kF32, {3});
  expect_close(update("scatter", x, array(kI64, {4}, {1, 1, -2, 0}), array(kF32, {4}, {5, 6, 7, 8}), 0), {8, 7, 0});
}

TEST(ScatterAdd, SumsFollowTheSource) {  // 1e8 + 1 - 1e8 is 0 in f32, 1e8 - 1e8 + 1 is 1
  const Array x(kF32, {2, 1});
  expect_close(update("scatter_add", x, array(kI64, {6, 1}, {0, 0, 0, 1, 1, 1}),
                      array(kF32, {6, 1}, {1e8, 1, -1e8, 1e8, -1e8, 1}), 0),
               {0, 1});
}

TEST(ScatterAdd, HalvesAreSummedInFloat) {
  const Array index(kI64, {4096}), ones = array(kBF16, {4096}, std::vector<double>(4096, 1));
  expect_close(update("scatter_add", Array(kBF16, {1}), index, ones, 0), {4096});
  expect_close(update("index_add", Array(kBF16, {1}), index, ones, 0), {4096});
}

TEST(ScatterAdd, BoolIsALogicalOr) {
  expect_close(
      update("scatter_add", array(kBool, {3}, {1, 0, 0}), array(kI32, {2}, {0, 2}), array(kBool, {2}, {1, 1}), 0),
      {1, 0, 1});
}

TEST(ScatterAdd, IntegersWrap) {
  expect_close(update("scatter_add", array(kI8, {1}, {127}), array(kI32, {1}, {0}), array(kI8, {1}, {1}), 0), {-128});
  const Array x = array(kI32, {1}, {2147483647});
  expect_close(update("index_add", x, array(kI32, {1}, {0}), array(kI32, {1}, {1}), 0), {-2147483648.0});
}

// --- wrong indices ---------------------------------------------------------------------------------------------------

std::string message_of(const std::string& op, const IndexAttrs& attrs, const std::vector<Input>& inputs,
                       const Shape& result) {
  try {
    run(op, attrs, inputs, {{kF32, result}});
  } catch (const ValueError& e) {
    return e.what();
  }
  return "nothing";
}

TEST(WrongIndex, IsNamedWithExtentAndPlace) {
  const Array x(kF32, {2, 5}), index = array(kI64, {2, 3}, {0, -5, 4, 1, 5, -6}), source(kF32, {2, 3});
  const std::string expected = "expected an index in -5..4 along axis 1 of extent 5, got 5 at [1, 1]";
  EXPECT_NE(message_of("gather", {1}, {x, index}, {2, 3}).find("[gather] " + expected), std::string::npos);
  EXPECT_NE(message_of("gather", {1}, {x, index}, {2, 3}).find("test.cpp:7"), std::string::npos);
  EXPECT_NE(message_of("scatter", {1}, {x, index, source}, {2, 5}).find("[scatter] " + expected), std::string::npos);
  EXPECT_NE(message_of("scatter_add", {1}, {x, index, source}, {2, 5}).find(expected), std::string::npos);
  EXPECT_NE(message_of("take", {1}, {x, index}, {2, 2, 3}).find(expected), std::string::npos);
  EXPECT_NE(message_of("index_add", {1}, {x, index, Array(kF32, {2, 2, 3})}, {2, 5}).find(expected), std::string::npos);
}

TEST(WrongIndex, NegativeOnesAreWrongWhereTheyDoNotCountFromTheEnd) {
  const Array x(kF32, {5}), index = array(kI32, {2}, {0, -1});
  EXPECT_EQ(message_of("take", {0, true}, {x, index}, {2}), "nothing");
  EXPECT_NE(message_of("take", {0, false}, {x, index}, {2}).find("in 0..4 along axis 0 of extent 5, got -1 at [1]"),
            std::string::npos);
}

TEST(WrongIndex, TheFirstIsNamedByAnyNumberOfThreads) {
  Array index(kI32, {100000});
  index.set(99999, 7), index.set(60001, 8), index.set(60000, 9);
  for (int threads : {1, 2, 3}) {
    try {
      machine(threads).run("take", IndexAttrs{0}, {Array(kF32, {3}), index}, {{kF32, {100000}}});
      ADD_FAILURE() << "expected an error";
    } catch (const ValueError& e) {
      EXPECT_NE(std::string(e.what()).find("got 9 at [60000]"), std::string::npos) << e.what();
    }
  }
}

TEST(WrongIndex, IsOneOfNoElements) {
  EXPECT_NE(message_of("take", {0}, {Array(kF32, {0}), array(kI64, {1}, {0})}, {1}).find("no index"),
            std::string::npos);
  EXPECT_NE(message_of("take", {0}, {Array(kF32, {2}), array(kI64, {}, {-3})}, {}).find("got -3 at []"),
            std::string::npos);
}

TEST(WrongIndex, IsNotCutTo32Bits) {
  Array index(kI64, {1});
  index.as<int64_t>()[0] = int64_t(1) << 32;
  EXPECT_NE(message_of("take", {0}, {Array(kF32, {2}), index}, {1}).find("got 4294967296"), std::string::npos);
}

}  // namespace
}  // namespace stoker::backends::test
