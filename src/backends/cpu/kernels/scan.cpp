// cumsum, cumprod. A line is walked in its own order by one thread, so that results do not depend on their number.
#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/moving.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {
namespace {

using graph::ScanAttrs;

constexpr int64_t kColumns = 256;

struct Sum {
  static constexpr int kIdentity = 0;
  template <class A>
  static A combine(A a, A b) {
    if constexpr (std::is_integral_v<A>)
      return A(uint64_t(a) + uint64_t(b));
    else
      return a + b;
  }
};
struct Product {
  static constexpr int kIdentity = 1;
  template <class A>
  static A combine(A a, A b) {
    if constexpr (std::is_integral_v<A>)
      return A(uint64_t(a) * uint64_t(b));
    else
      return a * b;
  }
};

// What the scans of T give.
template <class T>
using scan_of = std::conditional_t<is_half_type<T> || std::is_floating_point_v<T>, T, int64_t>;

// One element of a line: the total before it or with it goes to y.
template <class Op, class T, class A>
inline void step(T x, scan_of<T>& y, A& total, bool exclusive) {
  const A next = Op::combine(total, load_as<A>(x));
  y = store_as<scan_of<T>>(exclusive ? total : next);
  total = next;
}

// Where a walk over a line starts, and its stride.
struct Line {
  int64_t first, stride;
  Line(const AxisSplit& s, bool reverse)
      : first(reverse ? (s.extent - 1) * s.inner : 0), stride(reverse ? -s.inner : s.inner) {}
};

template <class Op, class T>
void scan_line(const T* x, scan_of<T>* y, const AxisSplit& s, const ScanAttrs& a) {
  const Line line(s, a.reverse);
  auto total = accumulator_of<T>(Op::kIdentity);
  for (int64_t i = 0, at = line.first; i < s.extent; ++i, at += line.stride) step<Op>(x[at], y[at], total, a.exclusive);
}

template <class Op, class T>
void scan_lines(const T* x, scan_of<T>* y, int64_t columns, const AxisSplit& s, const ScanAttrs& a) {
  const Line line(s, a.reverse);
  accumulator_of<T> totals[kColumns];
  std::fill_n(totals, columns, accumulator_of<T>(Op::kIdentity));
  for (int64_t i = 0, at = line.first; i < s.extent; ++i, at += line.stride)
    for (int64_t c = 0; c < columns; ++c) step<Op>(x[at + c], y[at + c], totals[c], a.exclusive);
}

template <class Op, class T>
void scan(const T* x, scan_of<T>* y, const AxisSplit& s, const ScanAttrs& a) {
  parallel_rows(s.outer, s.inner, s.extent, [&](int64_t row, int64_t begin, int64_t end) {
    const int64_t base = row * s.extent * s.inner;
    if (s.inner == 1)
      scan_line<Op>(x + base, y + base, s, a);
    else
      for (int64_t c = begin; c < end; c += kColumns)
        scan_lines<Op>(x + base + c, y + base + c, std::min(kColumns, end - c), s, a);
  });
}

template <class Op>
std::unique_ptr<Kernel> lower_scan(const StepRequest& r) {
  const auto& attrs = r.attrs.get<ScanAttrs>();
  const AxisSplit split(input_shape(r), attrs.axis);
  return visit(input_dtype(r), [&](auto t) {
    using T = decltype(t);
    return make_kernel([split, attrs](const Operands& o) { scan<Op>(o.in<T>(0), o.out<scan_of<T>>(), split, attrs); });
  });
}

}  // namespace

void register_scan(KernelTable& table) {
  table["cumsum"] = {takes_everything, lower_scan<Sum>};
  table["cumprod"] = {takes_everything, lower_scan<Product>};
}

}  // namespace stoker::backends::cpu
