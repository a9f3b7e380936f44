#include "backends/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/pool_2x2.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/cpu/kernels/pool_2x2.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A later element takes the place of the best so far where it is greater, or the first NaN.
template <class V, class I>
HWY_INLINE void take_larger(V& best, I& index, V v, I i) {
  const hn::DFromV<I> di;
  const auto taken = hn::And(hn::Not(hn::Le(v, best)), hn::Eq(best, best));
  best = hn::IfThenElse(taken, v, best);
  index = hn::IfThenElse(hn::RebindMask(di, taken), i, index);
}

// The results at [j, j + lanes) of one row. `first`: the index of the row pair's first element.
template <class D>
HWY_INLINE void max_vector(D d, const float* top, const float* bottom, int64_t j, int32_t first, int32_t width, float* y,
                           int32_t* index) {
  const hn::RebindToSigned<D> di;
  const int64_t n = int64_t(hn::Lanes(d));
  const auto t0 = hn::LoadU(d, top + 2 * j), t1 = hn::LoadU(d, top + 2 * j + n);
  const auto b0 = hn::LoadU(d, bottom + 2 * j), b1 = hn::LoadU(d, bottom + 2 * j + n);
  auto best = hn::ConcatEven(d, t1, t0);
  const auto start = hn::ShiftLeft<1>(hn::Iota(di, 0));
  const auto base = hn::Add(start, hn::Set(di, first + int32_t(2 * j)));
  auto at = base;
  take_larger(best, at, hn::ConcatOdd(d, t1, t0), hn::Add(base, hn::Set(di, 1)));
  take_larger(best, at, hn::ConcatEven(d, b1, b0), hn::Add(base, hn::Set(di, width)));
  take_larger(best, at, hn::ConcatOdd(d, b1, b0), hn::Add(base, hn::Set(di, width + 1)));
  hn::StoreU(best, d, y + j);
  hn::StoreU(at, di, index + j);
}

// Covers [0, columns) by vectors, the last of which may overlap the one before; false where a row is shorter than one.
template <class D, class F>
HWY_INLINE bool cover(D d, int64_t columns, const F& f) {
  const int64_t n = int64_t(hn::Lanes(d));
  if (columns < n) return false;
  int64_t j = 0;
  for (; j + n <= columns; j += n) f(d, j);
  if (j < columns) f(d, columns - n);
  return true;
}
template <class F>
HWY_INLINE void cover_row(int64_t columns, const F& f) {
  if (cover(hn::CappedTag<float, 16>(), columns, f) || cover(hn::CappedTag<float, 8>(), columns, f) ||
      cover(hn::CappedTag<float, 4>(), columns, f) || cover(hn::CappedTag<float, 2>(), columns, f))
    return;
  cover(hn::CappedTag<float, 1>(), columns, f);
}

void forward(const float* x, float* y, int32_t* index, int64_t rows, int64_t columns, int64_t width) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* top = x + 2 * r * width;
    const auto vector = [&](auto d, int64_t j) HWY_ATTR {
      max_vector(d, top, top + width, j, int32_t(2 * r * width), int32_t(width), y + r * columns, index + r * columns);
    };
    cover_row(columns, vector);
  }
}

template <class D, class V, class I>
HWY_INLINE void spread_pair(D d, V v, I offset, int32_t left, float* row, int64_t j) {
  const hn::DFromV<I> di;
  const auto where = [&](int32_t o) HWY_ATTR {
    return hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(offset, hn::Set(di, o))), v);
  };
  hn::StoreInterleaved2(where(left), where(left + 1), d, row + 2 * j);
}

bool backward(const float* dy, const int32_t* index, float* dx, int64_t rows, int64_t columns) {
  const int32_t width = int32_t(2 * columns);
  bool own = true;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t j = 0; j < columns; ++j) {
      const int32_t offset = index[r * columns + j] - int32_t(2 * r * width + 2 * j);
      own &= (offset & ~1) == 0 || ((offset - width) & ~1) == 0;
    }
  if (!own) return false;
  for (int64_t r = 0; r < rows; ++r) {
    float* top = dx + 2 * r * width;
    const auto vector = [&](auto d, int64_t j) HWY_ATTR {
      const hn::RebindToSigned<decltype(d)> di;
      const auto base = hn::Add(hn::ShiftLeft<1>(hn::Iota(di, 0)), hn::Set(di, int32_t(2 * r * width + 2 * j)));
      const auto offset = hn::Sub(hn::LoadU(di, index + r * columns + j), base);
      const auto v = hn::LoadU(d, dy + r * columns + j);
      spread_pair(d, v, offset, 0, top, j);
      spread_pair(d, v, offset, width, top + width, j);
    };
    cover_row(columns, vector);
  }
  return true;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stoker::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::backends::cpu {

HWY_EXPORT(forward);
HWY_EXPORT(backward);

void max_pool_2x2(const float* x, float* y, int32_t* index, int64_t rows, int64_t columns, int64_t width) {
  HWY_DYNAMIC_DISPATCH(forward)(x, y, index, rows, columns, width);
}
bool max_pool_2x2_gradient(const float* dy, const int32_t* index, float* dx, int64_t rows, int64_t columns) {
  return HWY_DYNAMIC_DISPATCH(backward)(dy, index, dx, rows, columns);
}

}  // namespace stoker::backends::cpu
#endif
