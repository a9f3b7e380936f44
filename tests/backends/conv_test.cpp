// conv2d and its gradients by oneDNN and by the portable kernels. Inputs are small multiples of 1/64, so that sums are
// exact in f32 and every result is that of the float64 loops here, rounded once.
#include "backends/cpu/kernels/conv.h"

#include "backends/direct.h"

namespace stoker::backends::test {
namespace {

using cpu::ConvKind;
using graph::ConvAttrs;
using graph::Epilogue;

struct Problem {
  Shape x, w;
  ConvAttrs attrs;

  Shape y() const {
    const auto extent = [&](int i) {
      const int64_t window = attrs.dilation[i] * (w[i + 2] - 1) + 1;
      return (x[i + 2] + attrs.padding_low[i] + attrs.padding_high[i] - window) / attrs.stride[i] + 1;
    };
    return {x[0], w[0], extent(0), extent(1)};
  }
  // Calls f(element of x, of w, of y) for every product of the convolution.
  template <class F>
  void for_each_product(const F& f) const {
    const Shape out = y();
    const int64_t outputs = w[0] / attrs.groups;
    for (int64_t i = 0; i < numel(out); ++i) {
      const int64_t ox = i % out[3], oy = i / out[3] % out[2], o = i / (out[3] * out[2]) % out[1],
                    n = i / (out[3] * out[2] * out[1]);
      for (int64_t k = 0; k < w[1] * w[2] * w[3]; ++k) {
        const int64_t kx = k % w[3], ky = k / w[3] % w[2], c = o / outputs * w[1] + k / (w[3] * w[2]);
        const int64_t iy = oy * attrs.stride[0] - attrs.padding_low[0] + ky * attrs.dilation[0];
        const int64_t ix = ox * attrs.stride[1] - attrs.padding_low[1] + kx * attrs.dilation[1];
        if (iy >= 0 && iy < x[2] && ix >= 0 && ix < x[3])
          f(((n * x[1] + c) * x[2] + iy) * x[3] + ix, o * w[1] * w[2] * w[3] + k, i);
      }
    }
  }
  ConvAttrs gradient(ConvKind kind, bool bias = false) const {
    ConvAttrs a = attrs;
    a.epilogue = {};
    a.target = kind == ConvKind::InputGradient ? x : w;
    a.bias = bias;
    return a;
  }
};

const char* name_of_kind(ConvKind kind) {
  return kind == ConvKind::Forward         ? "conv2d"
         : kind == ConvKind::InputGradient ? "conv2d_input_gradient"
                                           : "conv2d_weight_gradient";
}

using Types = std::vector<std::pair<DType, Shape>>;

// The portable kernel, and the one that the table chooses, on one, two and three threads.
void check(ConvKind kind, const ConvAttrs& attrs, const std::vector<Array>& in, const std::vector<Array>& want,
           double tolerance) {
  Types types;
  for (const Array& a : want) types.push_back({a.dtype, a.shape});
  const auto portable = [kind](const StepRequest& r) { return cpu::lower_portable_conv(kind, r); };
  for (int threads : {1, 2, 3}) {
    const auto chosen = machine(threads).run(name_of_kind(kind), attrs, {in.begin(), in.end()}, types);
    SCOPED_TRACE(std::string(name_of_kind(kind)) + " " + machine(threads).described + " " +
                 graph::Attrs(attrs).print());
    for (size_t i = 0; i < want.size(); ++i) expect_close(chosen[i], want[i].values(), tolerance);
    if (is_half(in[0].dtype)) continue;  // computed in f32
    const auto own = run_direct(portable, name_of_kind(kind), attrs, in, types, threads);
    for (size_t i = 0; i < want.size(); ++i) expect_close(own[i], want[i].values());
  }
}

void check_forward(const Problem& p, DType d, double tolerance) {
  const Array x = pattern(d, p.x, 1), w = pattern(d, p.w, 2);
  std::vector<double> y(size_t(numel(p.y())), 0);
  p.for_each_product([&](int64_t i, int64_t k, int64_t o) { y[size_t(o)] += x.get(i) * w.get(k); });
  std::vector<Array> in{x, w};
  const int64_t plane = p.y()[2] * p.y()[3];
  for (Epilogue step : p.attrs.epilogue.steps) {
    if (step == Epilogue::Bias) in.push_back(pattern(d, {p.w[0]}, 3));
    if (step == Epilogue::Add) in.push_back(pattern(d, p.y(), 4));
    for (size_t i = 0; i < y.size(); ++i) {
      if (step == Epilogue::Bias) y[i] += in.back().get(int64_t(i) / plane % p.w[0]);
      if (step == Epilogue::Add) y[i] += in.back().get(int64_t(i));
      if (step == Epilogue::Relu) y[i] = y[i] < 0 ? 0 : y[i];
    }
  }
  check(ConvKind::Forward, p.attrs, in, {array(d, p.y(), y)}, tolerance);
}

void check_gradients(const Problem& p, DType d, double tolerance) {
  const Array x = pattern(d, p.x, 1), w = pattern(d, p.w, 2), dy = pattern(d, p.y(), 5);
  std::vector<double> dx(size_t(x.count()), 0), dw(size_t(w.count()), 0), db(size_t(p.w[0]), 0);
  p.for_each_product([&](int64_t i, int64_t k, int64_t o) {
    dx[size_t(i)] += w.get(k) * dy.get(o);
    dw[size_t(k)] += x.get(i) * dy.get(o);
  });
  for (int64_t i = 0; i < dy.count(); ++i) db[size_t(i / (p.y()[2] * p.y()[3]) % p.w[0])] += dy.get(i);
  check(ConvKind::InputGradient, p.gradient(ConvKind::InputGradient), {dy, w}, {array(d, p.x, dx)}, tolerance);
  check(ConvKind::WeightGradient, p.gradient(ConvKind::WeightGradient), {x, dy}, {array(d, p.w, dw)}, tolerance);
  check(ConvKind::WeightGradient, p.gradient(ConvKind::WeightGradient, true), {x, dy},
        {array(d, p.w, dw), array(d, {p.w[0]}, db)}, tolerance);
}

ConvAttrs geometry(Dims stride, Dims low, Dims high, Dims dilation = {1, 1}, int64_t groups = 1) {
  ConvAttrs attrs;
  attrs.stride = stride, attrs.padding_low = low, attrs.padding_high = high, attrs.dilation = dilation,
  attrs.groups = groups;
  return attrs;
}
ConvAttrs padded(int64_t padding, int64_t groups = 1) {
  return geometry({1, 1}, {padding, padding}, {padding, padding}, {1, 1}, groups);
}

std::vector<Problem> problems() {
  return {
      {{2, 1, 6, 5}, {3, 1, 3, 3}, padded(1)},
      {{1, 3, 4, 4}, {5, 3, 1, 1}, {}},
      {{3, 4, 7, 9}, {6, 4, 3, 2}, geometry({2, 1}, {0, 1}, {2, 0})},
      {{2, 4, 9, 8}, {6, 2, 3, 3}, geometry({1, 2}, {2, 1}, {1, 3}, {2, 1}, 2)},
      {{2, 6, 5, 5}, {6, 1, 3, 3}, padded(1, 6)},
      {{2, 16, 10, 10}, {32, 16, 3, 3}, padded(1)},
      {{2, 32, 9, 9}, {64, 32, 3, 3}, geometry({2, 2}, {1, 1}, {1, 1})},
      {{2, 16, 8, 8}, {16, 1, 3, 3}, padded(1, 16)},
      {{1, 20, 7, 7}, {24, 20, 3, 3}, geometry({1, 1}, {1, 0}, {0, 2})},
      {{2, 3, 11, 12}, {8, 3, 5, 4}, geometry({3, 3}, {4, 3}, {0, 1}, {1, 2})},
      {{2, 2, 1, 70}, {3, 2, 1, 5}, geometry({1, 1}, {0, 2}, {0, 2})},
      {{2, 1, 12, 11}, {32, 1, 3, 3}, padded(1)},
      {{2, 16, 8, 9}, {24, 16, 1, 1}, {}},
      {{2, 8, 9, 9}, {16, 8, 1, 1}, geometry({2, 2}, {1, 1}, {1, 1})},
      {{1, 2, 3, 3}, {2, 2, 2, 2}, padded(5)},                         // windows of padding alone
      {{2, 2, 7, 7}, {2, 2, 2, 2}, geometry({4, 4}, {0, 0}, {0, 0})},  // elements that no window sees
  };
}

// oneDNN may choose Winograd, which rounds.
double tolerance_of(DType d) { return d == kF64 ? 0 : d == kF16 ? 0x1p-10 : d == kBF16 ? 0x1p-7 : 3e-5; }

TEST(Conv, EveryGeometryAndDtype) {
  for (const Problem& p : problems())
    for (DType d : {kF32, kF64, kF16, kBF16}) {
      const double tolerance = tolerance_of(d);
      check_forward(p, d, tolerance);
      check_gradients(p, d, tolerance);
    }
}

TEST(Conv, EpilogueRunsInOrder) {
  const std::vector<std::vector<Epilogue>> lists{{Epilogue::Bias},
                                                 {Epilogue::Add},
                                                 {Epilogue::Relu},
                                                 {Epilogue::Bias, Epilogue::Relu},
                                                 {Epilogue::Bias, Epilogue::Add, Epilogue::Relu},
                                                 {Epilogue::Relu, Epilogue::Bias},
                                                 {Epilogue::Add, Epilogue::Relu, Epilogue::Add}};
  for (Problem p : {problems()[0], problems()[3], problems()[5], problems()[6]})
    for (const auto& steps : lists) {
      p.attrs.epilogue.steps = steps;
      for (DType d : {kF32, kF64, kBF16}) check_forward(p, d, tolerance_of(d));
    }
}

TEST(Conv, GradientsAreTheSlopes) {  // central differences of sum(y * dy), which is linear in x and w
  const Problem p = problems()[3];
  const Array x = pattern(kF64, p.x, 1), w = pattern(kF64, p.w, 2), dy = pattern(kF64, p.y(), 3);
  Machine& m = machine(2);
  const auto loss = [&](const Array& xs, const Array& ws) {
    const Array y = m.run("conv2d", p.attrs, {xs, ws}, {{kF64, p.y()}})[0];
    double sum = 0;
    for (int64_t i = 0; i < y.count(); ++i) sum += y.get(i) * dy.get(i);
    return sum;
  };
  const auto slopes = [&](bool of_x) {
    std::vector<double> out;
    for (int64_t i = 0; i < (of_x ? x : w).count(); ++i) {
      Array low = of_x ? x : w, high = low;
      low.set(i, low.get(i) - 0.5), high.set(i, high.get(i) + 0.5);
      out.push_back(of_x ? loss(high, w) - loss(low, w) : loss(x, high) - loss(x, low));
    }
    return out;
  };
  expect_close(m.run("conv2d_input_gradient", p.gradient(ConvKind::InputGradient), {dy, w}, {{kF64, p.x}})[0],
               slopes(true), 1e-12);
  expect_close(m.run("conv2d_weight_gradient", p.gradient(ConvKind::WeightGradient), {x, dy}, {{kF64, p.w}})[0],
               slopes(false), 1e-12);
}

TEST(Conv, EmptyBatchesAndChannels) {
  for (DType d : {kF32, kF64}) {
    for (const Problem& p : {Problem{{0, 2, 4, 4}, {3, 2, 3, 3}, {}}, Problem{{2, 2, 4, 4}, {0, 2, 3, 3}, {}},
                             Problem{{2, 0, 4, 4}, {3, 0, 3, 3}, {}}}) {
      check_forward(p, d, 0);
      check_gradients(p, d, 0);
    }
    Problem biased{{2, 0, 4, 4}, {3, 0, 3, 3}, {}};
    biased.attrs.epilogue.steps = {Epilogue::Bias, Epilogue::Relu};
    check_forward(biased, d, 0);
  }
}

TEST(Conv, SameBitsAgain) {
  const Problem p{{32, 8, 12, 12}, {16, 8, 3, 3}, padded(1)};
  Array x = pattern(kF32, p.x, 1), dy = pattern(kF32, p.y(), 2);
  for (int64_t i = 0; i < x.count(); ++i) x.as<float>()[i] *= 1.1f;
  const auto attrs = p.gradient(ConvKind::WeightGradient);
  const auto run = [&] { return machine(2).run("conv2d_weight_gradient", attrs, {x, dy}, {{kF32, p.w}})[0]; };
  EXPECT_TRUE(run().same_bits(run()));
  const auto own = [&](int threads) {
    return run_direct([](const StepRequest& r) { return cpu::lower_portable_conv(ConvKind::WeightGradient, r); },
                      "conv2d_weight_gradient", attrs, {x, dy}, {{kF32, p.w}}, threads)[0];
  };
  EXPECT_TRUE(own(1).same_bits(own(2)) && own(1).same_bits(own(3)));
}

TEST(Conv, ReluKeepsNaN) {
  for (int64_t channels : {1, 16}) {
    Array x(kF32, {1, channels, 4, 4}), w(kF32, {16, channels, 1, 1});
    for (int64_t i = 0; i < w.count(); ++i) w.set(i, -1);
    x.set(5, std::numeric_limits<double>::quiet_NaN()), x.set(6, 3);
    ConvAttrs attrs;
    attrs.epilogue.steps = {Epilogue::Relu};
    const Array y = machine(2).run("conv2d", attrs, {x, w}, {{kF32, {1, 16, 4, 4}}})[0];
    EXPECT_TRUE(std::isnan(y.get(5))) << machine(2).described;
    EXPECT_EQ(y.get(6), 0);
  }
}

TEST(Conv, SaysWhatItTakes) {
  for (const char* op : {"conv2d", "conv2d_input_gradient", "conv2d_weight_gradient"}) {
    for (DType d : {kF16, kBF16, kF32, kF64}) EXPECT_TRUE(machine(1).supports(op, ConvAttrs{}, {d, d}));
    EXPECT_FALSE(machine(1).supports(op, ConvAttrs{}, {kI32, kI32}));
    EXPECT_FALSE(machine(1).supports(op, ConvAttrs{}, {kF32, kF64}));
  }
}

}  // namespace
}  // namespace stoker::backends::test
