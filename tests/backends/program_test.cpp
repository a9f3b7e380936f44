// Fused programs: shapes, strides, dtypes, phases and reductions, against loops over elements.
#include <bit>
#include <cmath>

#include "backends/harness.h"
#include "graph/program.h"

namespace stoker::backends::test {
namespace {

using namespace graph;
using Access = ProgramArg::Access;
using Kind = ProgramInst::Kind;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

// Writes programs, one phase after the other.
class Writer {
 public:
  Writer() : program_(std::make_shared<Program>()) { program_->phases.emplace_back(); }

  int arg(DType dtype, Access access = Access::Element, bool output = false) {
    program_->args.push_back({dtype, access, output});
    return int(program_->args.size()) - 1;
  }
  int load(int a, bool row = false) { return load(a, lane_of(program_->args[size_t(a)].dtype), row); }
  int load(int a, Lane lane, bool row) {
    return add({Kind::Load, {.prim = Prim::Arg, .lane = lane}, a},
               row || program_->args[size_t(a)].access != Access::Element);
  }
  int op(Prim prim, int a, int b = -1, int c = -1, bool row = false) {
    return op(prim, lane(prim == Prim::Select ? b : a), a, b, c, row);
  }
  int op(Prim prim, Lane lane, int a, int b = -1, int c = -1, bool row = false, uint64_t imm = 0) {
    return add({Kind::Compute, {.prim = prim, .lane = lane, .a = a, .b = b, .c = c, .imm = imm}, -1}, row);
  }
  int literal(Lane lane, double v) {
    const uint64_t bits = lane == Lane::F32 || lane == Lane::F64 ? std::bit_cast<uint64_t>(v) : uint64_t(int64_t(v));
    return add({Kind::Compute, {.prim = Prim::Const, .lane = lane, .imm = bits}, -1}, true);
  }
  void store(int value, int a) {
    add({Kind::Store, {.prim = Prim::Arg, .lane = lane(value), .a = value}, a},
        program_->args[size_t(a)].access == Access::Row);
  }
  int keep(int value) {
    program_->row_buffers.push_back(lane(value));
    const int buffer = int(program_->row_buffers.size()) - 1;
    add({Kind::Keep, {.prim = Prim::Arg, .lane = lane(value), .a = value}, buffer}, false);
    return buffer;
  }
  int recall(int buffer) {
    return add({Kind::Recall, {.prim = Prim::Arg, .lane = program_->row_buffers[size_t(buffer)]}, buffer}, false);
  }
  // Ends the phase with reductions; returns their results in the next.
  std::vector<int> reduce(const std::vector<std::pair<int, ReduceKind>>& what) {
    std::vector<int> results;
    for (auto [value, kind] : what) {
      program_->code.push_back({Kind::Result, {.prim = Prim::Arg, .lane = lane(value)}, -1});
      results.push_back(int(program_->code.size()) - 1);
      program_->phases.back().reductions.push_back({value, results.back(), kind});
    }
    program_->phases.emplace_back();
    for (int r : results) program_->phases.back().row.push_back(r);
    return results;
  }

  Lane lane(int code) const {
    return program_->code[size_t(code)].kind == Kind::Compute ? program_->code[size_t(code)].expr.result()
                                                              : program_->code[size_t(code)].expr.lane;
  }
  std::shared_ptr<Program> program() const { return program_; }

