// batch_norm and its gradient, against sums in f64.
#include <cmath>

#include "backends/harness.h"

namespace stoker::backends::test {
namespace {

using graph::NormAttrs;

constexpr double kEps = 1e-5;

DType statistics_of(DType d) { return d == kF64 ? d : kF32; }

// What the formulas give, in f64.
struct Reference {
  std::vector<double> y, mean, rstd, dx, dweight, dbias;

  Reference(const Array& x, const Array& weight, const Array& bias, const Array& dy)
      : y(size_t(x.count())), dx(y.size()), channels(x.shape[1]), run(1) {
    for (int k = 2; k < x.shape.rank(); ++k) run *= x.shape[k];
    for (int64_t c = 0; c < channels; ++c) {
      std::vector<int64_t> places;
      for (int64_t i = 0; i < x.count(); ++i)
        if (i / run % channels == c) places.push_back(i);
      channel(places, x, weight.get(c), bias.get(c), dy);
    }
  }

 private:
  void channel(const std::vector<int64_t>& places, const Array& x, double weight, double bias, const Array& dy) {
    const double n = double(places.size());
    double m = 0, v = 0, g = 0, gx = 0;
    for (int64_t i : places) m += x.get(i) / n;
    for (int64_t i : places) v += (x.get(i) - m) * (x.get(i) - m) / n;
    const double r = 1 / std::sqrt(v + kEps);
    for (int64_t i : places) g += dy.get(i), gx += dy.get(i) * (x.get(i) - m) * r;
    for (int64_t i : places) {
      const double normal = (x.get(i) - m) * r;
      y[size_t(i)] = normal * weight + bias;
      dx[size_t(i)] = weight * r * (dy.get(i) - g / n - normal * gx / n);
    }
    mean.push_back(m), rstd.push_back(r), dweight.push_back(gx), dbias.push_back(g);
  }
  int64_t channels, run;
};

struct NormCase {
  Shape shape;
  DType dtype, weight;
};
class BatchNorm : public testing::TestWithParam<NormCase> {};

TEST_P(BatchNorm, AgreesWithTheFormulas) {
  const auto& [shape, d, of_weight] = GetParam();
  const DType s = statistics_of(d);
  const Shape channels{shape[1]};
  const Array x = pattern(d, shape, 1, 3), dy = pattern(d, shape, 2), weight = pattern(of_weight, channels, 3),
              bias = pattern(of_weight, channels, 4);
  const Reference r(x, weight, bias, dy);
  const double near = d == kF64 ? 1e-12 : d == kF32 ? 1e-5 : d == kF16 ? 0x1p-10 : 0x1p-7;
  const double near_statistics = d == kF64 ? 1e-12 : 1e-6;

  const std::vector<Array> f =
      run("batch_norm", NormAttrs{kEps}, {x, weight, bias}, {{d, shape}, {s, channels}, {s, channels}});
  expect_close(f[0], r.y, near);
  expect_close(f[1], r.mean, near_statistics);
  expect_close(f[2], r.rstd, near_statistics);

  const std::vector<Array> g = run("batch_norm_gradient", NormAttrs{kEps}, {dy, x, weight, f[1], f[2]},
                                   {{d, shape}, {of_weight, channels}, {of_weight, channels}});
  expect_close(g[0], r.dx, near);
  const double near_sums = of_weight == kF64 ? 1e-10 : of_weight == kF32 ? 1e-4 : 0x1p-7;
  expect_close(g[1], r.dweight, near_sums);
  expect_close(g[2], r.dbias, near_sums);
}
INSTANTIATE_TEST_SUITE_P(Cases, BatchNorm,
                         testing::Values(NormCase{{4, 3, 5, 5}, kF32, kF32}, NormCase{{2, 5, 40, 40}, kF32, kF32},
                                         NormCase{{700, 6}, kF32, kF32}, NormCase{{3, 4, 130}, kF32, kF32},
                                         NormCase{{3, 2, 3, 7, 29}, kF32, kF32}, NormCase{{1, 1, 1}, kF32, kF32},
                                         NormCase{{300, 2, 2}, kF32, kF32}, NormCase{{4, 3, 5, 5}, kF64, kF64},
                                         NormCase{{2, 3, 30, 30}, kF64, kF64}, NormCase{{4, 3, 5, 5}, kF16, kF32},
                                         NormCase{{2, 3, 30, 30}, kBF16, kF32}, NormCase{{2, 3, 30, 30}, kF16, kF16},
                                         NormCase{{9, 5}, kBF16, kBF16}, NormCase{{2, 600, 8, 8}, kF32, kF32}));

std::vector<Array> forward(const Array& x) {
  const Shape channels{x.shape[1]};
  const Array weight = array(kF32, channels, std::vector<double>(size_t(channels[0]), 1)), bias(kF32, channels);
  return run("batch_norm", NormAttrs{kEps}, {x, weight, bias}, {{kF32, x.shape}, {kF32, channels}, {kF32, channels}});
}

TEST(BatchNorm, ASmallSpreadFarFromZeroKeepsItsVariance) {
  Array x(kF32, {2, 1, 4000});
  for (int64_t i = 0; i < x.count(); ++i) x.set(i, 4096 + (i % 2 ? 0.125 : -0.125));
  const std::vector<Array> y = forward(x);
  EXPECT_EQ(y[1].get(0), 4096);
  EXPECT_NEAR(y[2].get(0), 1 / std::sqrt(0.125 * 0.125 + kEps), 1e-5);
}

TEST(BatchNorm, OneValueHasNoSpread) {
  const std::vector<Array> y = forward(array(kF32, {3, 1}, {0.7, 0.7, 0.7}));
  expect_close(y[0], {0, 0, 0});
  EXPECT_NEAR(y[2].get(0), 1 / std::sqrt(kEps), 1e-2);
}

TEST(BatchNorm, NaNStaysInItsChannel) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Array> y = forward(array(kF32, {2, 2}, {1, nan, 1, 5}));
  expect_close(y[0], {0, nan, 0, nan});
  EXPECT_TRUE(std::isnan(y[1].get(1)));
  EXPECT_TRUE(std::isnan(y[2].get(1)));
}

TEST(BatchNorm, NoSamplesHaveNoMean) {
  for (const Shape& shape : {Shape{0, 2, 3}, Shape{3, 2, 0}}) {
    const std::vector<Array> y = forward(Array(kF32, shape));
    EXPECT_EQ(y[0].count(), 0);
    EXPECT_TRUE(std::isnan(y[1].get(0)) && std::isnan(y[2].get(1)));
    const Array none(kF32, shape), weight = array(kF32, {2}, {1, 1});
    const std::vector<Array> g = run("batch_norm_gradient", NormAttrs{kEps}, {none, none, weight, y[1], y[2]},
                                     {{kF32, shape}, {kF32, {2}}, {kF32, {2}}});
    expect_close(g[1], {0, 0});
    expect_close(g[2], {0, 0});
  }
  EXPECT_EQ(forward(Array(kF32, {3, 0, 2}))[0].count(), 0);
}

}  // namespace
}  // namespace stoker::backends::test
