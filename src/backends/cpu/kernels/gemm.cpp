#include "backends/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gemm.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/parallel.h"

#ifndef STOKER_GEMM_BLOCKS
#define STOKER_GEMM_BLOCKS
namespace stoker::backends::cpu {

// Blocks: a panel of b stays in the first-level cache, a block of a in the second, all panels in the third.
inline constexpr int64_t kRows = 64, kDepth = 256, kColumns = 1024;
inline constexpr int64_t kMicroRows = 4, kLargestPanel = 64;

inline int64_t up_to(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// The same for every instruction set, so that scratch can be planned.
inline int64_t packed_b(int64_t n, int64_t k) {
  return up_to(std::min(n, kColumns), kLargestPanel) * std::min(k, kDepth);
}
inline int64_t packed_a(int64_t k) { return kRows * std::min(k, kDepth); }

}  // namespace stoker::backends::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace stoker::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Unsigned = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

// The product of kMicroRows packed rows and a packed panel of b.
template <class T>
struct Micro {
  static constexpr int64_t panel() { return 8; }
  static HWY_INLINE void multiply(int64_t k, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, T* HWY_RESTRICT out) {
    using U = Unsigned<T>;
    U sums[kMicroRows][8] = {};
    for (int64_t p = 0; p < k; ++p, a += kMicroRows, b += 8)
      for (int64_t i = 0; i < kMicroRows; ++i)
        for (int64_t j = 0; j < 8; ++j) sums[i][j] += U(a[i]) * U(b[j]);
    for (int64_t i = 0; i < kMicroRows; ++i)
      for (int64_t j = 0; j < 8; ++j) out[i * 8 + j] = T(sums[i][j]);
  }
};

template <class T>
struct VectorMicro {
  static HWY_INLINE int64_t lanes() { return int64_t(hn::Lanes(hn::CappedTag<T, kLargestPanel / 2>())); }
  static HWY_INLINE int64_t panel() { return 2 * lanes(); }
  static HWY_INLINE void multiply(int64_t k, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, T* HWY_RESTRICT out) {
    const hn::CappedTag<T, kLargestPanel / 2> d;
    const int64_t n = lanes();
    auto c00 = hn::Zero(d), c01 = c00, c10 = c00, c11 = c00, c20 = c00, c21 = c00, c30 = c00, c31 = c00;
    for (int64_t p = 0; p < k; ++p, a += kMicroRows, b += 2 * n) {
      const auto b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + n);
      const auto a0 = hn::Set(d, a[0]), a1 = hn::Set(d, a[1]);
      c00 = hn::MulAdd(a0, b0, c00), c01 = hn::MulAdd(a0, b1, c01);
      c10 = hn::MulAdd(a1, b0, c10), c11 = hn::MulAdd(a1, b1, c11);
      const auto a2 = hn::Set(d, a[2]), a3 = hn::Set(d, a[3]);
      c20 = hn::MulAdd(a2, b0, c20), c21 = hn::MulAdd(a2, b1, c21);
      c30 = hn::MulAdd(a3, b0, c30), c31 = hn::MulAdd(a3, b1, c31);
    }
    hn::Store(c00, d, out), hn::Store(c01, d, out + n), hn::Store(c10, d, out + 2 * n), hn::Store(c11, d, out + 3 * n);
    hn::Store(c20, d, out + 4 * n), hn::Store(c21, d, out + 5 * n), hn::Store(c30, d, out + 6 * n);
    hn::Store(c31, d, out + 7 * n);
  }
};
template <>
struct Micro<float> : VectorMicro<float> {};
template <>
struct Micro<double> : VectorMicro<double> {};

template <class T>
class Product {
 public:
  Product(int64_t m, int64_t n, int64_t k, Matrix<const T> a, Matrix<const T> b, T* c, int64_t c_row, T* scratch)
      : m_(m),
        n_(n),
        k_(k),
        a_(a),
        b_(b),
        c_(c),
        c_row_(c_row),
        packed_b_(scratch),
        packed_a_(scratch + packed_b(n, k)) {}

  void run(bool add) const {
    for (int64_t column = 0; column < n_; column += kColumns)
      for (int64_t depth = 0; depth < k_; depth += kDepth)
        run_block(column, std::min(kColumns, n_ - column), depth, std::min(kDepth, k_ - depth), add || depth > 0);
  }