 private:
  int add(ProgramInst inst, bool row) {
    program_->code.push_back(inst);
    const int id = int(program_->code.size()) - 1;
    (row ? program_->phases.back().row : program_->phases.back().column).push_back(id);
    return id;
  }
  std::shared_ptr<Program> program_;
};

// Strides of an argument over (rows..., column).
ProgramGeometry::Strides strides(const Dims& row, int64_t column) { return {row, column}; }

std::vector<Array> run_program(const Writer& w, ProgramGeometry geometry, const std::vector<Input>& inputs,
                               const std::vector<std::pair<DType, Shape>>& outputs, int over = -1) {
  FusedAttrs attrs{w.program(), std::move(geometry), {}, "test"};
  return run("fused", attrs, inputs, outputs, over);
}

// y = f(a, b) for one row of n elements.
Array binary(Prim prim, DType dtype, const std::vector<double>& a, const std::vector<double>& b, DType result) {
  Writer w;
  const int x = w.arg(dtype), y = w.arg(dtype), z = w.arg(result, Access::Element, true);
  w.store(w.op(prim, w.load(x), w.load(y)), z);
  const int64_t n = int64_t(a.size());
  return run_program(w, {{}, n, {strides({}, 1), strides({}, 1), strides({}, 1)}},
                     {array(dtype, {n}, a), array(dtype, {n}, b)}, {{result, {n}}})[0];
}
Array unary(Prim prim, DType dtype, const std::vector<double>& a, DType result, Lane lane, uint64_t imm = 0) {
  Writer w;
  const int x = w.arg(dtype), z = w.arg(result, Access::Element, true);
  w.store(w.op(prim, lane, w.load(x), -1, -1, false, imm), z);
  const int64_t n = int64_t(a.size());
  return run_program(w, {{}, n, {strides({}, 1), strides({}, 1)}}, {array(dtype, {n}, a)}, {{result, {n}}})[0];
}

TEST(Program, MinAndMaxGiveNaNIfEitherIs) {
  for (DType d : {kF32, kF64}) {
    expect_close(binary(Prim::Min, d, {1, kNan, 2, -kInf}, {2, 1, kNan, 3}, d), {1, kNan, kNan, -kInf});
    expect_close(binary(Prim::Max, d, {1, kNan, 2, -kInf}, {2, 1, kNan, 3}, d), {2, kNan, kNan, 3});
  }
}

TEST(Program, ComparisonsAreOrderedButNotEqual) {
  for (DType d : {kF32, kF64}) {
    expect_close(binary(Prim::Lt, d, {1, kNan, 2}, {2, 1, 2}, kI32), {1, 0, 0});
    expect_close(binary(Prim::Le, d, {1, kNan, 2}, {2, 1, 2}, kI32), {1, 0, 1});
    expect_close(binary(Prim::Eq, d, {1, kNan, 2}, {2, kNan, 2}, kI32), {0, 0, 1});
    expect_close(binary(Prim::Ne, d, {1, kNan, 2}, {2, kNan, 2}, kI32), {1, 1, 0});
  }
  for (DType d : {kI32, kI64}) {
    expect_close(binary(Prim::Lt, d, {-1, 3, 2}, {1, 2, 2}, kI32), {1, 0, 0});
    expect_close(binary(Prim::Le, d, {-1, 3, 2}, {1, 2, 2}, kI32), {1, 0, 1});
  }
}

TEST(Program, IntegerDivisionTruncatesAndNeverTraps) {
  const double lowest = -2147483648.0;
  expect_close(binary(Prim::Div, kI32, {8, -8, 7, -7, 5, lowest}, {-3, 3, -2, 2, 0, -1}, kI32),
               {-2, -2, -3, -3, 0, lowest});
  expect_close(binary(Prim::Div, kI64, {8, -8, 7, -7, 5, -0x1p63}, {-3, 3, -2, 2, 0, -1}, kI64),
               {-2, -2, -3, -3, 0, -0x1p63});
}

TEST(Program, IntegerRemainderHasTheDivisorsSign) {
  for (DType d : {kI32, kI64})
    expect_close(binary(Prim::Rem, d, {-4, 7, 5, 4, -7, 8, 1}, {2, -3, 8, -2, 3, 5, 0}, d), {0, -2, 5, 0, 2, 3, 0});
  expect_close(binary(Prim::Rem, kI32, {-2147483648.0}, {-1}, kI32), {0});
}

TEST(Program, FloatRemainderHasTheDividendsSign) {
  for (DType d : {kF32, kF64}) expect_close(binary(Prim::Rem, d, {-5.5, 5.5}, {2, -2}, d), {-1.5, 1.5});
}

TEST(Program, IntegersWrap) {
  expect_close(binary(Prim::Add, kI32, {2147483647}, {1}, kI32), {-2147483648.0});
  expect_close(binary(Prim::Mul, kI32, {65536}, {65536}, kI32), {0});
  expect_close(binary(Prim::Add, kU8, {250}, {10}, kU8), {4});
  expect_close(binary(Prim::Add, kI8, {127}, {1}, kI8), {-128});
  expect_close(unary(Prim::Abs, kI32, {-2147483648.0, -3}, kI32, Lane::I32), {-2147483648.0, 3});
}

TEST(Program, RoundingIsHalfToEven) {
  const std::vector<double> x{0.5, 1.5, 2.5, -0.5, -1.5, 0x1p30, kInf};
  const std::vector<double> expected{0, 2, 2, 0, -2, 0x1p30, kInf};
  expect_close(unary(Prim::Round, kF32, x, kF32, Lane::F32), expected);
  expect_close(unary(Prim::Round, kF64, x, kF64, Lane::F64), expected);
}

TEST(Program, FloatsBecomeIntegersBySaturation) {
  const std::vector<double> x{1.9, -1.9, 3e9, -3e9, kInf, -kInf, kNan, 2147483520.0};
  const double top = 2147483647, low = -2147483648.0;
  const std::vector<double> expected{1, -1, top, low, top, low, 0, 2147483520.0};
  expect_close(unary(Prim::Cast, kF32, x, kI32, Lane::I32), expected);
  expect_close(unary(Prim::Cast, kF64, x, kI32, Lane::I32), expected);
  expect_close(unary(Prim::Cast, kF64, {1e19, -1e19, kNan, -7.5}, kI64, Lane::I64), {0x1p63, -0x1p63, 0, -7});
  expect_close(unary(Prim::Cast, kF32, {1e19, -1e19, kNan, -7.5}, kI64, Lane::I64), {0x1p63, -0x1p63, 0, -7});
}

TEST(Program, NarrowWrapsIntegersAndRoundsFloats) {
  expect_close(unary(Prim::Narrow, kI32, {300, -1}, kI32, Lane::I32, uint64_t(kU8)), {44, 255});
  expect_close(unary(Prim::Narrow, kI32, {200, -129}, kI32, Lane::I32, uint64_t(kI8)), {-56, 127});
  expect_close(unary(Prim::Narrow, kI64, {0x1p32 + 5}, kI64, Lane::I64, uint64_t(kI32)), {5});
  expect_close(unary(Prim::Narrow, kF32, {1 + 0x1p-8, 1 + 3 * 0x1p-8}, kF32, Lane::F32, uint64_t(kBF16)),
               {1, 1 + 0x1p-6});
  expect_close(unary(Prim::Narrow, kF32, {65519, 65520, 1 + 0x1p-11}, kF32, Lane::F32, uint64_t(kF16)),
               {65504, kInf, 1});
}

TEST(Program, ShiftsTakeCountsModuloTheWidth) {
  expect_close(binary(Prim::Shl, kI32, {1, 1, 3}, {31, 32, 1}, kI32), {-2147483648.0, 1, 6});
  expect_close(binary(Prim::Shr, kI32, {-8, -8}, {1, 33}, kI32), {-4, -4});
  expect_close(binary(Prim::ShrLogical, kI32, {-1}, {28}, kI32), {15});
  expect_close(binary(Prim::ShrLogical, kI64, {-1}, {60}, kI64), {15});
}

TEST(Program, FmaRoundsOnce) {
  Writer w;
  const int x = w.arg(kF32), y = w.arg(kF32, Access::Element, true);
  const int v = w.load(x);
  w.store(w.op(Prim::Fma, v, v, w.op(Prim::Neg, w.op(Prim::Mul, v, v))), y);
  const float a = 1 + 0x1p-12f;
  expect_close(run_program(w, {{}, 1, {strides({}, 1), strides({}, 1)}}, {array(kF32, {1}, {a})}, {{kF32, {1}}})[0],
               {0x1p-24});
}

TEST(Program, EveryDTypeIsLoadedAndStored) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType d = DType(i);
    for (int64_t n : {1, 7, 64, 513, 5000}) {
      Writer w;
      const int x = w.arg(d), y = w.arg(d, Access::Element, true);
      w.store(w.load(x), y);
      Array in(d, {n});
      for (int64_t k = 0; k < n; ++k) in.set(k, d == kBool ? double(k % 3 == 0) : double(k % 100));
      const Array out = run_program(w, {{}, n, {strides({}, 1), strides({}, 1)}}, {in}, {{d, {n}}})[0];
      EXPECT_TRUE(out.same_bits(in)) << name_of(d) << " " << n;
    }
  }
}

