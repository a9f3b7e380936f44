#include "data/random.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace stoker::data {
namespace {

// A name of its own for the order of an epoch; indices of samples are far below.
constexpr uint64_t kOrder = std::numeric_limits<uint64_t>::max();

thread_local Random* current_sample = nullptr;

// Salmon, Moraes, Dror and Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011).
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(0xD2511F53) * counter[0], b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key0, uint32_t(b), uint32_t(a >> 32) ^ counter[3] ^ key1, uint32_t(a)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

}  // namespace

uint64_t Random::operator()() {
  if (left_ == 0) {
    // Block and epoch share the counter's lower half: 2^32 blocks of a sample, 2^32 epochs.
    const auto words = philox({block_++, uint32_t(epoch_), uint32_t(index_), uint32_t(index_ >> 32)}, uint32_t(seed_),
                              uint32_t(seed_ >> 32));
    ready_ = {uint64_t(words[3]) << 32 | words[2], uint64_t(words[1]) << 32 | words[0]};
    left_ = 2;
  }
  return ready_[size_t(--left_)];
}

double Random::uniform() { return double((*this)() >> 11) * 0x1p-53; }

int64_t Random::below(int64_t bound) {
  if (bound < 1) throw ValueError("random", fmt::format("expected a bound of at least 1, got {}", bound));
  // Draws from the last, incomplete multiple of the bound would favour small numbers.
  const uint64_t n = uint64_t(bound), limit = max() - (max() % n + 1) % n;
  uint64_t draw;
  do draw = (*this)();
  while (draw > limit);
  return int64_t(draw % n);
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

Random& sample_random() {
  thread_local Random outside(0);
  return current_sample ? *current_sample : outside;
}

SampleRandomScope::SampleRandomScope(uint64_t seed, int64_t epoch, int64_t index)
    : random_(seed, uint64_t(epoch), uint64_t(index)), previous_(std::exchange(current_sample, &random_)) {}
SampleRandomScope::~SampleRandomScope() { current_sample = previous_; }

std::vector<int64_t> shuffled(int64_t count, uint64_t seed, int64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  Random random(seed, uint64_t(epoch), kOrder);
  for (int64_t left = count; left > 1; --left) std::swap(order[size_t(left - 1)], order[size_t(random.below(left))]);
  return order;
}

}  // namespace stoker::data
