// Reductions over tiles, in the one order of graph/program.h.
#include "backends/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tile_reduce.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "backends/cpu/scalar_ops.h"
#include "backends/cpu/tile_ops.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using graph::kReduceLanes;
using graph::Lane;
using graph::ReduceKind;

template <class T>
struct Sum {
  static constexpr T identity = 0;
  static HWY_INLINE T of(T a, T b) { return scalar::add(a, b); }
  template <class V>
  static HWY_INLINE V of_vectors(V a, V b) {
    return hn::Add(a, b);
  }
};
template <class T>
struct Prod {
  static constexpr T identity = 1;
  static HWY_INLINE T of(T a, T b) { return scalar::mul(a, b); }
  template <class V>
  static HWY_INLINE V of_vectors(V a, V b) {
    return hn::Mul(a, b);
  }
};
template <class T>
struct Max {
  static constexpr T identity =
      std::is_integral_v<T> ? std::numeric_limits<T>::min() : -std::numeric_limits<T>::infinity();
  static HWY_INLINE T of(T a, T b) { return scalar::max(a, b); }
  template <class V>
  static HWY_INLINE V of_vectors(V a, V b) {
    return hn::IfThenElse(hn::Or(hn::Lt(b, a), hn::IsNaN(a)), a, b);
  }
};
template <class T>
struct Min {
  static constexpr T identity =
      std::is_integral_v<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::infinity();
  static HWY_INLINE T of(T a, T b) { return scalar::min(a, b); }
  template <class V>
  static HWY_INLINE V of_vectors(V a, V b) {
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
  }
};

// Adds whole runs of kReduceLanes values, eight vectors of lanes at a time.
template <class Op>
HWY_INLINE void accumulate_runs(float* lanes, const float* values, int64_t runs) {
  const hn::CappedTag<float, 8> d;
  const int64_t n = int64_t(hn::Lanes(d));
  for (int64_t first = 0; first < kReduceLanes; first += 8 * n) {
    float* at = lanes + first;
    auto a0 = hn::LoadU(d, at), a1 = hn::LoadU(d, at + n), a2 = hn::LoadU(d, at + 2 * n), a3 = hn::LoadU(d, at + 3 * n);
    auto a4 = hn::LoadU(d, at + 4 * n), a5 = hn::LoadU(d, at + 5 * n), a6 = hn::LoadU(d, at + 6 * n),
         a7 = hn::LoadU(d, at + 7 * n);
    const float* v = values + first;
    for (int64_t r = 0; r < runs; ++r, v += kReduceLanes) {
      a0 = Op::of_vectors(a0, hn::LoadU(d, v));
      a1 = Op::of_vectors(a1, hn::LoadU(d, v + n));
      a2 = Op::of_vectors(a2, hn::LoadU(d, v + 2 * n));
      a3 = Op::of_vectors(a3, hn::LoadU(d, v + 3 * n));
      a4 = Op::of_vectors(a4, hn::LoadU(d, v + 4 * n));
      a5 = Op::of_vectors(a5, hn::LoadU(d, v + 5 * n));
      a6 = Op::of_vectors(a6, hn::LoadU(d, v + 6 * n));
      a7 = Op::of_vectors(a7, hn::LoadU(d, v + 7 * n));
    }
    hn::StoreU(a0, d, at), hn::StoreU(a1, d, at + n), hn::StoreU(a2, d, at + 2 * n), hn::StoreU(a3, d, at + 3 * n);
    hn::StoreU(a4, d, at + 4 * n), hn::StoreU(a5, d, at + 5 * n), hn::StoreU(a6, d, at + 6 * n);
    hn::StoreU(a7, d, at + 7 * n);
  }
}
template <class Op, class T>
HWY_INLINE void accumulate_runs(T* lanes, const T* values, int64_t runs) {
  for (int64_t r = 0; r < runs; ++r, values += kReduceLanes)
    for (int64_t j = 0; j < kReduceLanes; ++j) lanes[j] = Op::of(lanes[j], values[j]);
}

template <class Op, class T>
HWY_INLINE void accumulate_values(T* lanes, const T* values, int64_t count) {
  const int64_t runs = count / kReduceLanes;
  if (runs > 0) accumulate_runs<Op>(lanes, values, runs);
  values += runs * kReduceLanes;
  for (int64_t j = 0; j < count - runs * kReduceLanes; ++j) lanes[j] = Op::of(lanes[j], values[j]);
}

template <class Op, int64_t kWidth, class T>
HWY_INLINE T halve(T* lanes) {
  if constexpr (kWidth > 1) {
    for (int64_t j = 0; j < kWidth / 2; ++j) lanes[j] = Op::of(lanes[j], lanes[j + kWidth / 2]);
    return halve<Op, kWidth / 2>(lanes);
  }
  return lanes[0];
}

// Rows that reach the first kWidth lanes alone: the others keep the identity, which changes nothing.
template <class Op, int64_t kWidth, class T>
HWY_INLINE void reduce_rows(T* out, const T* in, int64_t rows, int64_t columns) {
  HWY_ALIGN T lanes[kReduceLanes];
  for (int64_t r = 0; r < rows; ++r, in += columns) {
    for (int64_t j = 0; j < kWidth; ++j) lanes[j] = Op::identity;
    accumulate_values<Op>(lanes, in, columns);
    out[r] = halve<Op, kWidth>(lanes);
  }
}

template <class Op, class T>
struct Reduction {
  static void start(void* lanes, int64_t count) { std::fill_n(static_cast<T*>(lanes), count, Op::identity); }
  static void accumulate(void* lanes, const void* values, int64_t count) {
    accumulate_values<Op>(static_cast<T*>(lanes), static_cast<const T*>(values), count);
  }
  static void finish(void* result, void* lanes) {
    *static_cast<T*>(result) = halve<Op, kReduceLanes>(static_cast<T*>(lanes));
  }
  static void combine(void* total, const void* value) {
    T& t = *static_cast<T*>(total);
    t = Op::of(t, *static_cast<const T*>(value));
  }
  static void rows(void* results, const void* values, int64_t rows, int64_t columns) {
    T* out = static_cast<T*>(results);
    const T* in = static_cast<const T*>(values);
    if (columns <= 8)
      reduce_rows<Op, 8>(out, in, rows, columns);
    else if (columns <= 16)
      reduce_rows<Op, 16>(out, in, rows, columns);
    else
      reduce_rows<Op, kReduceLanes>(out, in, rows, columns);
  }
  static constexpr ReduceFunctions functions{start, accumulate, finish, combine, rows};
};

template <class T>
ReduceFunctions find(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Prod:
      return Reduction<Prod<T>, T>::functions;
    case ReduceKind::Max:
      return Reduction<Max<T>, T>::functions;
    case ReduceKind::Min:
      return Reduction<Min<T>, T>::functions;
    default:
      return Reduction<Sum<T>, T>::functions;
  }
}

ReduceFunctions reductions(ReduceKind kind, Lane lane) {
  switch (lane) {
    case Lane::F32:
      return find<float>(kind);
    case Lane::F64:
      return find<double>(kind);
    case Lane::I32:
      return find<int32_t>(kind);
    case Lane::I64:
      break;
  }
  return find<int64_t>(kind);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stoker::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::backends::cpu {

HWY_EXPORT(reductions);

ReduceFunctions find_reduce(graph::ReduceKind kind, graph::Lane lane) {
  return HWY_DYNAMIC_DISPATCH(reductions)(kind, lane);
}

}  // namespace stoker::backends::cpu
#endif