TEST(Program, StoresConvertBetweenLanes) {
  Writer w;
  const int x = w.arg(kF32), b = w.arg(kBool, Access::Element, true), h = w.arg(kF16, Access::Element, true),
            q = w.arg(kI64, Access::Element, true), d = w.arg(kF64, Access::Element, true);
  const int v = w.load(x);
  for (int out : {b, h, q, d}) w.store(v, out);
  const std::vector<double> in{0, 0.5, -2.75, 65504};
  const auto s = strides({}, 1);
  const auto out = run_program(w, {{}, 4, {s, s, s, s, s}}, {array(kF32, {4}, in)},
                               {{kBool, {4}}, {kF16, {4}}, {kI64, {4}}, {kF64, {4}}});
  expect_close(out[0], {0, 1, 1, 1});
  expect_close(out[1], in);
  expect_close(out[2], {0, 0, -2, 65504});
  expect_close(out[3], in);
}

// y[i][j][k] = a[i][j][k] * r[j] + c[k] + s, over rows (i, j) and columns k, for many extents and strides.
struct WalkCase {
  int64_t i, j, k;
  int layout;  // 0: dense, 1: a permuted, 2: a reversed along k, 3: every second element, 4: a constant along i
};
class Walk : public testing::TestWithParam<WalkCase> {};

