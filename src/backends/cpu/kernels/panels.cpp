#include "backends/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/panels.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/cpu/kernels/panels.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V, class T>
HWY_INLINE void add_to(D d, V v, T* to) {
  hn::StoreU(hn::Add(hn::LoadU(d, to), v), d, to);
}

// Four rows of two vectors: eight sums stay in registers, on every instruction set.
template <class D, class T>
HWY_INLINE void four_by_two(D d, const PanelProduct<T>& p, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b,
                            T* HWY_RESTRICT c) {
  const size_t n = hn::Lanes(d);
  auto c00 = hn::Zero(d), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00, c30 = c00, c31 = c00;
  for (int64_t k = 0; k < p.depth; ++k, a += kPanelRows, b += kPanelColumns<T>) {
    const auto b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + n);
    const auto a0 = hn::Set(d, a[0]), a1 = hn::Set(d, a[1]), a2 = hn::Set(d, a[2]), a3 = hn::Set(d, a[3]);
    c00 = hn::MulAdd(a0, b0, c00), c01 = hn::MulAdd(a0, b1, c01);
    c10 = hn::MulAdd(a1, b0, c10), c11 = hn::MulAdd(a1, b1, c11);
    c20 = hn::MulAdd(a2, b0, c20), c21 = hn::MulAdd(a2, b1, c21);
    c30 = hn::MulAdd(a3, b0, c30), c31 = hn::MulAdd(a3, b1, c31);
  }
  add_to(d, c00, c), add_to(d, c01, c + n), c += p.stride;
  add_to(d, c10, c), add_to(d, c11, c + n), c += p.stride;
  add_to(d, c20, c), add_to(d, c21, c + n), c += p.stride;
  add_to(d, c30, c), add_to(d, c31, c + n);
}

template <class T>
void multiply(const PanelProduct<T>& p) {
  const hn::CappedTag<T, 64 / sizeof(T)> d;
  const int64_t pair = 2 * int64_t(hn::Lanes(d));
  for (int64_t j = 0; j < p.columns; j += pair) {
    const int64_t panel = j / kPanelColumns<T>, inside = j % kPanelColumns<T>;
    for (int64_t i = 0; i < p.rows; i += kPanelRows)
      four_by_two(d, p, p.a + i * p.depth, p.b + panel * kPanelColumns<T> * p.depth + inside, p.c + i * p.stride + j);
  }
}

void multiply_f32(const PanelProduct<float>& p) { multiply(p); }
void multiply_f64(const PanelProduct<double>& p) { multiply(p); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stoker::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::backends::cpu {

HWY_EXPORT(multiply_f32);
HWY_EXPORT(multiply_f64);

void multiply_panels(const PanelProduct<float>& p) { HWY_DYNAMIC_DISPATCH(multiply_f32)(p); }
void multiply_panels(const PanelProduct<double>& p) { HWY_DYNAMIC_DISPATCH(multiply_f64)(p); }

namespace {

constexpr int64_t kTileRows = 96, kTileColumns = 192;  // a tile and its packed blocks stay in the second-level cache

// Deep products with few tiles, such as gradients of small weights.
int64_t splits_of(const ProductShape& s) {
  const int64_t tiles = s.batches * divide_up(s.rows, kTileRows) * divide_up(s.columns, kTileColumns);
  return tiles == 0 ? 1 : std::clamp<int64_t>(std::min(16 / tiles, s.depth / (4 * kBlockDepth)), 1, 16);
}

}  // namespace

Tiling::Tiling(const ProductShape& s, int64_t element_bytes) : shape(s), splits(splits_of(s)), threads(thread_count()) {
  const int64_t panel = 128 / element_bytes, least_rows = 4 * kPanelRows;
  tile_rows = std::min(kTileRows, round_up(std::max<int64_t>(s.rows, 1), kPanelRows));
  tile_columns = std::min(kTileColumns, round_up(std::max<int64_t>(s.columns, 1), panel));
  while (tiles() * splits < 2 * threads && (tile_rows > least_rows || tile_columns > panel)) {
    if (tile_rows > least_rows && (tile_rows >= tile_columns || tile_columns == panel))
      tile_rows = round_up(tile_rows / 2, kPanelRows);
    else
      tile_columns = round_up(tile_columns / 2, panel);
  }
}

}  // namespace stoker::backends::cpu
#endif
