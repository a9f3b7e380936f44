#include <stoker/shape.h>

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stoker {

Dims::Dims(std::span<const int64_t> values) {
  if (values.size() > kMaxRank)
    throw ShapeError("shape", fmt::format("expected at most {} dimensions, got {}", kMaxRank, values.size()));
  std::copy(values.begin(), values.end(), values_.begin());
  rank_ = int(values.size());
}

Dims Dims::filled(int rank, int64_t value) {
  Dims d;
  for (int i = 0; i < rank; ++i) d.push_back(value);
  return d;
}

void Dims::push_back(int64_t value) { insert(rank_, value); }

void Dims::insert(int at, int64_t value) {
  if (rank_ == kMaxRank)
    throw ShapeError("shape", fmt::format("expected at most {} dimensions, got {}", kMaxRank, rank_ + 1));
  std::copy_backward(begin() + at, end(), end() + 1);
  values_[size_t(at)] = value;
  ++rank_;
}

void Dims::erase(int at) {
  std::copy(begin() + at + 1, end(), begin() + at);
  --rank_;
}

bool Dims::operator==(const Dims& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

std::string to_string(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims.begin(), dims.end(), ", ")); }

int64_t numel(const Shape& shape, std::string_view operation, Loc loc) {
  int64_t n = 1;
  bool zero = false, overflow = false;
  for (int64_t d : shape) {
    if (d < 0)
      throw ShapeError(operation, fmt::format("expected extents of at least 0, got {}", to_string(shape)), loc);
    if (d == 0)
      zero = true;
    else if (__builtin_mul_overflow(n, d, &n))
      overflow = true;
  }
  if (zero) return 0;
  if (overflow)
    throw ShapeError(operation,
                     fmt::format("expected at most as many elements as 63 bits can count, got {}", to_string(shape)),
                     loc);
  return n;
}

Dims contiguous_strides(const Shape& shape) {
  Dims strides = Dims::filled(shape.rank(), 1);
  for (int i = shape.rank() - 2; i >= 0; --i) strides[i] = strides[i + 1] * std::max<int64_t>(shape[i + 1], 1);
  return strides;
}

Shape broadcast_shapes(const Shape& a, const Shape& b, std::string_view operation, Loc loc) {
  const int rank = std::max(a.rank(), b.rank());
  Shape out = Dims::filled(rank, 1);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank()), ib = i - (rank - b.rank());
    const int64_t da = ia < 0 ? 1 : a[ia], db = ib < 0 ? 1 : b[ib];
    if (da != db && da != 1 && db != 1)
      throw ShapeError(
          operation,
          fmt::format("expected shapes that broadcast (equal extents or 1, counted from the last axis), got {} and {}",
                      to_string(a), to_string(b)),
          loc);
    out[i] = da == 1 ? db : da;
  }
  return out;
}

int normalize_axis(int64_t axis, int rank, std::string_view operation, Loc loc) {
  const int bound = std::max(rank, 1);  // PyTorch lets axis 0 and -1 name a 0-d tensor's only element
  if (axis < -bound || axis >= bound)
    throw ShapeError(operation, fmt::format("expected an axis in {}..{}, got {}", -bound, bound - 1, axis), loc);
  return int(axis < 0 ? axis + bound : axis);
}

Dims normalize_axes(const Dims& axes, int rank, std::string_view operation, Loc loc) {
  Dims out;
  if (axes.empty()) {
    for (int i = 0; i < rank; ++i) out.push_back(i);
    return out;
  }
  for (int64_t axis : axes) out.push_back(normalize_axis(axis, rank, operation, loc));
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end())
    throw ShapeError(operation, fmt::format("expected each axis once, got {}", to_string(axes)), loc);
  return rank == 0 ? Dims{} : out;
}

}  // namespace stoker