TEST_P(Walk, ReadsAnyStrides) {
  const auto [I, J, K, layout] = GetParam();
  Array a = pattern(kF32, {I * J * K * 2 + 1}, 3);
  Dims s{J * K, K, 1};
  if (layout == 1) s = {1, I, I * J};
  if (layout == 2) a.offset = K - 1, s = {J * K, K, -1};
  if (layout == 3) s = {2 * J * K, 2 * K, 2};
  if (layout == 4) s = {0, K, 1};
  a.shape = {I, J, K};
  a.strides = s;
  const Array r = pattern(kF64, {J}, 5), c = pattern(kF32, {K}, 7);
  Writer w;
  const int xa = w.arg(kF32), xr = w.arg(kF64, Access::Row), xc = w.arg(kF32), xs = w.arg(kF32, Access::Scalar),
            xy = w.arg(kF32, Access::Element, true);
  const int row = w.op(Prim::Cast, Lane::F32, w.load(xr), -1, -1, true);
  const int product = w.op(Prim::Mul, w.load(xa), row);
  w.store(w.op(Prim::Add, w.op(Prim::Add, product, w.load(xc)), w.load(xs)), xy);
  const ProgramGeometry g{{I, J},
                          K,
                          {strides({s[0], s[1]}, s[2]), strides({0, 1}, 0), strides({0, 0}, 1), strides({0, 0}, 0),
                           strides({J * K, K}, 1)}};
  const Array y = run_program(w, g, {a, r, c, Number::real(0.25)}, {{kF32, {I, J, K}}})[0];
  for (int64_t i = 0; i < I; ++i)
    for (int64_t j = 0; j < J; ++j)
      for (int64_t k = 0; k < K; ++k) {
        const float x = a.as<float>()[a.offset + i * s[0] + j * s[1] + k * s[2]];
        const float expected = x * float(r.get(j)) + float(c.get(k)) + 0.25f;
        ASSERT_EQ(y.get((i * J + j) * K + k), double(expected)) << i << " " << j << " " << k;
      }
}
std::vector<WalkCase> walk_cases() {
  std::vector<WalkCase> cases;
  for (int layout = 0; layout < 5; ++layout)
    for (auto [i, j, k] : {std::tuple{1, 1, 1},
                           {3, 5, 1},
                           {4, 3, 7},
                           {2, 65, 49},
                           {7, 5, 196},
                           {3, 2, 512},
                           {2, 3, 513},
                           {3, 2, 5000},
                           {1, 1, 40000},
                           {600, 2, 1},
                           {0, 3, 4},
                           {2, 3, 0}})
      cases.push_back({i, j, k, layout});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Extents, Walk, testing::ValuesIn(walk_cases()));

// Columns reduced in the order of graph/program.h, by hand.
template <class T, class F>
T reduce_in_order(const T* x, int64_t n, T identity, F f) {
  T total = identity;
  for (int64_t b = 0; b < n; b += kReduceBlock) {
    std::vector<T> lanes(size_t(kReduceLanes), identity);
    for (int64_t i = b; i < std::min(n, b + kReduceBlock); ++i)
      lanes[size_t((i - b) % kReduceLanes)] = f(lanes[size_t((i - b) % kReduceLanes)], x[i]);
    for (int64_t half = kReduceLanes / 2; half > 0; half /= 2)
      for (int64_t j = 0; j < half; ++j) lanes[size_t(j)] = f(lanes[size_t(j)], lanes[size_t(j + half)]);
    total = f(total, lanes[0]);
  }
  return total;
}

