// How exact the functions of compiler/fusion/functions.cpp are: every 997th float, and all that are special, against
// the C library in double precision. The largest errors are written down, so that a change for the worse fails.
#include <gtest/gtest.h>
#include <stoker/ops.h>

#include <bit>
#include <cmath>
#include <limits>

namespace stoker {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max(), kMin = 0x1p-126f, kTiny = 0x1p-149f;

float from_bits(uint32_t bits) { return std::bit_cast<float>(bits); }

// Both signs of every 997th bit pattern: 997 is prime, so that mantissas of every kind occur at every exponent.
std::vector<float> floats() {
  std::vector<float> x{0.0f, -0.0f, kInf, -kInf, kNaN, kMax, -kMax, kMin, -kMin, kTiny, -kTiny, 1.0f, -1.0f};
  for (uint32_t bits = 1; bits < 0x7f800000; bits += 997) {
    x.push_back(from_bits(bits));
    x.push_back(-from_bits(bits));
  }
  return x;
}
// Numbers between two bounds, evenly by value: where bit patterns are thin.
void add_range(std::vector<float>& x, double low, double high, int count) {
  for (int i = 0; i <= count; ++i) x.push_back(float(low + (high - low) * i / count));
}

// Distance in steps between floats at the wanted number. What rounds to infinity must be infinite.
double ulps_between(float got, double want) {
  const float rounded = float(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : kInf;
  if (got == rounded) return 0;
  if (!std::isfinite(got) || !std::isfinite(rounded)) return kInf;
  const int exponent = std::max(std::ilogb(want == 0 ? double(kTiny) : want), -126);
  return std::abs(double(got) - want) / std::ldexp(1.0, exponent - 23);
}

struct Worst {
  double ulps = 0;
  size_t at = 0;
};
template <class F>
Worst worst_of(const std::vector<float>& got, const F& want) {
  Worst worst;
  for (size_t i = 0; i < got.size(); ++i) {
    const double ulps = ulps_between(got[i], want(i));
    if (ulps > worst.ulps) worst = {ulps, i};
  }
  return worst;
}

constexpr double kAllowed = 6;

struct Function {
  const char* name;
  Tensor (*function)(Arg);
  double (*reference)(double);
  double measured;  // the largest error, in ulps
  double dense_low, dense_high;
};

const Function kFunctions[] = {
    {"exp", exp, std::exp, 4, -104, 89},      {"log", log, std::log, 4, 0.5, 2},
    {"sin", sin, std::sin, 4, -100, 100},     {"cos", cos, std::cos, 4, -100, 100},
    {"tan", tan, std::tan, 4, -100, 100},     {"tanh", tanh, std::tanh, 4, -10, 10},
    {"erf", erf, std::erf, 6, -4, 4},         {"log1p", log1p, std::log1p, 4, -1, 1},
    {"expm1", expm1, std::expm1, 4, -20, 89}, {"asin", asin, std::asin, 4, -1, 1},
    {"acos", acos, std::acos, 4, -1, 1},      {"atan", atan, std::atan, 4, -5, 5},
    {"sinh", sinh, std::sinh, 4, -90, 90},    {"cosh", cosh, std::cosh, 4, -90, 90},
};

struct Functions : ::testing::TestWithParam<Function> {};

TEST_P(Functions, AreAsExactAsMeasured) {
  const Function& f = GetParam();
  std::vector<float> x = floats();
  add_range(x, f.dense_low, f.dense_high, 1000000);
  const std::vector<float> y = f.function(tensor(x)).to_vector<float>();
  const Worst worst = worst_of(y, [&](size_t i) { return f.reference(double(x[i])); });
  EXPECT_LE(worst.ulps, f.measured) << f.name << "(" << ::testing::PrintToString(x[worst.at]) << ") is "
                                    << ::testing::PrintToString(y[worst.at]) << " instead of "
                                    << ::testing::PrintToString(f.reference(double(x[worst.at])));
  EXPECT_LE(f.measured, kAllowed);
  RecordProperty("ulps", std::to_string(worst.ulps));
}

// Zero keeps its sign where the function is odd.
TEST_P(Functions, KeepTheSignOfZero) {
  const Function& f = GetParam();
  const std::vector<float> y = f.function(tensor<float>({0.0f, -0.0f})).to_vector<float>();
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(std::signbit(y[i]), std::signbit(f.reference(i == 0 ? 0.0 : -0.0))) << f.name;
}

INSTANTIATE_TEST_SUITE_P(Compiler, Functions, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return std::string(info.param.name); });

// --- pow: pairs

void expect_pow(const std::vector<float>& a, const std::vector<float>& b, double measured) {
  const std::vector<float> y = pow(tensor(a), tensor(b)).to_vector<float>();
  const Worst worst = worst_of(y, [&](size_t i) { return std::pow(double(a[i]), double(b[i])); });
  EXPECT_LE(worst.ulps, measured) << "pow(" << a[worst.at] << ", " << b[worst.at] << ") is " << y[worst.at]
                                  << " instead of " << std::pow(double(a[worst.at]), double(b[worst.at]));
}

TEST(Pow, IsAsExactAsMeasured) {
  std::vector<float> a, b;
  uint32_t state = 1;
  auto next = [&] { return state = state * 1664525 + 1013904223; };
  for (int i = 0; i < 1000000; ++i) {
    a.push_back(from_bits(next() >> 1));  // positive, of any exponent
    b.push_back(float(int32_t(next())) * 0x1p-28f);
  }
  expect_pow(a, b, 0.5001);
}

TEST(Pow, KnowsEverySpecialPair) {
  const float special[] = {0, kTiny, kMin, 0.5f, 1, 1.5f, 2, 3, 4, 0x1p23f + 1, 0x1p24f, kMax, kInf};
  std::vector<float> values{kNaN};
  for (float v : special) values.push_back(v), values.push_back(-v);
  std::vector<float> a, b;
  for (float x : values)
    for (float y : values) a.push_back(x), b.push_back(y);
  expect_pow(a, b, 0.5001);
}

// --- the same bits everywhere

// Whole vectors, their ends, and what stands beside it in a fusion must not change a function's result.
TEST_P(Functions, GiveTheSameBitsAtAnyLengthAndInAnyFusion) {
  const Function& f = GetParam();
  std::vector<float> x;
  for (int i = 0; i < 67; ++i) x.push_back(float(i - 33) * 0.0301f);
  const std::vector<float> whole = f.function(tensor(x)).to_vector<float>();
  const Tensor t = tensor(x);
  const std::vector<float> fused = neg(neg(f.function(t * 1.0) + zeros_like(t))).to_vector<float>();
  for (size_t length : {1, 3, 8, 17, 33}) {
    const std::vector<float> part =
        f.function(tensor(std::vector<float>(x.begin(), x.begin() + int64_t(length)))).to_vector<float>();
    for (size_t i = 0; i < length; ++i)
      EXPECT_EQ(std::bit_cast<uint32_t>(part[i]), std::bit_cast<uint32_t>(whole[i])) << x[i];
  }
  for (size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(fused[i] == whole[i] || std::isnan(whole[i])) << x[i];
}

}  // namespace
}  // namespace stoker
