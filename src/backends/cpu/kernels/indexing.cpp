// gather, scatter, scatter_add, take, index_add. The whole index is checked before anything is written. Elements that
// one element of the result depends on belong to one thread, in their order, so that results do not depend on threads.
#include <atomic>
#include <string>

#include <fmt/format.h>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/moving.h"
#include "backends/cpu/tile_geometry.h"
#include "backends/cpu/tile_ops.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {
namespace {

using graph::IndexAttrs;

// --- the index -------------------------------------------------------------------------------------------------------

// An index that was checked; negative elements count from the end.
template <class I>
struct Index {
  const I* at;
  int64_t extent;
  int64_t operator[](int64_t i) const { return at[i] < 0 ? int64_t(at[i]) + extent : int64_t(at[i]); }
};

Dims place_of(int64_t position, const Shape& shape) {
  Dims place = shape;
  for (int k = shape.rank() - 1; k >= 0; --k) place[k] = position % shape[k], position /= shape[k];
  return place;
}

class IndexCheck {
 public:
  explicit IndexCheck(const StepRequest& r)
      : op_(r.op->name),
        shape_(input_shape(r, 1)),
        attrs_(r.attrs.get<IndexAttrs>()),
        extent_(input_shape(r)[attrs_.axis]) {}

  template <class I>
  Index<I> operator()(const Operands& o) const {
    const I* index = o.in<I>(1);
    const int64_t count = numel(shape_), low = attrs_.from_end ? -extent_ : 0;
    std::atomic<int64_t> first{count};
    parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
      const I* wrong = std::find_if(index + begin, index + end, [&](I v) { return v < low || v >= extent_; });
      if (wrong != index + end) lower(first, wrong - index);
    });
    if (first < count) refuse(index[first], first, o.loc());
    return {index, extent_};
  }

 private:
  static void lower(std::atomic<int64_t>& least, int64_t value) {
    int64_t seen = least;
    while (value < seen && !least.compare_exchange_weak(seen, value)) {
    }
  }

  [[noreturn]] void refuse(int64_t value, int64_t position, Loc loc) const {
    const std::string range = extent_ == 0
                                  ? "no index, for there are no elements"
                                  : fmt::format("an index in {}..{}", attrs_.from_end ? -extent_ : 0, extent_ - 1);
    throw ValueError(op_,
                     fmt::format("expected {} along axis {} of extent {}, got {} at {} of the index", range,
                                 attrs_.axis, extent_, value, to_string(place_of(position, shape_))),
                     loc);
  }

  std::string op_;
  Shape shape_;
  IndexAttrs attrs_;
  int64_t extent_;
};

std::unique_ptr<Kernel> lower_class_index(const StepRequest& r) {
  const int64_t classes = r.attrs.get<graph::ClassIndexAttrs>().classes;
  const auto with = [&](auto i) {
    using I = decltype(i);
    return make_kernel([classes, shape = input_shape(r)](const Operands& o) {
      const I* index = o.in<I>(0);
      const int64_t count = numel(shape);
      const I* wrong = std::find_if(index, index + count, [&](I v) { return v < 0 || v >= classes; });
      if (wrong != index + count)
        throw ValueError("class_index",
                         fmt::format("expected classes in 0..{}, got {} at {}", classes - 1, *wrong,
                                     to_string(place_of(wrong - index, shape))),
                         o.loc());
      std::copy(index, index + count, o.out<I>());
    });
  };
  return input_dtype(r) == DType::I32 ? with(int32_t{}) : with(int64_t{});
}

// A kernel that calls f(operands, checked index).
template <class F>
std::unique_ptr<Kernel> make_indexed(const StepRequest& r, const F& f, int64_t scratch = 0) {
  const IndexCheck check(r);
  const auto with = [&](auto i) {
    using I = decltype(i);
    return make_kernel([=](const Operands& o) { f(o, check.template operator()<I>(o)); }, scratch);
  };
  return input_dtype(r, 1) == DType::I32 ? with(int32_t{}) : with(int64_t{});
}

// --- sums ------------------------------------------------------------------------------------------------------------

// As graph::add: bool is a logical or, integers wrap.
template <class A>
A plus(A a, A b) {
  if constexpr (std::is_same_v<A, bool>)
    return a | b;
  else if constexpr (std::is_integral_v<A>)
    return A(std::make_unsigned_t<A>(a) + std::make_unsigned_t<A>(b));
  else
    return a + b;
}