class RowReduction : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(RowReduction, AddsInTheDocumentedOrder) {
  const auto [rows, columns] = GetParam();
  Writer w;
  const int x = w.arg(kF32), s = w.arg(kF32, Access::Row, true), m = w.arg(kF32, Access::Row, true);
  const int v = w.load(x);
  const auto results = w.reduce({{v, ReduceKind::Sum}, {v, ReduceKind::Max}});
  w.store(results[0], s);
  w.store(results[1], m);
  Array in(kF32, {rows, columns});
  for (int64_t i = 0; i < in.count(); ++i) in.as<float>()[i] = float(std::sin(double(i) * 0.37)) * 3.3f;
  const auto out = run_program(w, {{rows}, columns, {strides({columns}, 1), strides({1}, 0), strides({1}, 0)}}, {in},
                               {{kF32, {rows}}, {kF32, {rows}}});
  for (int64_t r = 0; r < rows; ++r) {
    const float* p = in.as<float>() + r * columns;
    EXPECT_EQ(float(out[0].get(r)), reduce_in_order<float>(p, columns, 0, std::plus<float>())) << r;
    EXPECT_EQ(float(out[1].get(r)),
              reduce_in_order<float>(p, columns, -INFINITY, [](float a, float b) { return std::max(a, b); }))
        << r;
  }
}
INSTANTIATE_TEST_SUITE_P(Extents, RowReduction,
                         testing::Combine(testing::Values(1, 2, 5, 130),
                                          testing::Values(0, 1, 3, 10, 33, 64, 65, 200, 512, 513, 1000, 16384, 16385,
                                                          50001)));

TEST(Program, SumsOfOneNegativeZeroArePositive) {
  Writer w;
  const int x = w.arg(kF32), s = w.arg(kF32, Access::Row, true);
  w.store(w.reduce({{w.load(x), ReduceKind::Sum}})[0], s);
  const Array y =
      run_program(w, {{1}, 1, {strides({1}, 1), strides({1}, 0)}}, {array(kF32, {1}, {-0.0})}, {{kF32, {1}}})[0];
  EXPECT_FALSE(std::signbit(y.get(0)));
}

TEST(Program, ReductionsOfEveryLaneAndKind) {
  for (DType d : {kF32, kF64, kI32, kI64}) {
    Writer w;
    const int x = w.arg(d);
    std::vector<int> outs;
    for (int i = 0; i < 4; ++i) outs.push_back(w.arg(d, Access::Row, true));
    const int v = w.load(x);
    const auto r = w.reduce({{v, ReduceKind::Sum}, {v, ReduceKind::Prod}, {v, ReduceKind::Max}, {v, ReduceKind::Min}});
    for (int i = 0; i < 4; ++i) w.store(r[size_t(i)], outs[size_t(i)]);
    const auto s = strides({1}, 0);
    const auto out = run_program(w, {{2}, 3, {strides({3}, 1), s, s, s, s}}, {array(d, {2, 3}, {1, -2, 4, 3, 5, -7})},
                                 {{d, {2}}, {d, {2}}, {d, {2}}, {d, {2}}});
    expect_close(out[0], {3, 1});
    expect_close(out[1], {-8, -105});
    expect_close(out[2], {4, 5});
    expect_close(out[3], {-2, -7});
  }
}

TEST(Program, MaximumOfARowWithNaNIsNaN) {
  for (DType d : {kF32, kF64}) {
    Writer w;
    const int x = w.arg(d), m = w.arg(d, Access::Row, true);
    w.store(w.reduce({{w.load(x), ReduceKind::Max}})[0], m);
    for (int64_t n : {3, 700}) {
      Array in(d, {2, n});
      in.set(1, kNan);
      const Array out = run_program(w, {{2}, n, {strides({n}, 1), strides({1}, 0)}}, {in}, {{d, {2}}})[0];
      expect_close(out, {kNan, 0});
    }
  }
}

// A softmax without exp: e = (x - max)^2, y = e / sum(e); kept between phases.
class Softmax : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(Softmax, RunsInPhases) {
  const auto [rows, columns] = GetParam();
  Writer w;
  const int x = w.arg(kF32), y = w.arg(kF32, Access::Element, true), total = w.arg(kF32, Access::Row, true);
  const int max = w.reduce({{w.load(x), ReduceKind::Max}})[0];
  const int d = w.op(Prim::Sub, w.load(x), max);
  const int e = w.op(Prim::Mul, d, d), buffer = w.keep(e);
  const int sum = w.reduce({{e, ReduceKind::Sum}})[0];
  const int inverse = w.op(Prim::Div, w.literal(Lane::F32, 1), sum, -1, true);
  w.store(sum, total);
  w.store(w.op(Prim::Mul, w.recall(buffer), inverse), y);
  const Array in = pattern(kF32, {rows, columns}, 11);
  const auto out = run_program(w, {{rows}, columns, {strides({columns}, 1), strides({columns}, 1), strides({1}, 0)}},
                               {in}, {{kF32, {rows, columns}}, {kF32, {rows}}});
  for (int64_t r = 0; r < rows; ++r) {
    const float* p = in.as<float>() + r * columns;
    const float top = *std::max_element(p, p + columns);
    std::vector<float> square;
    for (int64_t c = 0; c < columns; ++c) square.push_back((p[c] - top) * (p[c] - top));
    const float s = reduce_in_order<float>(square.data(), columns, 0, std::plus<float>());
    ASSERT_EQ(float(out[1].get(r)), s);
    for (int64_t c = 0; c < columns; ++c)
      ASSERT_EQ(float(out[0].get(r * columns + c)), square[size_t(c)] * (1 / s)) << r << " " << c;
  }
}
INSTANTIATE_TEST_SUITE_P(Extents, Softmax,
                         testing::Combine(testing::Values(1, 4, 77),
                                          testing::Values(2, 10, 100, 511, 700, 20000, 40000)));

