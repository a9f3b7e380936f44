// iota. Floating results are computed in f64 and rounded once; integers wrap.
#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/moving.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {
namespace {

template <class T, class F>
void fill_rows(T* y, int64_t rows, int64_t columns, const F& value) {
  parallel_rows(rows, columns, 1, [&](int64_t row, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[row * columns + i] = store_as<T>(value(i));
  });
}

std::unique_ptr<Kernel> lower_iota(const StepRequest& r) {
  const Shape& shape = output_shape(r);
  const int64_t columns = shape.empty() ? 1 : shape.back(), rows = columns == 0 ? 0 : numel(shape) / columns;
  const DType start_type = input_dtype(r, 0), step_type = input_dtype(r, 1);
  return visit(r.outputs[0].dtype, [&](auto t) {
    using T = decltype(t);
    using A = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    return make_kernel([=](const Operands& o) {
      const A start = number_as<A>(o, 0, start_type), step = number_as<A>(o, 1, step_type);
      fill_rows(o.out<T>(), rows, columns, [=](int64_t i) {
        if constexpr (std::is_integral_v<T>)
          return int64_t(uint64_t(start) + uint64_t(step) * uint64_t(i));
        else
          return start + step * double(i);
      });
    });
  });
}

}  // namespace

void register_iota(KernelTable& table) { table["iota"] = {takes_everything, lower_iota}; }

}  // namespace stoker::backends::cpu
