// matmul of any dtype and strides, by oneDNN and by the portable kernel. Inputs are small multiples of 1/64, so that
// sums are exact in f32 and every result is that of the float64 loops here, rounded once.
#include "backends/cpu/kernels/matmul.h"

#include "backends/direct.h"

namespace stoker::backends::test {
namespace {

using graph::Epilogue;
using graph::MatmulAttrs;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

double at(const Array& x, const Dims& index) {
  int64_t place = x.offset;
  for (int k = 0; k < x.shape.rank(); ++k) place += (x.shape[k] == 1 ? 0 : index[k]) * x.strides[k];
  return x.get(place);
}

DType result_type(DType d) { return d == kI8 || d == kU8 ? kI32 : d; }

Shape result_shape(const Shape& a, const Shape& b) {
  Shape y = a;
  for (int k = 0; k < y.rank() - 2; ++k) y[k] = a[k] == 1 ? b[k] : a[k];
  y[y.rank() - 1] = b.back();
  return y;
}

Dims index_of(int64_t i, const Shape& shape) {
  Dims index = shape;
  for (int k = shape.rank() - 1; k >= 0; --k) index[k] = i % shape[k], i /= shape[k];
  return index;
}

Array expected(const std::vector<Array>& in, const std::vector<Epilogue>& steps) {
  Array y(result_type(in[0].dtype), result_shape(in[0].shape, in[1].shape));
  const int rank = y.shape.rank();
  for (int64_t i = 0; i < y.count(); ++i) {
    const Dims index = index_of(i, y.shape);
    Dims a = index, b = index;
    double sum = 0;
    for (int64_t k = 0; k < in[0].shape.back(); ++k) {
      a[rank - 1] = k, b[rank - 2] = k;
      sum += at(in[0], a) * at(in[1], b);
    }
    size_t extra = 2;
    for (Epilogue step : steps) {
      if (step == Epilogue::Bias) sum += at(in[extra++], {index.back()});
      if (step == Epilogue::Add) sum += at(in[extra++], index);
      if (step == Epilogue::Relu) sum = sum < 0 ? 0 : sum;
    }
    y.set(i, sum);
  }
  return y;
}

std::vector<Array> product(const std::vector<Array>& in, const std::vector<Epilogue>& steps, int threads) {
  const std::vector<Input> inputs(in.begin(), in.end());
  return machine(threads).run("matmul", MatmulAttrs{{steps}}, inputs,
                              {{result_type(in[0].dtype), result_shape(in[0].shape, in[1].shape)}});
}

// On one, two and three threads.
void check(const std::vector<Array>& in, const std::vector<Epilogue>& steps = {}) {
  const Array want = expected(in, steps);
  SCOPED_TRACE(std::string(name_of(in[0].dtype)) + to_string(in[0].shape) + " " + to_string(in[0].strides) + " x " +
               to_string(in[1].shape) + " " + to_string(in[1].strides) + " " + graph::EpilogueList{steps}.print());
  for (int threads : {1, 2, 3}) expect_close(product(in, steps, threads)[0], want.values());
}

// The same values, with other strides.
Array laid_out(const Array& x, const Dims& strides, int64_t offset, int64_t elements) {
  Array out(x.dtype, {elements});
  out.shape = x.shape, out.strides = strides, out.offset = offset;
  for (int64_t i = 0; i < x.count(); ++i) {
    const Dims index = index_of(i, x.shape);
    int64_t place = offset;
    for (int k = 0; k < x.shape.rank(); ++k) place += index[k] * strides[k];
    out.set(place, x.get(i));
  }
  return out;
}

Array transposed(const Array& x) {
  Dims strides = x.strides;
  const int rank = x.shape.rank();
  strides[rank - 2] = 1, strides[rank - 1] = x.shape[rank - 2];
  return laid_out(x, strides, 0, x.count());
}

// Rows backwards, every second column.
Array reversed(const Array& x) {
  Dims strides = x.strides;
  const int rank = x.shape.rank();
  for (int64_t& s : strides) s *= 2;
  const int64_t last = (x.shape[rank - 2] - 1) * strides[rank - 2];
  strides[rank - 2] *= -1;
  return laid_out(x, strides, last, 2 * x.count());
}

std::vector<DType> all_dtypes() { return {kU8, kI8, kI16, kI32, kI64, kF16, kBF16, kF32, kF64}; }

double scale_of(DType d) { return is_floating(d) ? 1 : d == kU8 ? 40 : 60; }

Array values(DType d, const Shape& shape, uint32_t seed) {
  Array x = pattern(d, shape, seed, scale_of(d));
  if (d == kU8)
    for (int64_t i = 0; i < x.count(); ++i) x.set(i, std::fabs(x.get(i)) + double(i % 120));
  return x;
}

TEST(Matmul, EveryDtypeAndStride) {
  for (DType d : all_dtypes())
    for (auto [m, k, n] : {std::array{1, 1, 1}, std::array{3, 5, 7}, std::array{1, 300, 10}, std::array{65, 17, 1},
                           std::array{101, 260, 70}}) {
      const Array a = values(d, {m, k}, 1), b = values(d, {k, n}, 2);
      for (const Array& x : {a, transposed(a), reversed(a)})
        for (const Array& y : {b, transposed(b), reversed(b)}) {
          if (m > 100 && d == kF16 && x.strides[1] != 1) continue;  // slow to convert here, and nothing new
          check({x, y});
        }
    }
}

TEST(Matmul, BatchesBroadcast) {
  for (DType d : {kF32, kF64, kI8})
    for (auto [a, b] : {std::pair<Shape, Shape>{{4, 3, 5}, {4, 5, 6}},
                        {{4, 3, 5}, {1, 5, 6}},
                        {{1, 3, 5}, {4, 5, 6}},
                        {{2, 1, 3, 5}, {1, 3, 5, 6}},
                        {{2, 3, 4, 5}, {1, 1, 5, 6}},
                        {{1, 1, 1, 1, 1, 2, 3, 4}, {2, 1, 2, 1, 2, 1, 4, 2}}})
      check({values(d, a, 3), values(d, b, 4)});
}

TEST(Matmul, ReadsHeadsOfOneTensor) {  // attention: [batch, heads, length, width] out of [batch, length, heads, width]
  const Array q = laid_out(values(kF32, {2, 3, 4, 8}, 5), {96, 8, 24, 1}, 0, 192);
  const Array k = laid_out(values(kF32, {2, 3, 8, 4}, 6), {96, 8, 1, 24}, 0, 192);
  check({q, k});
}

TEST(Matmul, ReadsExpandedInputs) {
  Array a = values(kF32, {3, 4}, 7), row = values(kF32, {4}, 8), batch = values(kF32, {4, 5}, 9);
  row.shape = {3, 4}, row.strides = {0, 1};
  check({row, values(kF32, {4, 5}, 9)});
  batch.shape = {6, 4, 5}, batch.strides = {0, 5, 1};
  check({values(kF32, {6, 3, 4}, 10), batch});
  Array window = values(kF32, {8}, 11);  // rows that overlap
  window.shape = {5, 4}, window.strides = {1, 1};
  check({window, values(kF32, {4, 5}, 9)});
}

TEST(Matmul, EpilogueRunsInOrder) {
  const std::vector<std::vector<Epilogue>> lists{{Epilogue::Bias},
                                                 {Epilogue::Add},
                                                 {Epilogue::Relu},
                                                 {Epilogue::Bias, Epilogue::Relu},
                                                 {Epilogue::Bias, Epilogue::Add, Epilogue::Relu},
                                                 {Epilogue::Relu, Epilogue::Bias},
                                                 {Epilogue::Add, Epilogue::Relu, Epilogue::Add}};
  for (DType d : {kF32, kF64, kBF16, kI16, kI32, kI8})
    for (const auto& steps : lists)
      for (const Shape& batch : {Shape{}, Shape{2, 3}}) {
        Shape a = batch, b = batch, y = batch;
        a.push_back(9), a.push_back(33), b.push_back(33), b.push_back(20), y.push_back(9), y.push_back(20);
        if (!batch.empty()) b[0] = b[1] = 1;
        std::vector<Array> in{values(d, a, 1), values(d, b, 2)};
        for (Epilogue step : steps) {
          if (step == Epilogue::Bias) in.push_back(values(result_type(d), {20}, 3));
          if (step == Epilogue::Add) in.push_back(transposed(values(result_type(d), y, 4)));
        }
        check(in, steps);
      }
}

TEST(Matmul, EmptyDepthGivesZerosAndTheEpilogue) {
  for (DType d : {kF32, kI32}) {
    check({values(d, {3, 0}, 1), values(d, {0, 4}, 2)});
    check({values(d, {3, 0}, 1), values(d, {0, 4}, 2), values(d, {4}, 3)}, {Epilogue::Bias, Epilogue::Relu});
    check({values(d, {0, 3}, 1), values(d, {3, 4}, 2)});
    check({values(d, {2, 3}, 1), values(d, {3, 0}, 2)});
    check({values(d, {0, 2, 3}, 1), values(d, {1, 3, 4}, 2)});
  }
}

TEST(Matmul, DeepProductsHaveTheSameBitsAgain) {
  for (DType d : {kF32, kF64}) {
    Array a = pattern(d, {32, 20000}, 1), b = pattern(d, {20000, 9}, 2);
    for (int64_t i = 0; i < a.count(); ++i) a.set(i, a.get(i) / 3);  // sums are rounded
    for (int threads : {1, 2, 3}) {
      const Array once = product({a, b}, {}, threads)[0];
      EXPECT_TRUE(once.same_bits(product({a, b}, {}, threads)[0]));
      expect_close(once, expected({a, b}, {}).values(), d == kF32 ? 1e-4 : 1e-12);
    }
  }
}

TEST(Matmul, IntegersWrap) {
  expect_close(product({array(kI32, {1, 2}, {65536, 3}), array(kI32, {2, 1}, {65536, 5})}, {}, 1)[0], {15});
  expect_close(product({array(kI16, {1, 1}, {300}), array(kI16, {1, 1}, {300})}, {}, 1)[0], {24464});
  expect_close(product({array(kI64, {1, 1}, {4294967296.0}), array(kI64, {1, 1}, {4294967296.0})}, {}, 1)[0], {0});
  expect_close(product({array(kI64, {1, 1}, {-3}), array(kI64, {1, 1}, {4294967296.0})}, {}, 1)[0], {-12884901888.0});
}

TEST(Matmul, BytesOfBothSignsMix) {
  const Array a = array(kU8, {1, 2}, {255, 255}), b = array(kI8, {2, 1}, {-128, 127});
  EXPECT_EQ(run("matmul", MatmulAttrs{}, {a, b}, {{kI32, {1, 1}}})[0].get(0), -255);
  EXPECT_EQ(run("matmul", MatmulAttrs{}, {transposed(b), transposed(a)}, {{kI32, {2, 2}}})[0].get(1), -32640);
}

TEST(Matmul, HalvesAccumulateInFloat) {
  const Array ones = array(kF16, {1, 4096}, std::vector<double>(4096, 1)),
              b = array(kF16, {4096, 1}, std::vector<double>(4096, 1));
  EXPECT_EQ(run("matmul", MatmulAttrs{}, {ones, b}, {{kF16, {1, 1}}})[0].get(0), 4096);
  const Array large = array(kF16, {1, 2}, {60000, -60000}), two = array(kF16, {2, 1}, {4, 4});
  EXPECT_EQ(run("matmul", MatmulAttrs{}, {large, two}, {{kF16, {1, 1}}})[0].get(0), 0);
}

TEST(Matmul, ReluKeepsNaN) {
  const Array a = array(kF32, {4, 1}, {kNan, -kInf, kInf, -2}), one = array(kF32, {1, 1}, {1});
  const MatmulAttrs attrs{{{Epilogue::Relu}}};
  expect_close(machine(2).run("matmul", attrs, {a, one}, {{kF32, {4, 1}}})[0], {kNan, 0, kInf, 0});
  expect_close(product({a, one}, {Epilogue::Relu}, 1)[0], {kNan, 0, kInf, 0});
}

#ifdef STOKER_HAVE_ONEDNN
TEST(Matmul, DenseFloatsGoToTheLibrary) {
  Machine& m = machine(2);
  const Array a = values(kF32, {64, 64}, 1);
  for (const Array& x : {a, transposed(a)}) {
    m.run("matmul", MatmulAttrs{}, {x, a}, {{kF32, {64, 64}}});
    EXPECT_NE(m.described.find("onednn"), std::string::npos) << m.described;
  }
}
#endif

TEST(Matmul, SaysWhatItTakes) {
  for (DType d : all_dtypes()) EXPECT_TRUE(machine(1).supports("matmul", MatmulAttrs{}, {d, d}));
  EXPECT_TRUE(machine(1).supports("matmul", MatmulAttrs{}, {kU8, kI8}));
  EXPECT_FALSE(machine(1).supports("matmul", MatmulAttrs{}, {kBool, kBool}));
  EXPECT_FALSE(machine(1).supports("matmul", MatmulAttrs{}, {kF32, kF64}));
  EXPECT_FALSE(machine(1).supports("matmul", MatmulAttrs{{{Epilogue::Bias}}}, {kF32, kF32}));
}

}  // namespace
}  // namespace stoker::backends::test
