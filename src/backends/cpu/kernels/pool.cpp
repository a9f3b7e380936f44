// Pooling and its gradients, plain and adaptive: one plane after the other, planes divided among the threads.
#include <algorithm>
#include <limits>
#include <vector>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/pool_2x2.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/staging.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {
namespace {

using graph::AdaptivePoolAttrs;
using graph::PoolAttrs;

// A window along one axis: elements begin, begin + step, ... before end, all inside of the input.
struct Window {
  int64_t begin, end;
  int64_t divisor;  // how many elements an average divides by
};

int64_t count_steps(int64_t begin, int64_t end, int64_t step) { return end > begin ? (end - begin + step - 1) / step : 0; }

struct Axis {
  std::vector<Window> windows;
  int64_t step = 1;
  int64_t extent = 0;  // of the input

  Axis(const PoolAttrs& a, int k, int64_t input, int64_t outputs) : step(a.dilation[k]), extent(input) {
    for (int64_t i = 0; i < outputs; ++i) {
      const int64_t start = i * a.stride[k] - a.padding_low[k], stop = start + (a.kernel[k] - 1) * step + 1;
      const int64_t begin = start < 0 ? start + count_steps(start, 0, step) * step : start;
      const int64_t end = std::min(stop, input);
      const int64_t padded = count_steps(start, std::min(stop, input + a.padding_high[k]), step);
      windows.push_back({begin, end, a.count_include_pad ? padded : count_steps(begin, end, step)});
    }
  }
  Axis(const AdaptivePoolAttrs&, int, int64_t input, int64_t outputs) : extent(input) {
    for (int64_t i = 0; i < outputs; ++i) {
      const int64_t begin = i * input / outputs, end = ((i + 1) * input + outputs - 1) / outputs;
      windows.push_back({begin, end, end - begin});
    }
  }
  int64_t outputs() const { return int64_t(windows.size()); }
};

struct Pooling {
  int64_t planes;
  Axis rows, columns;
  template <class A>
  Pooling(const A& attrs, const Shape& x, const Shape& y)
      : planes(x[0] * x[1]), rows(attrs, 0, x[2], y[2]), columns(attrs, 1, x[3], y[3]) {}
  int64_t input() const { return rows.extent * columns.extent; }
  int64_t output() const { return rows.outputs() * columns.outputs(); }
};

template <class F>
void for_each_plane(int64_t planes, int64_t elements, const F& f) {
  parallel_for(planes, std::max<int64_t>(1, kGrain / (elements + 1)), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) f(p);
  });
}

// --- maximum ----------------------------------------------------------------------------------------------------------

// The first of the largest, or the first NaN. A window without any element has index -1.
template <class T>
void max_window(const T* x, const Pooling& p, const Window& rows, const Window& columns, T& value, int32_t& index) {
  value = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  index = -1;
  for (int64_t r = rows.begin; r < rows.end; r += p.rows.step)
    for (int64_t c = columns.begin; c < columns.end; c += p.columns.step) {
      const int64_t at = r * p.columns.extent + c;
      if (index < 0 || (!(x[at] <= value) && value == value)) value = x[at], index = int32_t(at);
    }
}

template <class T>
void max_plane(const T* x, T* y, int32_t* index, const Pooling& p) {
  for (const Window& rows : p.rows.windows)
    for (const Window& columns : p.columns.windows) max_window(x, p, rows, columns, *y++, *index++);
}

bool is_2x2(const Axis& axis) {
  for (int64_t i = 0; i < axis.outputs(); ++i)
    if (axis.step != 1 || axis.windows[size_t(i)].begin != 2 * i || axis.windows[size_t(i)].end != 2 * i + 2) return false;
  return axis.extent / 2 == axis.outputs();
}

template <class T>
std::unique_ptr<Kernel> lower_max(const Pooling& p) {
  const bool small = std::is_same_v<T, float> && is_2x2(p.rows) && is_2x2(p.columns);
  const auto run = [p, small](const Operands& io) {
    for_each_plane(p.planes, p.input(), [&](int64_t i) {
      const T* x = io.in<T>(0) + i * p.input();
      T* y = io.out<T>(0) + i * p.output();
      int32_t* index = io.out<int32_t>(1) + i * p.output();
      if constexpr (std::is_same_v<T, float>)
        if (small) return max_pool_2x2(x, y, index, p.rows.outputs(), p.columns.outputs(), p.columns.extent);
      max_plane(x, y, index, p);
    });
  };
  return make_kernel(run, 0, small ? "vector 2x2" : "portable");
}

template <class T>
void scatter_plane(const T* dy, const int32_t* index, T* dx, int64_t outputs, int64_t inputs) {
  std::fill_n(dx, inputs, T(0));
  for (int64_t i = 0; i < outputs; ++i)
    if (uint64_t(index[i]) < uint64_t(inputs)) dx[index[i]] += dy[i];
}