template <class T>
int64_t scratch_of_sums(const Shape& x) {
  return is_half_type<T> ? numel(x) * int64_t(sizeof(float)) : 0;
}

inline void convert(MoveFunction move, void* to, int64_t to_size, const void* from, int64_t from_size, int64_t count) {
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    move(static_cast<std::byte*>(to) + begin * to_size, 1, static_cast<const std::byte*>(from) + begin * from_size, 1,
         end - begin);
  });
}

// Input 0 becomes output 0 with what add(sums) adds to it. Halves are summed in f32 and rounded once.
template <class T, class F>
void with_sums(const Operands& o, int64_t count, const F& add) {
  if constexpr (is_half_type<T>) {
    float* sums = o.scratch<float>();
    convert(find_load(dtype_of<T>), sums, sizeof(float), o.in<T>(0), sizeof(T), count);
    add(sums);
    convert(find_store(dtype_of<T>), o.out<T>(), sizeof(T), sums, sizeof(float), count);
  } else {
    copy_unless_same(o.out<T>(), o.in<T>(0), count);
    add(o.out<T>());
  }
}

// --- gather, scatter, scatter_add: an index of x's rank, smaller than x maybe ----------------------------------------

// Index elements as rows whose neighbours lie beside each other in x too, but for their places along the axis.
class AlignedRows {
 public:
  AlignedRows(const Shape& x, const Shape& index, int axis) : length_(index[axis]) {
    const Dims x_strides = contiguous_strides(x), index_strides = contiguous_strides(index);
    x_step_ = x_strides[axis], index_step_ = index_strides[axis];
    int k = x.rank() - 1;
    for (bool dense = true; k > axis && dense; --k) run_ *= index[k], dense = index[k] == x[k];
    for (int i = 0; i <= k; ++i)
      if (i != axis)
        extents_.push_back(index[i]), x_strides_.push_back(x_strides[i]), index_strides_.push_back(index_strides[i]);
  }

  // Calls f(place in x without the axis, place in the index, count) for rows that together are the index; those of one
  // line along the axis come from one thread, in order.
  template <class F>
  void in_lines(const F& f) const {
    parallel_rows(numel(extents_), run_, length_, [&](int64_t row, int64_t begin, int64_t end) {
      const int64_t x = offset_of_row(extents_, x_strides_, row) + begin;
      const int64_t index = offset_of_row(extents_, index_strides_, row) + begin;
      for (int64_t i = 0; i < length_; ++i) f(x, index + i * index_step_, end - begin);
    });
  }
  // The same in any order.
  template <class F>
  void in_parallel(const F& f) const {
    if (numel(extents_) == 0 || run_ == 0) return;
    parallel_rows(numel(extents_), length_, run_, [&](int64_t row, int64_t begin, int64_t end) {
      const int64_t x = offset_of_row(extents_, x_strides_, row), index = offset_of_row(extents_, index_strides_, row);
      for (int64_t i = begin; i < end; ++i) f(x, index + i * index_step_, run_);
    });
  }
  int64_t step() const { return x_step_; }

 private:
  Dims extents_, x_strides_, index_strides_;
  int64_t length_, x_step_, index_step_, run_ = 1;
};

AlignedRows aligned_rows(const StepRequest& r) {
  return {input_shape(r), input_shape(r, 1), r.attrs.get<IndexAttrs>().axis};
}

std::unique_ptr<Kernel> lower_gather(const StepRequest& r) {
  return visit_word(input_dtype(r), [&](auto word) {
    using W = decltype(word);
    return make_indexed(r, [rows = aligned_rows(r)](const Operands& o, const auto& index) {
      const W* x = o.in<W>(0);
      W* y = o.out<W>();
      rows.in_parallel([&](int64_t at, int64_t i, int64_t count) {
        for (int64_t c = 0; c < count; ++c) y[i + c] = x[at + c + index[i + c] * rows.step()];
      });
    });
  });
}