TEST(Program, OutputsMayLieOverInputs) {
  // y = x * 2 over x, and z = x + 1 computed after it.
  for (int64_t n : {5, 700, 40000}) {
    Writer w;
    const int x = w.arg(kF32), y = w.arg(kF32, Access::Element, true), z = w.arg(kF32, Access::Element, true);
    const int v = w.load(x);
    w.store(w.op(Prim::Mul, v, w.literal(Lane::F32, 2)), y);
    w.store(w.op(Prim::Add, v, w.literal(Lane::F32, 1)), z);
    const Array in = pattern(kF32, {n});
    const auto s = strides({}, 1);
    const auto out = run_program(w, {{}, n, {s, s, s}}, {in}, {{kF32, {n}}, {kF32, {n}}}, 0);
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(out[0].get(i), in.get(i) * 2);
      ASSERT_EQ(out[1].get(i), in.get(i) + 1);
    }
  }
}

TEST(Program, ScalarsArriveAtEachLaunch) {
  for (auto [dtype, number, expected] : {std::tuple{kF32, Number::real(0.1), double(0.1f)},
                                         {kF64, Number::real(0.1, kF64), 0.1},
                                         {kI32, Number::integer(-3, kI32), -3.0},
                                         {kI64, Number::integer(INT64_C(1) << 40), 0x1p40}}) {
    Writer w;
    const int s = w.arg(dtype, Access::Scalar), y = w.arg(dtype, Access::Element, true);
    w.store(w.load(s), y);
    const Array out = run_program(w, {{}, 700, {strides({}, 0), strides({}, 1)}}, {number}, {{dtype, {700}}})[0];
    expect_close(out, std::vector<double>(700, expected));
  }
}

TEST(Program, FunctionsOfDoublesComeFromTheCLibrary) {
  const std::vector<double> x{0.25, 0.5, 0.75};
  const std::pair<Prim, double (*)(double)> functions[] = {
      {Prim::Exp, std::exp},   {Prim::Log, std::log},   {Prim::Sin, std::sin},      {Prim::Cos, std::cos},
      {Prim::Tanh, std::tanh}, {Prim::Erf, std::erf},   {Prim::Log1p, std::log1p},  {Prim::Expm1, std::expm1},
      {Prim::Atan, std::atan}, {Prim::Asin, std::asin}, {Prim::Acos, std::acos},    {Prim::Sinh, std::sinh},
      {Prim::Cosh, std::cosh}, {Prim::Tan, std::tan},   {Prim::Lgamma, std::lgamma}};
  for (auto [prim, f] : functions) expect_close(unary(prim, kF64, x, kF64, Lane::F64), {f(0.25), f(0.5), f(0.75)});
  expect_close(binary(Prim::Pow, kF64, {2, 3}, {0.5, -1}, kF64), {std::pow(2.0, 0.5), 1.0 / 3});
}

TEST(Program, FloatFunctionsMustHaveBeenExpanded) {
  EXPECT_THROW(unary(Prim::Exp, kF32, {1}, kF32, Lane::F32), Unsupported);
}

TEST(Program, WalksBeyondMemoryAreRefused) {
  Writer w;
  const int x = w.arg(kF32), y = w.arg(kF32, Access::Element, true);
  w.store(w.load(x), y);
  EXPECT_THROW(run_program(w, {{}, 8, {strides({}, 2), strides({}, 1)}}, {pattern(kF32, {8})}, {{kF32, {8}}}),
               std::logic_error);
}

}  // namespace
}  // namespace stoker::backends::test
