// max_pool2d, avg_pool2d, their adaptive forms and gradients. Planes (one image, one channel) are independent: each
// thread takes some. Gradients gather into a plane that nobody else writes, in the order of the output.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/parallel.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {
namespace {

using graph::AdaptivePoolAttrs;
using graph::PoolAttrs;

struct Plane {
  int64_t height, width;
  int64_t size() const { return height * width; }
  static Plane of(const Shape& shape) { return {shape[2], shape[3]}; }
};
int64_t planes(const Shape& shape) { return shape[0] * shape[1]; }

// One axis of one window: the elements begin, begin + step, ... below end, all inside of the input, and how many
// elements of the explicitly padded input the window covers.
struct Span {
  int64_t begin, end, step, padded;
  int64_t count() const { return end > begin ? (end - begin + step - 1) / step : 0; }
};

Span window(const PoolAttrs& a, int axis, int64_t extent, int64_t i) {
  const int64_t start = i * a.stride[axis] - a.padding_low[axis], step = a.dilation[axis];
  const int64_t stop = start + (a.kernel[axis] - 1) * step + 1;
  const int64_t skipped = start < 0 ? (-start + step - 1) / step : 0;
  const int64_t padded = std::min(stop, extent + a.padding_high[axis]) - start;
  return {start + skipped * step, std::min(stop, extent), step, padded};
}

Span adaptive_window(int64_t extent, int64_t out, int64_t i) {
  const int64_t begin = i * extent / out, end = ((i + 1) * extent + out - 1) / out;
  return {begin, end, 1, end - begin};
}

// The windows of both axes, worked out once.
struct Windows {
  std::vector<Span> rows, columns;
  Windows(const PoolAttrs& a, Plane in, Plane out) {
    for (int64_t i = 0; i < out.height; ++i) rows.push_back(window(a, 0, in.height, i));
    for (int64_t i = 0; i < out.width; ++i) columns.push_back(window(a, 1, in.width, i));
  }
  Windows(const AdaptivePoolAttrs&, Plane in, Plane out) {
    for (int64_t i = 0; i < out.height; ++i) rows.push_back(adaptive_window(in.height, out.height, i));
    for (int64_t i = 0; i < out.width; ++i) columns.push_back(adaptive_window(in.width, out.width, i));
  }
};

template <class F>
void for_each_plane(int64_t count, int64_t work, const F& f) {
  parallel_for(count, std::max<int64_t>(1, kGrain / std::max<int64_t>(work, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) f(p);
  });
}

// --- maximum ---------------------------------------------------------------------------------------------------------

// The first of equals; a NaN ends the search.
template <class T>
void max_of_window(const T* x, int64_t width, const Span& rows, const Span& columns, T* y, int32_t* index) {
  using A = compute_of<T>;
  int64_t best = rows.begin * width + columns.begin;
  A largest = load_as<A>(x[best]);
  for (int64_t r = rows.begin; r < rows.end; r += rows.step)
    for (int64_t c = columns.begin; c < columns.end; c += columns.step) {
      const A v = load_as<A>(x[r * width + c]);
      if (v > largest || (v != v && largest == largest)) {
        largest = v;
        best = r * width + c;
      }
    }
  *y = x[best];
  *index = int32_t(best);
}

// The common 2x2 window with stride 2 on whole pairs.
template <class T>
void max_of_pairs(const T* x, Plane in, Plane out, T* y, int32_t* index) {
  using A = compute_of<T>;
  for (int64_t r = 0; r < out.height; ++r) {
    const T *top = x + 2 * r * in.width, *bottom = top + in.width;
    const int32_t base = int32_t(2 * r * in.width);
    for (int64_t c = 0; c < out.width; ++c) {
      const A v[4] = {load_as<A>(top[2 * c]), load_as<A>(top[2 * c + 1]), load_as<A>(bottom[2 * c]),
                      load_as<A>(bottom[2 * c + 1])};
      const int32_t at[4] = {base + int32_t(2 * c), base + int32_t(2 * c) + 1, base + int32_t(2 * c + in.width),
                             base + int32_t(2 * c + in.width) + 1};
      A largest = v[0];
      int32_t best = at[0];
      for (int k = 1; k < 4; ++k) {
        const bool wins = v[k] > largest || (v[k] != v[k] && largest == largest);
        largest = wins ? v[k] : largest;
        best = wins ? at[k] : best;
      }
      y[r * out.width + c] = store_as<T>(largest);
      index[r * out.width + c] = best;
    }
  }
}

bool pairs(const PoolAttrs& a) {
  const Dims two{2, 2}, one{1, 1}, none{0, 0};
  return a.kernel == two && a.stride == two && a.dilation == one && a.padding_low == none && a.padding_high == none &&
         !a.ceil_mode;
}
bool pairs(const AdaptivePoolAttrs&) { return false; }

template <class T, class Attributes>
std::unique_ptr<Kernel> make_max(const StepRequest& r) {
  const auto& a = r.attrs.get<Attributes>();
  const Plane in = Plane::of(input_shape(r)), out = Plane::of(output_shape(r));
  const int64_t count = planes(output_shape(r));
  if (pairs(a))
    return make_kernel(
        [=](const Operands& o) {
          const T* x = o.in<T>(0);
          T* y = o.out<T>(0);
          int32_t* index = o.out<int32_t>(1);
          for_each_plane(count, in.size(), [&](int64_t p) {
            max_of_pairs(x + p * in.size(), in, out, y + p * out.size(), index + p * out.size());
          });
        },
        0, "pairs");
  const Windows windows(a, in, out);
  return make_kernel([=](const Operands& o) {
    const T* x = o.in<T>(0);
    T* y = o.out<T>(0);
    int32_t* index = o.out<int32_t>(1);
    for_each_plane(count, in.size(), [&](int64_t p) {
      int64_t i = p * out.size();
      for (const Span& rows : windows.rows)
        for (const Span& columns : windows.columns) {
          max_of_window(x + p * in.size(), in.width, rows, columns, y + i, index + i);
          ++i;
        }
    });
  });
}

template <class T>
std::unique_ptr<Kernel> make_max_gradient(const StepRequest& r) {
  using A = accumulator_of<T>;
  const Plane in = Plane::of(output_shape(r)), out = Plane::of(input_shape(r));
  const int64_t count = planes(output_shape(r));
  return make_kernel([=](const Operands& o) {
    const T* dy = o.in<T>(0);
    const int32_t* index = o.in<int32_t>(1);
    T* dx = o.out<T>();
    for_each_plane(count, in.size(), [&](int64_t p) {
      const T* g = dy + p * out.size();
      const int32_t* at = index + p * out.size();
      T* to = dx + p * in.size();
      std::fill(to, to + in.size(), T());
      for (int64_t i = 0; i < out.size(); ++i) to[at[i]] = store_as<T>(A(load_as<A>(to[at[i]]) + load_as<A>(g[i])));
    });
  });
}

// --- average ---------------------------------------------------------------------------------------------------------

int64_t divisor(const PoolAttrs& a, const Span& rows, const Span& columns) {
  return a.count_include_pad ? rows.padded * columns.padded : rows.count() * columns.count();
}
int64_t divisor(const AdaptivePoolAttrs&, const Span& rows, const Span& columns) {
  return rows.count() * columns.count();
}

template <class T, class Attributes>
std::unique_ptr<Kernel> make_average(const StepRequest& r) {
  using A = accumulator_of<T>;
  const auto a = r.attrs.get<Attributes>();
  const Plane in = Plane::of(input_shape(r)), out = Plane::of(output_shape(r));
  const Windows windows(a, in, out);
  const int64_t count = planes(output_shape(r));
  return make_kernel([=](const Operands& o) {
    const T* x = o.in<T>(0);
    T* y = o.out<T>();
    for_each_plane(count, in.size(), [&](int64_t p) {
      const T* from = x + p * in.size();
      T* to = y + p * out.size();
      for (const Span& rows : windows.rows)
        for (const Span& columns : windows.columns) {
          A sum = 0;
          for (int64_t i = rows.begin; i < rows.end; ++i)
            for (int64_t j = columns.begin; j < columns.end; ++j) sum += load_as<A>(from[i * in.width + j]);
          *to++ = store_as<T>(A(sum / A(divisor(a, rows, columns))));
        }
    });
  });
}

template <class T, class Attributes>
std::unique_ptr<Kernel> make_average_gradient(const StepRequest& r) {
  using A = accumulator_of<T>;
  const auto a = r.attrs.get<Attributes>();
  const Plane in = Plane::of(output_shape(r)), out = Plane::of(input_shape(r));
  const Windows windows(a, in, out);
  const int64_t count = planes(output_shape(r));
  return make_kernel([=](const Operands& o) {
    const T* dy = o.in<T>(0);
    T* dx = o.out<T>();
    for_each_plane(count, in.size(), [&](int64_t p) {
      std::vector<A> sums(static_cast<size_t>(in.size()), A(0));
      const T* g = dy + p * out.size();
      for (const Span& rows : windows.rows)
        for (const Span& columns : windows.columns) {
          const A share = A(load_as<A>(*g++) / A(divisor(a, rows, columns)));
          for (int64_t i = rows.begin; i < rows.end; ++i)
            for (int64_t j = columns.begin; j < columns.end; ++j) sums[size_t(i * in.width + j)] += share;
        }
      std::transform(sums.begin(), sums.end(), dx + p * in.size(), [](A s) { return store_as<T>(s); });
    });
  });
}

// --- the table -------------------------------------------------------------------------------------------------------

bool floating_input(const StepRequest& r) { return is_floating(input_dtype(r)); }

template <template <class> class Maker>
KernelEntry entry() {
  return {floating_input, [](const StepRequest& r) -> std::unique_ptr<Kernel> {
            switch (input_dtype(r)) {
              case DType::F16:
                return Maker<Half>::make(r);
              case DType::BF16:
                return Maker<BFloat16>::make(r);
              case DType::F64:
                return Maker<double>::make(r);
              default:
                return Maker<float>::make(r);
            }
          }};
}

#define STOKER_POOL(name, function)                                                   \
  template <class T>                                                                  \
  struct name {                                                                       \
    static std::unique_ptr<Kernel> make(const StepRequest& r) { return function(r); } \
  };
STOKER_POOL(Max, (make_max<T, PoolAttrs>))
STOKER_POOL(AdaptiveMax, (make_max<T, AdaptivePoolAttrs>))
STOKER_POOL(MaxGradient, make_max_gradient<T>)
STOKER_POOL(Average, (make_average<T, PoolAttrs>))
STOKER_POOL(AverageGradient, (make_average_gradient<T, PoolAttrs>))
STOKER_POOL(AdaptiveAverage, (make_average<T, AdaptivePoolAttrs>))
STOKER_POOL(AdaptiveAverageGradient, (make_average_gradient<T, AdaptivePoolAttrs>))
#undef STOKER_POOL

}  // namespace

void register_pooling(KernelTable& table) {
  table["max_pool2d"] = entry<Max>();
  table["adaptive_max_pool2d"] = entry<AdaptiveMax>();
  table["max_pool2d_gradient"] = entry<MaxGradient>();
  table["avg_pool2d"] = entry<Average>();
  table["avg_pool2d_gradient"] = entry<AverageGradient>();
  table["adaptive_avg_pool2d"] = entry<AdaptiveAverage>();
  table["adaptive_avg_pool2d_gradient"] = entry<AdaptiveAverageGradient>();
}

}  // namespace stoker::backends::cpu
