// Random programs: planned and fused, against the same operations one by one.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include <stoker/stoker.h>

#include "graph/recorder.h"

namespace stoker {
namespace {

// A program of `length` random operations over a few tensors; everything that is alive at the end is its result.
std::vector<Tensor> run_program(uint32_t seed, int length) {
  std::mt19937 rng(seed);
  manual_seed(seed);
  auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng); };
  const int64_t n = 1 + int64_t(pick(6)), m = 1 + int64_t(pick(40));
  std::vector<Tensor> live = {randn({n, m}), randn({m}), randn({n, 1}), randn({n, m}), randn({1, m})};
  auto any = [&]() -> Tensor& { return live[pick(live.size())]; };
  auto full_of = [&](const Tensor& t) { return broadcast_to(t.numel() == 1 ? t.reshape({1, 1}) : t, {n, m}); };
  for (int i = 0; i < length; ++i) {
    Tensor a = full_of(any()), b = full_of(any()), r;
    switch (pick(14)) {
      case 0:
        r = a + b;
        break;
      case 1:
        r = a * b;
        break;
      case 2:
        r = a - b * 0.5f;
        break;
      case 3:
        r = tanh(a);
        break;
      case 4:
        r = relu(a) + b;
        break;
      case 5:
        r = a.sum({1}, true) * 0.1f;
        break;
      case 6:
        r = softmax(a, 1);
        break;
      case 7:
        r = maximum(a, b);
        break;
      case 8:
        r = where(a > b, a, b * 2);
        break;
      case 9:
        r = flip(a, {1});
        break;
      case 10:
        r = amax(a, {1}, true);
        break;
      case 11:
        r = sigmoid(a) * b;
        break;
      case 12:
        r = a.mean({0}, true);
        break;
      default:
        r = exp(minimum(a, b) * 0.1f);
        break;
    }
    if (live.size() > 8)
      any() = r;
    else
      live.push_back(r);
  }
  return live;
}

std::vector<std::vector<float>> values(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<float>> out;
  for (const Tensor& t : tensors) out.push_back(t.to_vector<float>());
  return out;
}

class RandomPrograms : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomPrograms, PlannedGivesTheSameBitsAsOneByOne) {
  const auto planned = values(run_program(GetParam(), 40));
  graph::set_eager(true);
  std::vector<std::vector<float>> eager;
  try {
    eager = values(run_program(GetParam(), 40));
  } catch (...) {
    graph::set_eager(false);
    throw;
  }
  graph::set_eager(false);
  ASSERT_EQ(planned.size(), eager.size());
  for (size_t i = 0; i < planned.size(); ++i)
    ASSERT_EQ(std::memcmp(planned[i].data(), eager[i].data(), planned[i].size() * sizeof(float)), 0) << "value " << i;
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, ::testing::Range(0u, 60u));

}  // namespace
}  // namespace stoker
