// concat, pad. Both fill the output from its first element to its last, in parts of rows.
#include <vector>

#include "backends/cpu/kernel.h"
#include "backends/cpu/kernels/moving.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {
namespace {

// --- concat: a row of the output is a run of each input after the other ----------------------------------------------

struct Part {
  int input;
  int64_t begin, length;  // of its run in the row
};

std::vector<Part> parts_of_row(const StepRequest& r, int axis) {
  std::vector<Part> parts;
  int64_t begin = 0;
  for (int i = 0; i < int(r.inputs.size()); ++i) {
    const AxisSplit split(input_shape(r, i), axis);
    const int64_t length = split.extent * split.inner;
    if (length > 0) parts.push_back({i, begin, length});
    begin += length;
  }
  return parts;
}

// Columns [begin, end) of one row of y.
template <class W>
void copy_parts(W* y, const Operands& o, const std::vector<Part>& parts, int64_t row, int64_t begin, int64_t end) {
  const auto starts_later = [](int64_t at, const Part& p) { return at < p.begin; };
  auto part = std::upper_bound(parts.begin(), parts.end(), begin, starts_later) - 1;
  for (; begin < end; ++part) {
    const int64_t last = std::min(end, part->begin + part->length);
    copy_words(y + begin, o.in<W>(part->input) + row * part->length + begin - part->begin, last - begin);
    begin = last;
  }
}

std::unique_ptr<Kernel> lower_concat(const StepRequest& r) {
  const int axis = r.attrs.get<graph::IndexAttrs>().axis;
  const AxisSplit split(output_shape(r), axis);
  return visit_word(input_dtype(r), [&](auto word) {
    using W = decltype(word);
    return make_kernel(
        [parts = parts_of_row(r, axis), rows = split.outer, columns = split.extent * split.inner](const Operands& o) {
          parallel_rows(rows, columns, 1, [&](int64_t row, int64_t begin, int64_t end) {
            copy_parts(o.out<W>() + row * columns, o, parts, row, begin, end);
          });
        });
  });
}

// --- pad: a row of the output holds at most one row of the input; negative padding crops -----------------------------

class Frame {
 public:
  Frame(const Shape& x, const graph::PadAttrs& a) {
    for (int k = 0; k < x.rank(); ++k) push(x[k], a.low[k], a.high[k]);
    if (x_.empty()) push(1, 0, 0);
  }

  int64_t columns() const { return y_.back(); }
  int64_t rows() const { return columns() == 0 ? 0 : numel(y_) / columns(); }
  // The columns of y that come from x.
  int64_t first() const { return std::clamp<int64_t>(low_.back(), 0, columns()); }
  int64_t last() const { return std::clamp<int64_t>(low_.back() + x_.back(), first(), columns()); }

  // Where row `row` of y starts in x, were it there from its first column on; false where all of it is padding.
  bool find_row(int64_t row, int64_t& offset) const {
    int64_t stride = x_.back();
    offset = -low_.back();
    for (int k = y_.rank() - 2; k >= 0; --k) {
      const int64_t at = row % y_[k] - low_[k];
      if (at < 0 || at >= x_[k]) return false;
      offset += at * stride;
      stride *= x_[k];
      row /= y_[k];
    }
    return true;
  }

 private:
  // An axis that is not padded becomes one with the axis before it, whose padding grows by its extent.
  void push(int64_t extent, int64_t low, int64_t high) {
    if (low == 0 && high == 0 && !x_.empty()) {
      const int k = x_.rank() - 1;
      x_[k] *= extent, y_[k] *= extent, low_[k] *= extent;
    } else {
      x_.push_back(extent), y_.push_back(extent + low + high), low_.push_back(low);
    }
  }
  Dims x_, y_, low_;
};

template <class T>
void pad_row(T* y, const T* x, int64_t offset, T value, const Frame& f, int64_t begin, int64_t end) {
  const int64_t first = std::clamp(f.first(), begin, end), last = std::clamp(f.last(), begin, end);
  std::fill(y + begin, y + first, value);
  if (first < last) copy_words(y + first, x + (offset + first), last - first);
  std::fill(y + last, y + end, value);
}

template <class T>
void pad(T* y, const T* x, T value, const Frame& f) {
  parallel_rows(f.rows(), f.columns(), 1, [&](int64_t row, int64_t begin, int64_t end) {
    T* to = y + row * f.columns();
    int64_t offset;
    if (f.find_row(row, offset))
      pad_row(to, x, offset, value, f, begin, end);
    else
      std::fill(to + begin, to + end, value);
  });
}

std::unique_ptr<Kernel> lower_pad(const StepRequest& r) {
  const Frame frame(input_shape(r), r.attrs.get<graph::PadAttrs>());
  return visit(input_dtype(r), [&](auto t) {
    using T = decltype(t);
    return make_kernel([frame, number = input_dtype(r, 1)](const Operands& o) {
      pad(o.out<T>(), o.in<T>(0), number_as<T>(o, 1, number), frame);
    });
  });
}

}  // namespace

void register_join(KernelTable& table) {
  table["concat"] = {takes_everything, lower_concat};
  table["pad"] = {takes_everything, lower_pad};
}

}  // namespace stoker::backends::cpu
