// Printing as NumPy does: aligned columns, nested brackets, long axes summarised.
#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include <fmt/format.h>

#include <stoker/tensor.h>

namespace stoker {
namespace {

constexpr int64_t kThreshold = 1000;  // more elements are summarised
constexpr int64_t kEdge = 3;          // elements shown at each end
constexpr int kDigits = 8;            // after the point, at most
constexpr int kLineWidth = 75;

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
    if (is_floating(dtype_)) choose_digits(shown);
    for (int64_t i : shown) width_ = std::max(width_, raw(i).size());
  }

  void choose_digits(const std::vector<int64_t>& shown) {
    double largest = 0, smallest = std::numeric_limits<double>::infinity();
    for (int64_t i : shown) {
      const double v = std::fabs(values_[size_t(i)]);
      if (!std::isfinite(v) || v == 0) continue;
      largest = std::max(largest, v);
      smallest = std::min(smallest, v);
    }
    scientific_ = largest >= 1e8 || (largest > 0 && (smallest < 1e-4 || largest / smallest > 1e3));
    for (int64_t i : shown) {
      const double v = values_[size_t(i)];
      if (!std::isfinite(v)) continue;
      const std::string text = shortest(v);
      const size_t point = text.find('.'), end = std::min(text.find('e'), text.size());
      fraction_ = std::max(fraction_, end - point - 1);
      exponent_ = std::max(exponent_, text.size() - end);
    }
  }

  // The fewest digits after the point, up to eight, that tell the number from its neighbours in its dtype.
  std::string shortest(double v) const {
    std::string text;
    for (int digits = 0; digits <= kDigits; ++digits) {
      text = with_point(v, digits);
      if (is_same(std::stod(text), v)) break;
    }
    const size_t end = std::min(text.find('e'), text.size()), last = text.find_last_not_of('0', end - 1);
    return text.erase(last + 1, end - last - 1);
  }
  std::string with_point(double v, int digits) const {
    return scientific_ ? fmt::format("{:#.{}e}", v, digits) : fmt::format("{:#.{}f}", v, digits);
  }
  bool is_same(double back, double v) const {
    switch (dtype_) {
      case DType::F64:
        return back == v;
      case DType::F16:
        return float(Half(float(back))) == float(v);
      case DType::BF16:
        return float(BFloat16(float(back))) == float(v);
      default:
        return float(back) == float(v);
    }
  }

  // Points stand below each other: zeros fill up a fraction before an exponent, blanks any other.
  std::string format(double v) const {
    if (std::isnan(v)) return "nan";
    if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
    if (!scientific_) {
      std::string text = shortest(v);
      text.append(fraction_ - (text.size() - text.find('.') - 1), ' ');
      return text;
    }
    std::string text = with_point(v, int(fraction_));
    const size_t e = text.find('e');
    text.insert(e + 2, exponent_ - (text.size() - e), '0');
    return text;
  }
  std::string raw(int64_t i) const {
    if (is_floating(dtype_)) return format(values_[size_t(i)]);
    if (dtype_ == DType::Bool) return integers_[size_t(i)] ? "True" : "False";
    return fmt::format("{}", integers_[size_t(i)]);
  }
  std::string element(int64_t i) const { return fmt::format("{:>{}}", raw(i), width_); }

  std::string axis(int a, int64_t offset) const {
    return a + 1 == shape_.rank() ? line(a, offset * shape_[a]) : lines(a, offset * shape_[a]);
  }
  // Axes further in, a line each, with as many line feeds between them as there are axes below.
  std::string lines(int a, int64_t offset) const {
    const std::string separator =
        "," + std::string(size_t(shape_.rank() - a - 1), '\n') + std::string(size_t(a + 1), ' ');
    std::string s;
    for_shown(shape_[a], [&](int64_t i) {
      if (!s.empty()) s += separator;
      s += i < 0 ? "..." : axis(a + 1, offset + i);
    });
    return "[" + s + "]";
  }
  // The last axis, broken where a line would be longer than kLineWidth, brackets included.
  std::string line(int a, int64_t offset) const {
    const size_t indent = size_t(a + 1), room = size_t(kLineWidth - a - 1);
    std::string s;
    size_t column = indent;
    for_shown(shape_[a], [&](int64_t i) {
      const std::string word = i < 0 ? "..." : element(offset + i);
      if (!s.empty()) s += ",";
      const size_t gap = s.empty() ? 0 : 1;
      if (gap && column + 2 + word.size() > room) {
        s += "\n" + std::string(indent, ' ') + word;
        column = indent + word.size();
      } else {
        s += std::string(gap, ' ') + word;
        column += 2 * gap + word.size();
      }
    });
    return "[" + s + "]";
  }

  Shape shape_;
  DType dtype_;
  std::vector<double> values_;
  std::vector<int64_t> integers_;
  bool summarise_;
  bool scientific_ = false;
  size_t fraction_ = 0, exponent_ = 0;  // widths after the point, and from the e on
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
