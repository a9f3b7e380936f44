// sort, topk. An element becomes an unsigned key in the wanted order; with its index behind the key no two entries of a
// line are equal, so every algorithm gives the stable order.
#include <compare>
#include <limits>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/moving.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {
namespace {

// --- keys ------------------------------------------------------------------------------------------------------------

template <class U, class F>
U floating_key(F value) {
  constexpr U kSign = U(1) << (sizeof(U) * 8 - 1);
  if (value != value) return std::numeric_limits<U>::max();
  const U bits = std::bit_cast<U>(value == 0 ? F(0) : value);
  return bits & kSign ? U(~bits) : U(bits | kSign);
}

// Ascending, NaN the greatest, both zeros the same.
template <class T>
auto key_of(T value) {
  if constexpr (is_half_type<T>)
    return floating_key<uint32_t>(float(value));
  else if constexpr (std::is_same_v<T, float>)
    return floating_key<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return floating_key<uint64_t>(value);
  else if constexpr (sizeof(T) == 8)
    return uint64_t(value) ^ (uint64_t(1) << 63);
  else
    return uint32_t(int32_t(value)) ^ (uint32_t(1) << 31);
}

// Key and index in one word, where both fit.
class PackedEntry {
 public:
  PackedEntry() = default;
  PackedEntry(uint32_t key, int64_t index) : word_(uint64_t(key) << 32 | uint64_t(index)) {}
  int64_t index() const { return int64_t(word_ & 0xffffffffu); }
  auto operator<=>(const PackedEntry&) const = default;

 private:
  uint64_t word_;
};
class WideEntry {
 public:
  WideEntry() = default;
  WideEntry(uint64_t key, int64_t index) : key_(key), index_(index) {}
  int64_t index() const { return index_; }
  auto operator<=>(const WideEntry&) const = default;

 private:
  uint64_t key_;
  int64_t index_;
};

// --- lines -----------------------------------------------------------------------------------------------------------

// The first `kept` of each line in order, from x[outer, extent, inner] to y[outer, kept, inner].
struct Work {
  AxisSplit split;
  int64_t kept;
  bool descending;
  int64_t lines() const { return split.outer * split.inner; }
};

template <class T, class Entry>
void read_line(const T* x, Entry* entries, const Work& w, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const auto key = key_of(x[i * w.split.inner]);
    entries[i] = Entry(w.descending ? ~key : key, i);
  }
}

template <class T, class Entry>
void write_line(const T* x, const Entry* entries, T* values, int64_t* indices, const Work& w) {
  const int64_t stride = w.split.inner;
  for (int64_t i = 0; i < w.kept; ++i) {
    const int64_t from = entries[i].index();
    values[i * stride] = x[from * stride];
    indices[i * stride] = from;
  }
}

template <class Entry>
void order(Entry* entries, int64_t n, int64_t kept) {
  if (kept < n) std::nth_element(entries, entries + kept, entries + n);
  std::sort(entries, entries + kept);
}

// Places in x and y where a line starts.
struct LineStart {
  int64_t x, y;
  LineStart(const Work& w, int64_t line)
      : x(line / w.split.inner * w.split.extent * w.split.inner + line % w.split.inner),
        y(line / w.split.inner * w.kept * w.split.inner + line % w.split.inner) {}
};

int64_t operations(int64_t n) { return n * int64_t(std::bit_width(uint64_t(n))); }

template <class T, class Entry>
void sort_many(const T* x, T* values, int64_t* indices, Entry* scratch, const Work& w) {
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, operations(w.split.extent)));
  parallel_for(w.lines(), grain, [&](int64_t begin, int64_t end, int piece) {
    Entry* entries = scratch + piece * w.split.extent;
    for (int64_t line = begin; line < end; ++line) {
      const LineStart at(w, line);
      read_line(x + at.x, entries, w, 0, w.split.extent);
      order(entries, w.split.extent, w.kept);
      write_line(x + at.x, entries, values + at.y, indices + at.y, w);
    }
  });
}

// Sorts with all threads: parts at the same time, then pairs of them merged to and fro until one is left, which is
// returned.
template <class Entry>
Entry* order_together(Entry* entries, Entry* other, int64_t n) {
  const int64_t parts = thread_count();
  const auto bound = [&](int64_t part) { return Piece(n, parts, std::min(part, parts)).begin; };
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) std::sort(entries + bound(p), entries + bound(p + 1));
  });
  for (int64_t width = 1; width < parts; width *= 2) {
    parallel_for((parts + 2 * width - 1) / (2 * width), 1, [&](int64_t begin, int64_t end) {
      for (int64_t m = begin; m < end; ++m) {
        const int64_t first = bound(2 * m * width), middle = bound((2 * m + 1) * width),
                      last = bound((2 * m + 2) * width);
        std::merge(entries + first, entries + middle, entries + middle, entries + last, other + first);
      }
    });
    std::swap(entries, other);
  }
  return entries;
}

template <class T, class Entry>
void sort_few(const T* x, T* values, int64_t* indices, Entry* scratch, const Work& w) {
  for (int64_t line = 0; line < w.lines(); ++line) {
    const LineStart at(w, line);
    parallel_for(w.split.extent, kGrain, [&](int64_t b, int64_t e) { read_line(x + at.x, scratch, w, b, e); });
    const Entry* sorted = order_together(scratch, scratch + w.split.extent, w.split.extent);
    write_line(x + at.x, sorted, values + at.y, indices + at.y, w);
  }
}

// --- lowering --------------------------------------------------------------------------------------------------------

template <class T, class Entry>
std::unique_ptr<Kernel> make_sort(const Work& w) {
  const bool together =
      w.kept == w.split.extent && w.lines() < thread_count() && operations(w.split.extent) > 2 * kGrain;
  const int64_t buffers = together ? 2 : std::min<int64_t>(thread_count(), w.lines());
  const int64_t scratch = buffers * w.split.extent * int64_t(sizeof(Entry));
  return make_kernel(
      [=](const Operands& o) {
        if (w.lines() * w.kept == 0) return;
        const auto sort = together ? sort_few<T, Entry> : sort_many<T, Entry>;
        sort(o.in<T>(0), o.out<T>(0), o.out<int64_t>(1), o.scratch<Entry>(), w);
      },
      scratch);
}

std::unique_ptr<Kernel> lower_work(const StepRequest& r, const Work& w) {
  return visit(input_dtype(r), [&](auto t) -> std::unique_ptr<Kernel> {
    using T = decltype(t);
    if constexpr (sizeof(T) <= 4)
      if (w.split.extent <= int64_t(1) << 32) return make_sort<T, PackedEntry>(w);
    return make_sort<T, WideEntry>(w);
  });
}

std::unique_ptr<Kernel> lower_sort(const StepRequest& r) {
  const auto& a = r.attrs.get<graph::SortAttrs>();
  const AxisSplit split(input_shape(r), a.axis);
  return lower_work(r, {split, split.extent, a.descending});
}

std::unique_ptr<Kernel> lower_topk(const StepRequest& r) {
  const auto& a = r.attrs.get<graph::TopkAttrs>();
  return lower_work(r, {AxisSplit(input_shape(r), a.axis), a.k, a.largest});
}

}  // namespace

void register_sort(KernelTable& table) {
  table["sort"] = {takes_everything, lower_sort};
  table["topk"] = {takes_everything, lower_topk};
}

}  // namespace stoker::backends::cpu
