#include "compiler/memory.h"

#include <algorithm>
#include <numeric>

namespace stoker::compiler {
namespace {
constexpr int64_t kAlignment = 64;  // bytes; what vector loads and libraries like best
}

int64_t assign_offsets(std::vector<Lifetime>& lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  std::vector<size_t> placed;  // by offset
  int64_t arena = 0;
  for (size_t i : order) {
    Lifetime& mine = lifetimes[i];
    const int64_t bytes = (mine.bytes + kAlignment - 1) / kAlignment * kAlignment;
    int64_t offset = 0;
    for (size_t p : placed) {
      const Lifetime& other = lifetimes[p];
      if (other.last < mine.first || mine.last < other.first) continue;
      if (other.offset - offset >= bytes) break;
      offset = std::max(offset, other.offset + (other.bytes + kAlignment - 1) / kAlignment * kAlignment);
    }
    mine.offset = offset;
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) { return lifetimes[a].offset < lifetimes[b].offset; }),
                  i);
    arena = std::max(arena, offset + bytes);
  }
  return arena;
}

}  // namespace stoker::compiler
