#include "backends/cpu/kernels/epilogue.h"

#include "backends/cpu/kernel.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scalar_ops.h"

namespace stoker::backends::cpu {
namespace {

using graph::Epilogue;

template <class T>
void add_tensor(T* y, const T* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = scalar::add(y[i], x[i]);
}
template <class T>
void add_value(T* y, T v, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = scalar::add(y[i], v);
}
template <class T>
void relu(T* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = y[i] <= T(0) ? T(0) : y[i];
}

}  // namespace

template <class T>
void apply_epilogue(std::span<const Epilogue> steps, std::span<const T* const> extras, T* y, int64_t outer,
                    int64_t channels, int64_t inner) {
  if (steps.empty()) return;
  // Rows that end with a channel, or, where a channel is one element, with all of them.
  const int64_t row = inner == 1 ? channels : inner, rows = inner == 1 ? outer : outer * channels;
  parallel_for(rows, std::max<int64_t>(1, kGrain / (row + 1)), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* at = y + r * row;
      size_t extra = 0;
      for (const Epilogue step : steps) {
        if (step == Epilogue::Relu)
          relu(at, row);
        else if (step == Epilogue::Add)
          add_tensor(at, extras[extra++] + r * row, row);
        else if (inner == 1)
          add_tensor(at, extras[extra++], row);
        else
          add_value(at, extras[extra++][r % channels], row);
      }
    }
  });
}

template void apply_epilogue<float>(std::span<const Epilogue>, std::span<const float* const>, float*, int64_t, int64_t,
                                    int64_t);
template void apply_epilogue<double>(std::span<const Epilogue>, std::span<const double* const>, double*, int64_t,
                                     int64_t, int64_t);
template void apply_epilogue<int32_t>(std::span<const Epilogue>, std::span<const int32_t* const>, int32_t*, int64_t,
                                      int64_t, int64_t);
template void apply_epilogue<int64_t>(std::span<const Epilogue>, std::span<const int64_t* const>, int64_t*, int64_t,
                                      int64_t, int64_t);

}  // namespace stoker::backends::cpu
