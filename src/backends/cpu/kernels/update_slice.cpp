// update_slice: x with v written at a slice, over x itself where output and input are the same memory.
#include <string>

#include <fmt/format.h>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/moving.h"
#include "backends/cpu/tile_geometry.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {
namespace {

using graph::SliceAttrs;

// Where the elements of v lie in x: rows of `run` elements that are `step` apart.
class Target {
 public:
  Target(const Shape& x, const SliceAttrs& a) : x_(x), attrs_(a), strides_(contiguous_strides(x)) {
    int k = x.rank() - 1;
    if (k >= 0) run_ = a.extents[k], step_ = a.steps[k];
    while (k > 0 && a.steps[k] == 1 && a.extents[k] == x[k] && a.steps[k - 1] == 1) run_ *= a.extents[--k];
    for (int i = 0; i < k; ++i) rows_.push_back(a.extents[i]), row_strides_.push_back(a.steps[i] * strides_[i]);
  }

  int64_t rows() const { return numel(rows_); }
  int64_t run() const { return run_; }
  int64_t step() const { return step_; }
  int64_t offset(int64_t row) const { return offset_of_row(rows_, row_strides_, row); }

  // The place of v's first element; starts are inputs 2 on.
  int64_t start(const Operands& o, Loc loc) const {
    int64_t at = 0;
    for (int k = 0; k < x_.rank(); ++k) {
      const int64_t start = o.integer(2 + k);
      check(k, start, loc);
      at += start * strides_[k];
    }
    return at;
  }

 private:
  void check(int k, int64_t start, Loc loc) const {
    const auto inside = [&](int64_t i) { return i >= 0 && i < x_[k]; };
    if (inside(start) && inside(start + (attrs_.extents[k] - 1) * attrs_.steps[k])) return;
    throw ValueError("update_slice",
                     fmt::format("expected a slice within extent {} of axis {}, got start {}, step {} and {} elements; "
                                 "choose a start that leaves room for the value",
                                 x_[k], k, start, attrs_.steps[k], attrs_.extents[k]),
                     loc);
  }

  Shape x_;
  SliceAttrs attrs_;
  Dims strides_, rows_, row_strides_;
  int64_t run_ = 1, step_ = 1;
};

template <class W>
void write(W* y, const W* v, const Target& target) {
  parallel_rows(target.rows(), target.run(), 1, [&](int64_t row, int64_t begin, int64_t end) {
    const W* from = v + row * target.run() + begin;
    W* to = y + target.offset(row) + begin * target.step();
    if (target.step() == 1)
      copy_words(to, from, end - begin);
    else
      for (int64_t i = 0; i < end - begin; ++i) to[i * target.step()] = from[i];
  });
}

std::unique_ptr<Kernel> lower_update_slice(const StepRequest& r) {
  const auto& attrs = r.attrs.get<SliceAttrs>();
  return visit_word(input_dtype(r), [&](auto word) {
    using W = decltype(word);
    return make_kernel([target = Target(input_shape(r), attrs), count = numel(input_shape(r)),
                        any = numel(attrs.extents) > 0](const Operands& o) {
      const int64_t start = any ? target.start(o, o.loc()) : 0;
      copy_unless_same(o.out<W>(), o.in<W>(0), count);
      if (any) write(o.out<W>() + start, o.in<W>(1), target);
    });
  });
}

}  // namespace

void register_update_slice(KernelTable& table) { table["update_slice"] = {takes_everything, lower_update_slice}; }

}  // namespace stoker::backends::cpu
