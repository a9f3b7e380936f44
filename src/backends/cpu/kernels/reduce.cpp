// sum, prod, max, min over any axes. Trailing axes are a row reduction of the interpreter, in the order that fused
// programs have. Other axes are added row by row of the axes that stay, in chunks whose results combine in order.
#include <algorithm>
#include <array>
#include <optional>

#include "backends/cpu/interpreter.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/programs.h"
#include "backends/cpu/tile_geometry.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {
namespace {

using graph::Lane;
using graph::Prim;
using graph::ReduceKind;
using graph::TensorDesc;

constexpr int64_t kChunk = 256;  // rows that are added up before their sum joins the total

DType dtype_of_lane(Lane lane) {
  switch (lane) {
    case Lane::F32:
      return DType::F32;
    case Lane::F64:
      return DType::F64;
    case Lane::I32:
      return DType::I32;
    case Lane::I64:
      break;
  }
  return DType::I64;
}

Prim combining(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Prod:
      return Prim::Mul;
    case ReduceKind::Max:
      return Prim::Max;
    case ReduceKind::Min:
      return Prim::Min;
    default:
      return Prim::Add;
  }
}

// Extents and strides of some of a tensor's axes.
struct Axes {
  Dims extents, strides;
  void push(int64_t extent, int64_t stride) {
    if (extent == 1) return;
    if (extents.rank() > 0 && strides.back() == stride * extent) {
      extents[extents.rank() - 1] *= extent;
      strides[strides.rank() - 1] = stride;
    } else {
      extents.push_back(extent);
      strides.push_back(stride);
    }
  }
  int64_t count() const { return numel(extents); }
  int64_t offset(int64_t i) const { return offset_of_row(extents, strides, i); }
};

bool is_reduced(const Dims& axes, int k) { return std::find(axes.begin(), axes.end(), k) != axes.end(); }

// The last axis that is not of extent 1 and is (or is not) reduced; -1 where there is none.
int last_axis(const Shape& shape, const Dims& axes, bool reduced) {
  int last = -1;
  for (int k = 0; k < shape.rank(); ++k)
    if (shape[k] != 1 && is_reduced(axes, k) == reduced) last = k;
  return last;
}

// --- axes before others ----------------------------------------------------------------------------------------------

// x[outer..., rows..., inner] -> y[outer..., inner], where rows and outer axes may be interleaved.
class ColumnReduction {
 public:
  ColumnReduction(const TensorDesc& x, const Dims& axes, ReduceKind kind, DType to)
      : lane_(graph::lane_of(to)), size_(int64_t(size_of(x.dtype))), to_size_(int64_t(size_of(to))) {
    const int last = last_axis(x.shape, axes, false);
    for (int k = 0; k < x.shape.rank(); ++k) {
      if (k == last) continue;
      (is_reduced(axes, k) ? rows_ : outer_).push(x.shape[k], x.strides[k]);
    }
    inner_ = last < 0 ? 1 : x.shape[last];
    inner_stride_ = last < 0 ? 1 : x.strides[last];
    direct_ = is_lane_type(x.dtype) && graph::lane_of(x.dtype) == lane_ && inner_stride_ == 1;
    load_ = find_load(x.dtype);
    store_ = find_store(to);
    if (graph::lane_of(x.dtype) != lane_)
      cast_ = find_compute({.prim = Prim::Cast, .lane = lane_}, graph::lane_of(x.dtype));
    combine_ = find_compute({.prim = combining(kind), .lane = lane_}, lane_);
    reduce_ = find_reduce(kind, lane_);
    split_rows_ = tiles() < thread_count() && chunks() > 1;
  }

  int64_t scratch_bytes() const { return split_rows_ ? chunks() * outer_.count() * inner_ * width() : 0; }

