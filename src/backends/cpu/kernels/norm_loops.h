// The inner loops of batch normalisation over neighbours in memory, for the widest vectors that the processor has. Sums
// have a fixed number of lanes: results are the same bits for every width.
#pragma once

#include <cstdint>

namespace stoker::backends::cpu {

template <class A>
struct NormLoops {
  A (*sum)(const A* x, int64_t n);
  // The sum of (x - mean)^2.
  A (*squares)(const A* x, A mean, int64_t n);
  // sums[0] = sum of dy, sums[1] = sum of dy * (x - mean).
  void (*products)(A sums[2], const A* dy, const A* x, A mean, int64_t n);
  // y = (x - mean) * scale + shift
  void (*normalize)(A* y, const A* x, A mean, A scale, A shift, int64_t n);
  // dx = dy * scale - ((x - mean) * slope + shift)
  void (*gradient)(A* dx, const A* dy, const A* x, A mean, A scale, A slope, A shift, int64_t n);
};

template <class A>
NormLoops<A> find_norm_loops();

}  // namespace stoker::backends::cpu
