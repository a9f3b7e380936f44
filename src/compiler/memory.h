// Lifetimes to offsets: where intermediate values lie in the arena.
#pragma once

#include <cstdint>
#include <vector>

namespace stoker::compiler {

struct Lifetime {
  int first = 0, last = 0;  // steps, both included
  int64_t bytes = 0;
  int64_t offset = -1;  // the result
};

// Gives each lifetime an offset such that no two that live at once overlap; returns the arena's size. Large ones first,
// each at the lowest place that is free.
int64_t assign_offsets(std::vector<Lifetime>& lifetimes);

}  // namespace stoker::compiler