  void run(const std::byte* x, std::byte* y, std::byte* scratch) const {
    if (split_rows_) return run_chunks(x, y, scratch);
    parallel_for(tiles(), std::max<int64_t>(1, kGrain / (rows_.count() * kTile + 1)), [&](int64_t begin, int64_t end) {
      Buffers b;
      for (int64_t t = begin; t < end; ++t) {
        const Part part(*this, t);
        reduce_.start(b.total, part.count);
        for (int64_t c = 0; c < chunks(); ++c) {
          add_chunk(x, part, c, b, b.chunk);
          combine(b.total, b.chunk, part.count);
        }
        store(y, part, b.total);
      }
    });
  }

 private:
  struct Buffers {
    alignas(64) std::byte total[kTile * 8], chunk[kTile * 8], loaded[kTile * 8], cast[kTile * 8];
  };
  // A tile of the result.
  struct Part {
    int64_t outer, first, count;
    Part(const ColumnReduction& r, int64_t t)
        : outer(t / r.tiles_per_row()),
          first(t % r.tiles_per_row() * kTile),
          count(std::min(kTile, r.inner_ - first)) {}
  };

  int64_t width() const { return width_of(lane_); }
  int64_t tiles_per_row() const { return (inner_ + kTile - 1) / kTile; }
  int64_t tiles() const { return outer_.count() * tiles_per_row(); }
  int64_t chunks() const { return (rows_.count() + kChunk - 1) / kChunk; }

  // Few results of many rows: the chunks are done at the same time, and combine in the same order.
  void run_chunks(const std::byte* x, std::byte* y, std::byte* scratch) const {
    parallel_for(chunks() * tiles(), 1, [&](int64_t begin, int64_t end) {
      Buffers b;
      for (int64_t u = begin; u < end; ++u) add_chunk(x, Part(*this, u % tiles()), u / tiles(), b, partial(scratch, u));
    });
    Buffers b;
    for (int64_t t = 0; t < tiles(); ++t) {
      const Part part(*this, t);
      reduce_.start(b.total, part.count);
      for (int64_t c = 0; c < chunks(); ++c) combine(b.total, partial(scratch, c * tiles() + t), part.count);
      store(y, part, b.total);
    }
  }
  std::byte* partial(std::byte* scratch, int64_t unit) const {
    const Part part(*this, unit % tiles());
    return scratch + ((unit / tiles() * outer_.count() + part.outer) * inner_ + part.first) * width();
  }

  void add_chunk(const std::byte* x, const Part& part, int64_t chunk, Buffers& b, std::byte* result) const {
    reduce_.start(result, part.count);
    const std::byte* base = x + (outer_.offset(part.outer) + part.first * inner_stride_) * size_;
    for (int64_t r = chunk * kChunk; r < std::min((chunk + 1) * kChunk, rows_.count()); ++r)
      combine(result, row(base + rows_.offset(r) * size_, part.count, b), part.count);
  }

  // `count` elements in the lane that is computed in.
  const std::byte* row(const std::byte* from, int64_t count, Buffers& b) const {
    if (direct_) return from;
    load_(b.loaded, 1, from, inner_stride_, count);
    if (!cast_) return b.loaded;
    cast_({b.cast, {b.loaded}, {1}, count});
    return b.cast;
  }

  void combine(std::byte* total, const std::byte* values, int64_t count) const {
    combine_({total, {total, values}, {1, 1}, count});
  }
  void store(std::byte* y, const Part& part, const std::byte* values) const {
    store_(y + (part.outer * inner_ + part.first) * to_size_, 1, values, 1, part.count);
  }

  Lane lane_;
  int64_t size_, to_size_;
  Axes outer_, rows_;
  int64_t inner_ = 1, inner_stride_ = 1;
  bool direct_ = false, split_rows_ = false;
  MoveFunction load_, store_;
  TileFunction cast_ = nullptr, combine_;
  ReduceFunctions reduce_;
};

// --- the kernel ------------------------------------------------------------------------------------------------------

// A walk over the rows and columns of a tensor, to one dense element a row.
graph::ProgramGeometry walk(const Axes& rows, const Axes& columns) {
  graph::ProgramGeometry g;
  g.rows = rows.extents;
  g.columns = columns.count();
  g.args = {{rows.strides, columns.extents.empty() ? 0 : columns.strides.back()},
            {contiguous_strides(rows.extents), 0}};
  return g;
}