 private:
  void run_block(int64_t column, int64_t columns, int64_t depth, int64_t depths, bool add) const {
    const int64_t panel = Micro<T>::panel(), panels = up_to(columns, panel) / panel;
    parallel_for(panels, std::max<int64_t>(1, (1 << 14) / (panel * depths)), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        pack_panel(column + j * panel, depth, depths, packed_b_ + j * panel * depths);
    });
    // Each piece packs rows of a for itself; where there are few, pieces share them and divide the panels.
    const int64_t row_blocks = up_to(m_, kRows) / kRows;
    const int64_t groups = std::clamp<int64_t>(thread_count() / row_blocks, 1, panels);
    const int64_t work = kRows * depths * (columns / groups + 1);
    parallel_for(row_blocks * groups, std::max<int64_t>(1, (1 << 16) / work),
                 [&](int64_t begin, int64_t end, int piece) {
                   T* rows = packed_a_ + piece * packed_a(k_);
                   for (int64_t u = begin; u < end; ++u) {
                     const int64_t row = u / groups * kRows;
                     const Piece part(panels, groups, u % groups);
                     pack_rows(row, std::min(kRows, m_ - row), depth, depths, rows);
                     for (int64_t j = part.begin; j < part.end; ++j)
                       multiply_panel(row, column + j * panel, depths, rows, packed_b_ + j * panel * depths, add);
                   }
                 });
  }

  void pack_panel(int64_t column, int64_t depth, int64_t depths, T* out) const {
    const int64_t panel = Micro<T>::panel(), columns = std::min(panel, n_ - column);
    const T* from = b_.data + depth * b_.row + column * b_.column;
    for (int64_t p = 0; p < depths; ++p)
      for (int64_t j = 0; j < panel; ++j) out[p * panel + j] = j < columns ? from[p * b_.row + j * b_.column] : T(0);
  }

  void pack_rows(int64_t row, int64_t rows, int64_t depth, int64_t depths, T* out) const {
    const T* from = a_.data + row * a_.row + depth * a_.column;
    for (int64_t i = 0; i < rows; i += kMicroRows, out += kMicroRows * depths)
      for (int64_t r = 0; r < kMicroRows; ++r)
        for (int64_t p = 0; p < depths; ++p)
          out[p * kMicroRows + r] = i + r < rows ? from[(i + r) * a_.row + p * a_.column] : T(0);
  }

  void multiply_panel(int64_t row, int64_t column, int64_t depths, const T* rows, const T* b, bool add) const {
    const int64_t panel = Micro<T>::panel(), columns = std::min(panel, n_ - column);
    HWY_ALIGN T result[kMicroRows * kLargestPanel];
    for (int64_t i = row; i < std::min(m_, row + kRows); i += kMicroRows, rows += kMicroRows * depths) {
      Micro<T>::multiply(depths, rows, b, result);
      for (int64_t r = 0; r < std::min(kMicroRows, m_ - i); ++r)
        write(c_ + (i + r) * c_row_ + column, result + r * panel, columns, add);
    }
  }

  static HWY_INLINE void write(T* HWY_RESTRICT to, const T* HWY_RESTRICT from, int64_t count, bool add) {
    using U = Unsigned<T>;
    if (add)
      for (int64_t j = 0; j < count; ++j) to[j] = T(U(to[j]) + U(from[j]));
    else
      for (int64_t j = 0; j < count; ++j) to[j] = from[j];
  }

  int64_t m_, n_, k_;
  Matrix<const T> a_, b_;
  T* c_;
  int64_t c_row_;
  T *packed_b_, *packed_a_;
};

template <class T>
void multiply(int64_t m, int64_t n, int64_t k, Matrix<const T> a, Matrix<const T> b, T* c, int64_t c_row, bool add,
              T* scratch) {
  Product<T>(m, n, k, a, b, c, c_row, scratch).run(add);
}

#define STOKER_GEMM(T)                                                                                          \
  void multiply_##T(int64_t m, int64_t n, int64_t k, Matrix<const T> a, Matrix<const T> b, T* c, int64_t c_row, \
                    bool add, T* scratch) {                                                                     \
    multiply<T>(m, n, k, a, b, c, c_row, add, scratch);                                                         \
  }
STOKER_GEMM(float)
STOKER_GEMM(double)
STOKER_GEMM(int32_t)
STOKER_GEMM(int64_t)
#undef STOKER_GEMM

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stoker::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::backends::cpu {

template <class T>
int64_t gemm_scratch(int64_t n, int64_t k, int threads) {
  return packed_b(n, k) + threads * packed_a(k);
}

#define STOKER_GEMM(T)                                                                                                \
  HWY_EXPORT(multiply_##T);                                                                                           \
  template int64_t gemm_scratch<T>(int64_t n, int64_t k, int threads);                                                \
  template <>                                                                                                         \
  void gemm<T>(int64_t m, int64_t n, int64_t k, Matrix<const T> a, Matrix<const T> b, T * c, int64_t c_row, bool add, \
               T* scratch) {                                                                                          \
    if (m == 0 || n == 0) return;                                                                                     \
    if (k == 0 && !add)                                                                                               \
      for (int64_t i = 0; i < m; ++i) std::fill_n(c + i * c_row, n, T(0));                                            \
    HWY_DYNAMIC_DISPATCH(multiply_##T)(m, n, k, a, b, c, c_row, add, scratch);                                        \
  }
STOKER_GEMM(float)
STOKER_GEMM(double)
STOKER_GEMM(int32_t)
STOKER_GEMM(int64_t)
#undef STOKER_GEMM

}  // namespace stoker::backends::cpu
#endif
