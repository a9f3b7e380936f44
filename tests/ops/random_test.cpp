// Random numbers: the generator against Random123's known answers, the layout of the operation `random` word by word,
// what the functions make of it, and that nothing but the seed decides.
#include <stoker/ops.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <set>

#include "graph/build.h"
#include "support/compare.h"
#include "tensor/access.h"

namespace stoker::test {
namespace {

using Words = std::array<uint32_t, 4>;

// Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011).
Words philox(Words counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = 0xd2511f53ull * counter[0], b = 0xcd9e8d57ull * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key[0], uint32_t(b), uint32_t(a >> 32) ^ counter[3] ^ key[1],
               uint32_t(a)};
    key = {key[0] + 0x9e3779b9, key[1] + 0xbb67ae85};
  }
  return counter;
}

// From kat_vectors of Random123 1.14: the reference that the others are compared with is itself right.
TEST(Philox, OfThisTestGivesTheKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The layout that src/graph/ops/attributes.h states: word j of call k of block b is element 64 b + 16 j + k.
Words call_of(uint64_t key, uint64_t counter, int64_t element) {
  const uint64_t c = counter + 16 * uint64_t(element / 64) + uint64_t(element % 16);
  return philox({uint32_t(c), uint32_t(c >> 32), 0, 0}, {uint32_t(key), uint32_t(key >> 32)});
}
int word_of(int64_t element) { return int(element % 64 / 16); }
uint32_t bits_at(uint64_t key, uint64_t counter, int64_t element) {
  return call_of(key, counter, element)[size_t(word_of(element))];
}
double uniform_at(uint64_t key, uint64_t counter, int64_t element) {
  return (bits_at(key, counter, element) >> 8) * 0x1p-24;
}
double normal_at(uint64_t key, uint64_t counter, int64_t element) {
  const Words w = call_of(key, counter, element);
  const int j = word_of(element), pair = j % 2;
  const double u1 = ((w[size_t(pair)] >> 8) + 1) * 0x1p-24, u2 = (w[size_t(pair + 2)] >> 8) * 0x1p-24;
  const double r = std::sqrt(-2 * std::log(u1)), angle = 2 * M_PI * u2;
  return j < 2 ? r * std::cos(angle) : r * std::sin(angle);
}

template <class F>
std::vector<double> each(int64_t n, F f) {
  std::vector<double> out;
  for (int64_t i = 0; i < n; ++i) out.push_back(f(i));
  return out;
}

Tensor random_bits(uint64_t key, uint64_t counter, const Shape& shape) {
  const Device device = default_device();
  return detail::Access::wrap(graph::random(graph::Distribution::Bits, graph::integer(int64_t(key), device),
                                            graph::integer(int64_t(counter), device), {kI32, shape, device}));
}

const uint64_t kSeed = 0x299f31d0a4093822, kCounter = 0xfffffff8;  // the counter's low word overflows

// --- the operation

TEST(Philox, GivesTheKnownAnswerForZero) {
  const std::vector<int32_t> words = random_bits(0, 0, {64}).to_vector<int32_t>();
  EXPECT_EQ(uint32_t(words[0]), 0x6627e8d5);
  EXPECT_EQ(uint32_t(words[16]), 0xe169c58d);
  EXPECT_EQ(uint32_t(words[32]), 0xbc57ac4c);
  EXPECT_EQ(uint32_t(words[48]), 0x9b00dbd8);
}

TEST(Philox, LiesInBlocksOf64) {
  for (int64_t n : {1, 63, 64, 65, 1000}) {
    const auto want = each(n, [](int64_t i) { return double(int32_t(bits_at(kSeed, kCounter, i))); });
    EXPECT_TRUE(matches(random_bits(kSeed, kCounter, {n}), {n}, kI32, want)) << n;
  }
}

// Large enough to be divided among threads; run again below with other numbers of them.
TEST(Philox, IsTheSameForEachElementOfALargeTensor) {
  const int64_t n = 300001;
  const auto want = each(n, [](int64_t i) { return double(int32_t(bits_at(7, 3, i))); });
  EXPECT_TRUE(matches(random_bits(7, 3, {n}), {n}, kI32, want));
  set_random_state({9, 5});
  const Tensor u = rand({n}), z = randn({n});
  EXPECT_TRUE(matches(u, {n}, kF32, each(n, [](int64_t i) { return uniform_at(9, 5, i); })));
  const uint64_t next = 5 + 16 * ((uint64_t(n) + 63) / 64);
  EXPECT_TRUE(matches(z, {n}, kF32, each(n, [next](int64_t i) { return normal_at(9, next, i); }), {1}));
}

TEST(Philox, IsTheSameOnAnyNumberOfThreads) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  for (const char* threads : {"1", "2", "3"}) {
    const std::string command = std::string("STOKER_NUM_THREADS=") + threads + " '" + self +
                                "' --gtest_filter=Philox.IsTheSameForEachElementOfALargeTensor >/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
}

// --- the functions

// As many of the upper bits as the dtype holds: rounding would give 1.
TEST(Random, UniformNumbersAreTheUpperBitsOfTheWords) {
  for (auto [dtype, bits] : {std::pair{kF32, 24}, {kF16, 11}, {kBF16, 8}}) {
    set_random_state({kSeed, kCounter});
    const auto want =
        each(200, [bits = bits](int64_t i) { return std::ldexp(bits_at(kSeed, kCounter, i) >> (32 - bits), -bits); });
    EXPECT_TRUE(matches(rand({200}, dtype), {200}, dtype, want)) << name_of(dtype);
  }
  set_random_state({kSeed, kCounter});
  const auto want = each(200, [](int64_t i) { return (bits_at(kSeed, kCounter, i) + 0.5) * 0x1p-32; });
  EXPECT_TRUE(matches(rand({200}, kF64), {200}, kF64, want));
}

TEST(Random, UniformNumbersNeverReachOne) {
  for (DType dtype : {kF16, kBF16, kF32, kF64}) {
    manual_seed(1);
    const std::vector<double> u = rand({100000}, dtype).to_vector<double>();
    EXPECT_GE(*std::min_element(u.begin(), u.end()), 0) << name_of(dtype);
    EXPECT_LT(*std::max_element(u.begin(), u.end()), 1) << name_of(dtype);
  }
}

TEST(Random, NormalNumbersAreBoxMullersOfTheWords) {
  for (DType dtype : {kF32, kF64, kF16, kBF16}) {
    set_random_state({kSeed, kCounter});
    const auto want = each(200, [](int64_t i) { return normal_at(kSeed, kCounter, i); });
    EXPECT_TRUE(matches(randn({200}, dtype), {200}, dtype, want, {1})) << name_of(dtype);
  }
}

struct Moments {
  double mean, deviation, skew;
};
Moments moments(const Tensor& t) {
  const std::vector<double> x = t.to_vector<double>();
  const double n = double(x.size()), mean = std::accumulate(x.begin(), x.end(), 0.0) / n;
  double second = 0, third = 0;
  for (double v : x) second += std::pow(v - mean, 2) / n, third += std::pow(v - mean, 3) / n;
  return {mean, std::sqrt(second), third / std::pow(second, 1.5)};
}

// Bounds are five deviations of each statistic.
TEST(Random, MomentsAreThoseOfTheDistributions) {
  const int64_t n = 400000;
  const double error = 5 / std::sqrt(double(n));
  manual_seed(11);
  const Moments u = moments(uniform({n}, -1, 3)), z = moments(normal({n}, 2, 0.5)),
                b = moments(bernoulli(full({n}, 0.3)));
  EXPECT_NEAR(u.mean, 1, error * 4 / std::sqrt(12));
  EXPECT_NEAR(u.deviation, 4 / std::sqrt(12), error * 4 / std::sqrt(12) * 0.45);
  EXPECT_NEAR(u.skew, 0, error * 1.4);
  EXPECT_NEAR(z.mean, 2, error * 0.5);
  EXPECT_NEAR(z.deviation, 0.5, error * 0.5 / std::sqrt(2));
  EXPECT_NEAR(z.skew, 0, error * std::sqrt(6));
  EXPECT_NEAR(b.mean, 0.3, error * std::sqrt(0.21));
}

TEST(Random, IntegersCoverTheirRangeEvenly) {
  manual_seed(3);
  const int64_t n = 70000;
  std::vector<int64_t> counts(7);
  for (int64_t v : randint(-2, 5, {n}).to_vector<int64_t>()) ++counts.at(size_t(v + 2));
  for (int64_t count : counts) EXPECT_NEAR(double(count), 10000, 5 * std::sqrt(10000 * 6 / 7.0));
  for (DType dtype : {kI8, kU8, kI16, kI32, kF32}) EXPECT_EQ(randint(0, 2, {3}, dtype).dtype(), dtype);
  // More than 32 bits: both halves take part.
  std::set<int64_t> high, low;
  for (int64_t v : randint(0, int64_t(1) << 62, {1000}).to_vector<int64_t>())
    high.insert(v >> 54), low.insert(v & 0xff);
  EXPECT_GT(high.size(), 200u);
  EXPECT_GT(low.size(), 200u);
}

TEST(Random, BernoulliFollowsEachProbability) {
  manual_seed(5);
  const Tensor p = tensor<double>({0, 1, 0.25, 0.75});
  const std::vector<double> rate = mean(bernoulli(expand(p, {40000, 4})), {0}).to_vector<double>();
  EXPECT_EQ(rate[0], 0);
  EXPECT_EQ(rate[1], 1);
  EXPECT_NEAR(rate[2], 0.25, 5 * std::sqrt(0.1875 / 40000));
  EXPECT_NEAR(rate[3], 0.75, 5 * std::sqrt(0.1875 / 40000));
}

TEST(Random, PermutationsHoldEachNumberOnceAndDiffer) {
  manual_seed(2);
  std::set<std::vector<int64_t>> seen;
  for (int i = 0; i < 600; ++i) seen.insert(randperm(4).to_vector<int64_t>());
  EXPECT_EQ(seen.size(), 24u);  // the last of 24 is missed with probability 24 * (23/24)^600 < 1e-9
  std::vector<int64_t> order = randperm(1000).to_vector<int64_t>();
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  std::vector<int64_t> all(1000);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(order, all);
  EXPECT_EQ(randperm(0).numel(), 0);
  EXPECT_EQ(randperm(1).to_vector<int64_t>(), std::vector<int64_t>{0});
}

TEST(Random, DropoutZeroesAndScales) {
  manual_seed(8);
  const int64_t n = 40000;
  Tensor x = full({n}, 2.0f);
  x.requires_grad_();
  const Tensor y = dropout(x, 0.25);
  y.backward(ones({n}));
  const std::vector<float> values = y.to_vector<float>(), slopes = x.grad().to_vector<float>();
  int64_t zeroed = 0;
  const float scale = float(1 / 0.75);
  for (size_t i = 0; i < values.size(); ++i) {
    zeroed += values[i] == 0;
    ASSERT_TRUE(values[i] == 0 || values[i] == 2 * scale) << values[i];
    ASSERT_EQ(slopes[i], values[i] == 0 ? 0 : scale) << "the gradient has another mask than the value";
  }
  EXPECT_NEAR(double(zeroed), 0.25 * double(n), 5 * std::sqrt(0.1875 * double(n)));
}

// --- seeds

TEST(Seed, AloneDecidesWhatComes) {
  auto draws = [](uint64_t seed) {
    manual_seed(seed);
    std::vector<double> all;
    for (const Tensor& t : {rand({5}), randn({5}), randint(0, 100, {5}), randperm(5), dropout(ones({5}), 0.5)})
      for (double v : t.to_vector<double>()) all.push_back(v);
    return all;
  };
  EXPECT_EQ(draws(1), draws(1));
  EXPECT_NE(draws(1), draws(2));
  EXPECT_NE(draws(1), draws(uint64_t(1) | uint64_t(1) << 32));
}

TEST(Seed, CountsDrawsWhereverTheyRun) {
  manual_seed(4);
  const Tensor first = rand({3}), second = rand({3});
  EXPECT_FALSE(identical(first, second));
  manual_seed(4);
  const Tensor again_first = rand({3}), again_second = rand({3});
  EXPECT_TRUE(identical(again_second, second));  // read in the other order
  EXPECT_TRUE(identical(again_first, first));
}

TEST(Seed, StateContinuesASequence) {
  manual_seed(6);
  rand({100});
  const RandomState state = random_state();
  const Tensor want = randn({10});
  want.to_vector<float>();
  manual_seed(0);
  rand({7});
  set_random_state(state);
  EXPECT_TRUE(identical(randn({10}), want));
  EXPECT_EQ(state.seed, 6u);
}

TEST(Seed, DrawsDifferWithoutANewPlan) {
  manual_seed(12);
  auto draw = [] { return rand({17}).to_vector<float>(); };
  const auto first = draw();
  const int64_t built = plan_stats().plans_built;
  const auto second = draw();
  EXPECT_NE(first, second);
  EXPECT_EQ(plan_stats().plans_built, built);
}

}  // namespace
}  // namespace stoker::test