template <class T>
std::unique_ptr<Kernel> lower_max_gradient(const StepRequest& request) {
  const Shape y = input_shape(request), x = output_shape(request);
  const int64_t planes = x[0] * x[1], inputs = x[2] * x[3], outputs = y[2] * y[3];
  const bool halved = std::is_same_v<T, float> && x[2] == 2 * y[2] && x[3] == 2 * y[3];
  return make_kernel([=](const Operands& io) {
    for_each_plane(planes, inputs, [&](int64_t i) {
      const T* dy = io.in<T>(0) + i * outputs;
      const int32_t* index = io.in<int32_t>(1) + i * outputs;
      T* dx = io.out<T>() + i * inputs;
      if constexpr (std::is_same_v<T, float>)
        if (halved && max_pool_2x2_gradient(dy, index, dx, y[2], y[3])) return;
      scatter_plane(dy, index, dx, outputs, inputs);
    });
  });
}

// --- average ----------------------------------------------------------------------------------------------------------

template <class T>
T sum_window(const T* x, const Pooling& p, const Window& rows, const Window& columns) {
  T total = 0;
  for (int64_t r = rows.begin; r < rows.end; r += p.rows.step) {
    T row = 0;
    for (int64_t c = columns.begin; c < columns.end; c += p.columns.step) row += x[r * p.columns.extent + c];
    total += row;
  }
  return total;
}

template <class T>
std::unique_ptr<Kernel> lower_average(const Pooling& p) {
  return make_kernel([p](const Operands& io) {
    for_each_plane(p.planes, p.input(), [&](int64_t i) {
      const T* x = io.in<T>(0) + i * p.input();
      T* y = io.out<T>() + i * p.output();
      for (const Window& rows : p.rows.windows)
        for (const Window& columns : p.columns.windows)
          *y++ = sum_window(x, p, rows, columns) / T(rows.divisor * columns.divisor);
    });
  });
}

template <class T>
std::unique_ptr<Kernel> lower_average_gradient(const Pooling& p) {
  return make_kernel([p](const Operands& io) {
    for_each_plane(p.planes, p.input(), [&](int64_t i) {
      const T* dy = io.in<T>(0) + i * p.output();
      T* dx = io.out<T>() + i * p.input();
      std::fill_n(dx, p.input(), T(0));
      for (const Window& rows : p.rows.windows)
        for (const Window& columns : p.columns.windows) {
          const T share = *dy++ / T(rows.divisor * columns.divisor);
          for (int64_t r = rows.begin; r < rows.end; r += p.rows.step)
            for (int64_t c = columns.begin; c < columns.end; c += p.columns.step) dx[r * p.columns.extent + c] += share;
        }
    });
  });
}

// --- the table --------------------------------------------------------------------------------------------------------

// Calls f(T()) for a dtype that kernels here compute in.
template <class F>
std::unique_ptr<Kernel> for_floats(DType dtype, const F& f) {
  return dtype == DType::F64 ? f(double()) : f(float());
}
template <class F>
std::unique_ptr<Kernel> for_numbers(DType dtype, const F& f) {
  switch (dtype) {
    case DType::U8: return f(uint8_t());
    case DType::I8: return f(int8_t());
    case DType::I16: return f(int16_t());
    case DType::I32: return f(int32_t());
    case DType::I64: return f(int64_t());
    default: return for_floats(dtype, f);
  }
}

template <class A>
std::unique_ptr<Kernel> lower_max_pool(const StepRequest& r) {
  const Pooling p(r.attrs.get<A>(), input_shape(r), output_shape(r));
  return for_numbers(input_dtype(r), [&](auto t) { return lower_max<decltype(t)>(p); });
}
template <class A>
std::unique_ptr<Kernel> lower_average_pool(const StepRequest& r) {
  const Pooling p(r.attrs.get<A>(), input_shape(r), output_shape(r));
  return for_floats(input_dtype(r), [&](auto t) { return lower_average<decltype(t)>(p); });
}
template <class A>
std::unique_ptr<Kernel> lower_average_pool_gradient(const StepRequest& r) {
  const Pooling p(r.attrs.get<A>(), output_shape(r), input_shape(r));
  return for_floats(input_dtype(r), [&](auto t) { return lower_average_gradient<decltype(t)>(p); });
}
std::unique_ptr<Kernel> lower_max_pool_gradient(const StepRequest& r) {
  return for_numbers(input_dtype(r), [&](auto t) { return lower_max_gradient<decltype(t)>(r); });
}

}  // namespace

void register_pool(KernelTable& table) {
  const auto add = [&](const char* op, std::unique_ptr<Kernel> (*lower)(const StepRequest&)) {
    table[op] = {[](const StepRequest& r) { return input_dtype(r) != DType::Bool; },
                 [lower](const StepRequest& r) { return lower_widened(r, lower); }};
  };
  add("max_pool2d", lower_max_pool<PoolAttrs>);
  add("max_pool2d_gradient", lower_max_pool_gradient);
  add("avg_pool2d", lower_average_pool<PoolAttrs>);
  add("avg_pool2d_gradient", lower_average_pool_gradient<PoolAttrs>);
  add("adaptive_max_pool2d", lower_max_pool<AdaptivePoolAttrs>);
  add("adaptive_avg_pool2d", lower_average_pool<AdaptivePoolAttrs>);
  add("adaptive_avg_pool2d_gradient", lower_average_pool_gradient<AdaptivePoolAttrs>);
}

}  // namespace stoker::backends::cpu
