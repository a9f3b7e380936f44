// Lifetimes to offsets.
#include "compiler/memory.h"

#include <gtest/gtest.h>

#include <random>

namespace stoker::compiler {
namespace {

bool overlap(const Lifetime& a, const Lifetime& b) {
  const bool in_time = a.first <= b.last && b.first <= a.last;
  const bool in_space = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
  return in_time && in_space;
}

TEST(Memory, ChainsReuseTwoPlaces) {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 10; ++i) chain.push_back({i, i + 1, 1024, -1});
  EXPECT_EQ(assign_offsets(chain), 2048);
}

TEST(Memory, NothingThatLivesAtOnceOverlaps) {
  std::mt19937 rng(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> all;
    for (int i = 0; i < 60; ++i) {
      const int first = int(rng() % 40);
      all.push_back({first, first + int(rng() % 10), int64_t(rng() % 5000), -1});
    }
    const int64_t arena = assign_offsets(all);
    int64_t peak = 0;
    for (int t = 0; t < 50; ++t) {
      int64_t live = 0;
      for (const Lifetime& l : all)
        if (l.first <= t && t <= l.last) live += l.bytes;
      peak = std::max(peak, live);
    }
    EXPECT_GE(arena, peak);
    EXPECT_LE(arena, 2 * peak + 64 * 60) << "no worse than twice what must be alive at once";
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t j = 0; j < i; ++j) ASSERT_FALSE(overlap(all[i], all[j]));
  }
}

TEST(Memory, NothingNeedsNothing) {
  std::vector<Lifetime> none;
  EXPECT_EQ(assign_offsets(none), 0);
}

}  // namespace
}  // namespace stoker::compiler