// Up to three passes: a copy, where trailing reduced axes do not walk memory like one axis; those axes; the others.
class ReduceKernel final : public Kernel {
 public:
  explicit ReduceKernel(const StepRequest& request) {
    TensorDesc x = request.inputs[0].desc;
    const Dims& axes = request.attrs.get<graph::ReduceAttrs>().axes;
    const ReduceKind kind = request.op->reduce;
    const DType to = request.outputs[0].dtype;
    const int last_kept = last_axis(x.shape, axes, false);
    bool leading = false;
    for (int k = 0; k < last_kept; ++k) leading |= x.shape[k] != 1 && is_reduced(axes, k);
    if (!leading || last_axis(x.shape, axes, true) > last_kept)
      lower_rows(x, last_kept + 1, kind, leading ? dtype_of_lane(graph::lane_of(to)) : to);
    if (leading) columns_.emplace(x, axes, kind, to);
    work_ = scratch_;
    scratch_ += std::max({copy_ ? copy_->scratch_bytes() : 0, rows_ ? rows_->scratch_bytes() : 0,
                          columns_ ? columns_->scratch_bytes() : 0});
  }

  int64_t scratch_bytes() const override { return scratch_; }
  std::string describe() const override { return !columns_ ? "rows" : rows_ ? "rows and columns" : "columns"; }

  void launch(const Launch& launch) override {
    Address x = launch.inputs[0].address;
    const auto pass = [&](const Interpreter& program, Address to) {
      program.run(std::array{Operand{x, 0}}, std::array{to}, scratch(launch, work_));
      x = to;
    };
    if (copy_) pass(*copy_, scratch(launch, copied_));
    if (rows_) pass(*rows_, columns_ ? scratch(launch, reduced_) : launch.outputs[0]);
    if (columns_) columns_->run(pointer(x), pointer(launch.outputs[0]), pointer(scratch(launch, work_)));
  }

 private:
  // Replaces `x` by what is left of it when the axes from `first_column` are reduced.
  void lower_rows(TensorDesc& x, int first_column, ReduceKind kind, DType result) {
    if (split(x, first_column).second.extents.rank() > 1) lower_copy(x);
    const auto [rows, columns] = split(x, first_column);
    rows_.emplace(reduce_program(kind, x.dtype, result), walk(rows, columns), thread_count());
    for (int k = first_column; k < x.shape.rank(); ++k) x.shape[k] = 1;
    x = {result, x.shape, contiguous_strides(x.shape)};
    reduced_ = take(x);
  }
  void lower_copy(TensorDesc& x) {
    copy_.emplace(copy_program(x.dtype, x.dtype), copy_geometry(x), thread_count());
    x.strides = contiguous_strides(x.shape);
    copied_ = take(x);
  }
  static std::pair<Axes, Axes> split(const TensorDesc& x, int at) {
    std::pair<Axes, Axes> parts;
    for (int k = 0; k < x.shape.rank(); ++k) (k < at ? parts.first : parts.second).push(x.shape[k], x.strides[k]);
    return parts;
  }
  int64_t take(const TensorDesc& x) {
    const int64_t at = scratch_;
    scratch_ += (numel(x.shape) * int64_t(size_of(x.dtype)) + 63) / 64 * 64;
    return at;
  }

  static Address scratch(const Launch& launch, int64_t bytes) {
    return {launch.scratch.base, launch.scratch.offset + bytes};
  }
  static std::byte* pointer(Address a) { return static_cast<std::byte*>(a.base) + a.offset; }

  std::optional<Interpreter> copy_, rows_;
  std::optional<ColumnReduction> columns_;
  int64_t copied_ = 0, reduced_ = 0, work_ = 0, scratch_ = 0;  // bytes
};

std::unique_ptr<Kernel> lower_reduce(const StepRequest& request) { return std::make_unique<ReduceKernel>(request); }

}  // namespace

void register_reduce(KernelTable& table) {
  for (const char* op : {"sum", "prod", "max", "min"}) table[op] = {takes_everything, lower_reduce};
}

}  // namespace stoker::backends::cpu