std::unique_ptr<Kernel> lower_scatter(const StepRequest& r) {
  return visit_word(input_dtype(r), [&](auto word) {
    using W = decltype(word);
    return make_indexed(r,
                        [rows = aligned_rows(r), size = numel(input_shape(r))](const Operands& o, const auto& index) {
                          const W* source = o.in<W>(2);
                          W* y = o.out<W>();
                          copy_unless_same(y, o.in<W>(0), size);
                          rows.in_lines([&](int64_t at, int64_t i, int64_t count) {
                            for (int64_t c = 0; c < count; ++c) y[at + c + index[i + c] * rows.step()] = source[i + c];
                          });
                        });
  });
}

std::unique_ptr<Kernel> lower_scatter_add(const StepRequest& r) {
  return visit(input_dtype(r), [&](auto t) {
    using T = decltype(t);
    using A = compute_of<T>;
    const auto add = [rows = aligned_rows(r), size = numel(input_shape(r))](const Operands& o, const auto& index) {
      const T* source = o.in<T>(2);
      with_sums<T>(o, size, [&](A* sums) {
        rows.in_lines([&](int64_t at, int64_t i, int64_t count) {
          for (int64_t c = 0; c < count; ++c) {
            A& sum = sums[at + c + index[i + c] * rows.step()];
            sum = plus(sum, load_as<A>(source[i + c]));
          }
        });
      });
    };
    return make_indexed(r, add, scratch_of_sums<T>(input_shape(r)));
  });
}

// --- take, index_add: an index of any shape, whose elements each stand for a run of x --------------------------------

struct Runs {
  AxisSplit x;
  int64_t count, size;  // index elements, elements of x
  explicit Runs(const StepRequest& r)
      : x(input_shape(r), r.attrs.get<IndexAttrs>().axis),
        count(numel(input_shape(r, 1))),
        size(numel(input_shape(r))) {}
};

template <class W, class I>
void take_elements(const W* x, const Index<I>& index, W* y, const Runs& s) {
  parallel_rows(s.x.outer, s.count, 1, [&](int64_t row, int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) y[row * s.count + j] = x[row * s.x.extent + index[j]];
  });
}

template <class W, class I>
void take_runs(const W* x, const Index<I>& index, W* y, const Runs& s) {
  parallel_rows(s.x.outer * s.count, s.x.inner, 1, [&](int64_t row, int64_t begin, int64_t end) {
    const int64_t from = row / s.count * s.x.extent + index[row % s.count];
    copy_words(y + row * s.x.inner + begin, x + from * s.x.inner + begin, end - begin);
  });
}

std::unique_ptr<Kernel> lower_take(const StepRequest& r) {
  return visit_word(input_dtype(r), [&](auto word) {
    using W = decltype(word);
    return make_indexed(r, [s = Runs(r)](const Operands& o, const auto& index) {
      if (s.x.inner == 1)
        take_elements(o.in<W>(0), index, o.out<W>(), s);
      else
        take_runs(o.in<W>(0), index, o.out<W>(), s);
    });
  });
}

template <class T, class I>
void add_runs(compute_of<T>* sums, const Index<I>& index, const T* source, const Runs& s) {
  parallel_rows(s.x.outer, s.x.inner, s.count, [&](int64_t row, int64_t begin, int64_t end) {
    for (int64_t j = 0; j < s.count; ++j) {
      compute_of<T>* to = sums + (row * s.x.extent + index[j]) * s.x.inner;
      const T* from = source + (row * s.count + j) * s.x.inner;
      for (int64_t c = begin; c < end; ++c) to[c] = plus(to[c], load_as<compute_of<T>>(from[c]));
    }
  });
}

std::unique_ptr<Kernel> lower_index_add(const StepRequest& r) {
  return visit(input_dtype(r), [&](auto t) {
    using T = decltype(t);
    const auto add = [s = Runs(r)](const Operands& o, const auto& index) {
      with_sums<T>(o, s.size, [&](compute_of<T>* sums) { add_runs(sums, index, o.in<T>(2), s); });
    };
    return make_indexed(r, add, scratch_of_sums<T>(input_shape(r)));
  });
}

}  // namespace

void register_indexing(KernelTable& table) {
  table["class_index"] = {takes_everything, lower_class_index};
  table["gather"] = {takes_everything, lower_gather};
  table["scatter"] = {takes_everything, lower_scatter};
  table["scatter_add"] = {takes_everything, lower_scatter_add};
  table["take"] = {takes_everything, lower_take};
  table["index_add"] = {takes_everything, lower_index_add};
}

}  // namespace stoker::backends::cpu
