// Blocked matrix products whose operands are packed by the caller, so that they need not lie in memory as matrices:
// y[rows, columns] = a[rows, depth] b[depth, columns] for a number of batches.
//
// Tiles are independent, and each element is added up in the same order whatever the tiles are: in blocks along the
// depth, and, for deep products of few tiles, in splits that depend on the shape alone. So results do not depend on the
// threads.
#pragma once

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernel.h"
#include "backends/cpu/parallel.h"

namespace stoker::backends::cpu {

// Packed operands are panels along the depth: a in panels of 4 rows, b in panels of two cache lines of columns.
inline constexpr int64_t kPanelRows = 4;
template <class T>
inline constexpr int64_t kPanelColumns = 128 / int64_t(sizeof(T));
inline constexpr int64_t kBlockDepth = 256;

// c[rows, columns] += a b over whole panels; rows of c are `stride` apart.
template <class T>
struct PanelProduct {
  const T *a, *b;
  T* c;
  int64_t rows, columns, depth, stride;
};
void multiply_panels(const PanelProduct<float>& p);
void multiply_panels(const PanelProduct<double>& p);

struct Range {
  int64_t begin, count;
  int64_t end() const { return begin + count; }
};

inline int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }
inline int64_t divide_up(int64_t n, int64_t step) { return (n + step - 1) / step; }

struct ProductShape {
  int64_t batches, rows, columns, depth;
};

// How a product is cut into tiles for the calling thread's team.
class Tiling {
 public:
  Tiling(const ProductShape& shape, int64_t element_bytes);

  ProductShape shape;
  int64_t tile_rows, tile_columns;  // whole panels
  int64_t splits;                   // of the depth
  int threads;

  int64_t row_tiles() const { return divide_up(shape.rows, tile_rows); }
  int64_t column_tiles() const { return divide_up(shape.columns, tile_columns); }
  int64_t tiles() const { return shape.batches * row_tiles() * column_tiles(); }
  int64_t tile_elements() const { return tile_rows * tile_columns; }
  int64_t packed_elements() const { return (tile_rows + tile_columns) * kBlockDepth; }
  // Packed blocks of each thread, then tiles: of each thread, or of all splits.
  int64_t scratch_elements() const {
    return threads * packed_elements() + (splits > 1 ? tiles() * splits : threads) * tile_elements();
  }
  // Tiles that are worth waking a thread for.
  int64_t grain() const { return 1 + (1 << 17) / (tile_elements() * std::max<int64_t>(shape.depth, 1)); }
};

struct Tile {
  int64_t batch;
  Range rows, columns;
  Tile(const Tiling& t, int64_t i) {
    const int64_t column = i % t.column_tiles() * t.tile_columns,
                  row = i / t.column_tiles() % t.row_tiles() * t.tile_rows;
    batch = i / (t.column_tiles() * t.row_tiles());
    rows = {row, std::min(t.tile_rows, t.shape.rows - row)};
    columns = {column, std::min(t.tile_columns, t.shape.columns - column)};
  }
};

// pack_a(T* to, batch, rows, depth) and pack_b(T* to, batch, depth, columns) write panels, zeros where a panel is not
// full. store(tile, const T* values, stride) takes a finished tile.
template <class T, class PackA, class PackB, class Store>
class TiledProduct {
 public:
  TiledProduct(const Tiling& tiling, T* scratch, const PackA& pack_a, const PackB& pack_b, const Store& store)
      : t_(tiling),
        packed_(scratch),
        results_(scratch + t_.threads * t_.packed_elements()),
        pack_a_(pack_a),
        pack_b_(pack_b),
        store_(store) {}

  void run() const {
    if (t_.splits > 1) return run_splits();
    parallel_for(t_.tiles(), t_.grain(), [&](int64_t begin, int64_t end, int piece) {
      T* result = results_ + piece * t_.tile_elements();
      for (int64_t i = begin; i < end; ++i) {
        const Tile tile(t_, i);
        multiply(tile, {0, t_.shape.depth}, result, piece);
        store_(tile, result, t_.tile_columns);
      }
    });
  }

 private:
  void run_splits() const {
    parallel_for(t_.tiles() * t_.splits, 1, [&](int64_t begin, int64_t end, int piece) {
      for (int64_t u = begin; u < end; ++u) {
        const Piece depth(t_.shape.depth, t_.splits, u % t_.splits);
        multiply(Tile(t_, u / t_.splits), {depth.begin, depth.end - depth.begin}, results_ + u * t_.tile_elements(),
                 piece);
      }
    });
    parallel_for(t_.tiles(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* total = results_ + i * t_.splits * t_.tile_elements();
        for (int64_t s = 1; s < t_.splits; ++s) add(total, total + s * t_.tile_elements());
        store_(Tile(t_, i), total, t_.tile_columns);
      }
    });
  }

  void add(T* total, const T* split) const {
    for (int64_t e = 0; e < t_.tile_elements(); ++e) total[e] += split[e];
  }

  void multiply(const Tile& tile, Range depth, T* result, int piece) const {
    T* a = packed_ + piece * t_.packed_elements();
    T* b = a + t_.tile_rows * kBlockDepth;
    std::memset(result, 0, size_t(t_.tile_elements()) * sizeof(T));
    for (int64_t k = 0; k < depth.count; k += kBlockDepth) {
      const Range block{depth.begin + k, std::min(kBlockDepth, depth.count - k)};
      pack_a_(a, tile.batch, tile.rows, block);
      pack_b_(b, tile.batch, block, tile.columns);
      multiply_panels({a, b, result, tile.rows.count, tile.columns.count, block.count, t_.tile_columns});
    }
  }

  const Tiling& t_;
  T *packed_, *results_;
  const PackA& pack_a_;
  const PackB& pack_b_;
  const Store& store_;
};

// Calls pack(panel, first, count) for every panel of `width` out of `range`; panels hold `depth` steps.
template <class T, class F>
void for_each_panel(T* to, Range range, int64_t width, int64_t depth, const F& pack) {
  for (int64_t i = 0; i < range.count; i += width, to += width * depth)
    pack(to, range.begin + i, std::min(width, range.count - i));
}

}  // namespace stoker::backends::cpu
