// The loops are plain: compiled for every instruction set, the compiler turns them into vectors.
#include "backends/cpu/kernels/norm_loops.h"

#include "backends/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/norm_loops.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kLanes = 32;  // enough to hide the latency of additions

template <class A>
A halve(A* lanes) {
  for (int64_t width = kLanes / 2; width > 0; width /= 2)
    for (int64_t l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
}

template <class A>
A sum(const A* __restrict x, int64_t n) {
  alignas(64) A lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += x[i + l];
  for (int64_t l = 0; i + l < n; ++l) lanes[l] += x[i + l];
  return halve(lanes);
}

template <class A>
A squares(const A* __restrict x, A mean, int64_t n) {
  alignas(64) A lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += (x[i + l] - mean) * (x[i + l] - mean);
  for (int64_t l = 0; i + l < n; ++l) lanes[l] += (x[i + l] - mean) * (x[i + l] - mean);
  return halve(lanes);
}

template <class A>
void products(A* sums, const A* __restrict dy, const A* __restrict x, A mean, int64_t n) {
  alignas(64) A plain[kLanes] = {}, weighted[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) plain[l] += dy[i + l];
    for (int64_t l = 0; l < kLanes; ++l) weighted[l] += dy[i + l] * (x[i + l] - mean);
  }
  for (int64_t l = 0; i + l < n; ++l) plain[l] += dy[i + l], weighted[l] += dy[i + l] * (x[i + l] - mean);
  sums[0] = halve(plain);
  sums[1] = halve(weighted);
}

template <class A>
void normalize(A* __restrict y, const A* __restrict x, A mean, A scale, A shift, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale + shift;
}

template <class A>
void gradient(A* __restrict dx, const A* __restrict dy, const A* __restrict x, A mean, A scale, A slope, A shift,
              int64_t n) {
  for (int64_t i = 0; i < n; ++i) dx[i] = dy[i] * scale - ((x[i] - mean) * slope + shift);
}

template <class A>
NormLoops<A> loops() {
  return {sum<A>, squares<A>, products<A>, normalize<A>, gradient<A>};
}
NormLoops<float> loops_f32() { return loops<float>(); }
NormLoops<double> loops_f64() { return loops<double>(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stoker::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::backends::cpu {

HWY_EXPORT(loops_f32);
HWY_EXPORT(loops_f64);

template <>
NormLoops<float> find_norm_loops() {
  return HWY_DYNAMIC_DISPATCH(loops_f32)();
}
template <>
NormLoops<double> find_norm_loops() {
  return HWY_DYNAMIC_DISPATCH(loops_f64)();
}

}  // namespace stoker::backends::cpu
#endif
