// argmax, argmin. Along the last axis a block's extreme is found with vectors, and its place only where it beats those
// before; along other axes neighbouring lines are walked side by side.
#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/moving.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {
namespace {

constexpr int64_t kBlock = 1024;
constexpr int64_t kLanes = 16;
constexpr int64_t kColumns = 256;

// Whether an element after `best` takes its place: NaN beats everything but NaN.
template <bool Max, class A>
inline bool beats(A candidate, A best) {
  const bool further = Max ? candidate > best : candidate < best;
  if constexpr (std::is_floating_point_v<A>)
    return further | ((candidate != candidate) & (best == best));
  else
    return further;
}

template <bool Max, class T>
compute_of<T> extreme_of(const T* x, int64_t n) {
  using A = compute_of<T>;
  A lanes[kLanes];
  std::fill_n(lanes, kLanes, load_as<A>(x[0]));
  const auto offer = [&](int64_t lane, A v) { lanes[lane] = beats<Max>(v, lanes[lane]) ? v : lanes[lane]; };
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) offer(l, load_as<A>(x[i + l]));
  for (; i < n; ++i) offer(0, load_as<A>(x[i]));
  for (int64_t l = 1; l < kLanes; ++l) offer(0, lanes[l]);
  return lanes[0];
}

template <bool Max, class T>
int64_t place_of_extreme(const T* x, int64_t n) {
  using A = compute_of<T>;
  A best = load_as<A>(x[0]);
  int64_t place = 0;
  for (int64_t block = 0; block < n; block += kBlock) {
    const A extreme = extreme_of<Max>(x + block, std::min(kBlock, n - block));
    if (!beats<Max>(extreme, best)) continue;
    best = extreme;
    place = block;
    while (beats<Max>(best, load_as<A>(x[place]))) ++place;
  }
  return place;
}

// `columns` lines at once, whose elements are `stride` apart.
template <bool Max, class T>
void places_of_extremes(const T* x, int64_t n, int64_t stride, int64_t* places, int64_t columns) {
  using A = compute_of<T>;
  A best[kColumns];
  for (int64_t c = 0; c < columns; ++c) best[c] = load_as<A>(x[c]), places[c] = 0;
  for (int64_t i = 1; i < n; ++i)
    for (int64_t c = 0; c < columns; ++c) {
      const A v = load_as<A>(x[i * stride + c]);
      const bool taken = beats<Max>(v, best[c]);
      best[c] = taken ? v : best[c];
      places[c] = taken ? i : places[c];
    }
}

template <bool Max, class T>
void arg_reduce(const T* x, int64_t* y, const AxisSplit& s) {
  parallel_rows(s.outer, s.inner, s.extent, [&](int64_t row, int64_t begin, int64_t end) {
    const T* lines = x + row * s.extent * s.inner;
    int64_t* places = y + row * s.inner;
    if (s.inner == 1)
      *places = place_of_extreme<Max>(lines, s.extent);
    else
      for (int64_t c = begin; c < end; c += kColumns)
        places_of_extremes<Max>(lines + c, s.extent, s.inner, places + c, std::min(kColumns, end - c));
  });
}

template <bool Max>
std::unique_ptr<Kernel> lower_arg_reduce(const StepRequest& r) {
  const AxisSplit split(input_shape(r), r.attrs.get<graph::ArgReduceAttrs>().axis);
  return visit(input_dtype(r), [&](auto t) {
    using T = decltype(t);
    return make_kernel([split](const Operands& o) { arg_reduce<Max>(o.in<T>(0), o.out<int64_t>(), split); });
  });
}

}  // namespace

void register_arg_reduce(KernelTable& table) {
  table["argmax"] = {takes_everything, lower_arg_reduce<true>};
  table["argmin"] = {takes_everything, lower_arg_reduce<false>};
}

}  // namespace stoker::backends::cpu
