// What kernels share that move elements: elements as words, numbers as elements, rows in parallel.
#pragma once

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/parallel.h"

namespace stoker::backends::cpu {

// Calls f with an unsigned integer of the dtype's size: one kernel moves f32, i32 and whatever else has four bytes.
template <class F>
decltype(auto) visit_word(DType dtype, F&& f) {
  switch (size_of(dtype)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

// Number i of the parameter block, whose type is `dtype`, as an element.
template <class T>
T number_as(const Operands& o, int i, DType dtype) {
  if (!is_floating(dtype)) return store_as<T>(o.integer(i));
  if constexpr (std::is_integral_v<T>)
    return store_as<T>(int64_t(o.number(i)));
  else
    return store_as<T>(o.number(i));
}

// Calls f(row, begin, end) for parts of rows that together cover `rows` x `columns`; `cost`: operations of one element.
template <class F>
void parallel_rows(int64_t rows, int64_t columns, int64_t cost, const F& f) {
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, cost));
  parallel_for(rows * columns, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin / columns; begin < end; ++row) {
      const int64_t first = begin - row * columns, last = std::min(columns, first + end - begin);
      f(row, first, last);
      begin += last - first;
    }
  });
}

template <class W>
void copy_words(W* to, const W* from, int64_t count) {
  constexpr int64_t kCallPays = 16;
  if (count >= kCallPays)
    std::memcpy(to, from, size_t(count) * sizeof(W));
  else
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
}

// An operation that may work in place finds nothing to copy when it does.
template <class W>
void copy_unless_same(W* to, const W* from, int64_t count) {
  if (to == from) return;
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) { copy_words(to + begin, from + begin, end - begin); });
}

}  // namespace stoker::backends::cpu
