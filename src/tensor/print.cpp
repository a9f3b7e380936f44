// Printing as NumPy does: aligned columns, nested brackets, long axes summarised.
#include <algorithm>
#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include <stoker/tensor.h>

namespace stoker {
namespace {

constexpr int64_t kThreshold = 1000;  // more elements are summarised
constexpr int64_t kEdge = 3;          // elements shown at each end

class Printer {
 public:
  Printer(const Shape& shape, DType dtype, std::vector<double> values, std::vector<int64_t> integers)
      : shape_(shape),
        dtype_(dtype),
        values_(std::move(values)),
        integers_(std::move(integers)),
        summarise_(numel(shape) > kThreshold) {
    choose_format();
  }

  std::string print() {
    if (shape_.empty()) return element(0);
    if (numel(shape_) == 0) return "[]";
    return axis(0, 0);
  }

 private:
  template <class F>
  void for_shown(int64_t extent, F&& f) const {
    for (int64_t i = 0; i < extent; ++i) {
      if (summarise_ && extent > 2 * kEdge && i == kEdge) {
        f(int64_t(-1));
        i = extent - kEdge;
      }
      f(i);
    }
  }

  void shown_offsets(int a, int64_t offset, std::vector<int64_t>& out) const {
    if (a == shape_.rank()) {
      out.push_back(offset);
      return;
    }
    for_shown(shape_[a], [&](int64_t i) {
      if (i >= 0) shown_offsets(a + 1, offset * shape_[a] + i, out);
    });
  }

  void choose_format() {
    std::vector<int64_t> shown;
    if (numel(shape_) > 0) shown_offsets(0, 0, shown);
    if (is_floating(dtype_)) {
      double largest = 0, smallest = INFINITY;
      for (int64_t i : shown) {
        const double v = std::fabs(values_[size_t(i)]);
        if (!std::isfinite(v) || v == 0) continue;
        largest = std::max(largest, v);
        smallest = std::min(smallest, v);
      }
      scientific_ = largest >= 1e8 || (largest > 0 && (smallest < 1e-4 || largest / smallest > 1e3));
      for (precision_ = 0; precision_ < 8; ++precision_)
        if (std::all_of(shown.begin(), shown.end(), [&](int64_t i) { return exact(values_[size_t(i)]); })) break;
    }
    for (int64_t i : shown) width_ = std::max(width_, raw(i).size());
  }
  bool exact(double v) const {
    if (!std::isfinite(v)) return true;
    const std::string text = format(v);
    const double back = std::stod(text);
    return dtype_ == DType::F64 ? back == v : float(back) == float(v);
  }
  std::string format(double v) const {
    if (std::isnan(v)) return "nan";
    if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
    if (scientific_) return fmt::format("{:.{}e}", v, precision_);
    return precision_ == 0 ? fmt::format("{:.0f}.", v) : fmt::format("{:.{}f}", v, precision_);
  }
  std::string raw(int64_t i) const {
    if (is_floating(dtype_)) return format(values_[size_t(i)]);
    if (dtype_ == DType::Bool) return integers_[size_t(i)] ? "True" : "False";
    return fmt::format("{}", integers_[size_t(i)]);
  }
  std::string element(int64_t i) const { return fmt::format("{:>{}}", raw(i), width_); }

  std::string axis(int a, int64_t offset) const {
    const bool last = a + 1 == shape_.rank();
    const std::string separator =
        last ? ", " : "," + std::string(size_t(shape_.rank() - a - 1), '\n') + std::string(size_t(a + 1), ' ');
    std::string s = "[";
    bool first = true;
    for_shown(shape_[a], [&](int64_t i) {
      if (!first) s += separator;
      first = false;
      if (i < 0)
        s += "...";
      else
        s += last ? element(offset * shape_[a] + i) : axis(a + 1, offset * shape_[a] + i);
    });
    return s + "]";
  }

  Shape shape_;
  DType dtype_;
  std::vector<double> values_;
  std::vector<int64_t> integers_;
  bool summarise_;
  bool scientific_ = false;
  int precision_ = 8;
  size_t width_ = 0;
};

}  // namespace

std::string Tensor::to_string(Loc loc) const {
  if (!defined()) return "undefined";
  const bool floating = is_floating(dtype());
  return Printer(shape(), dtype(), floating ? to_vector<double>(loc) : std::vector<double>(),
                 floating ? std::vector<int64_t>() : to_vector<int64_t>(loc))
      .print();
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.to_string(); }

}  // namespace stoker
