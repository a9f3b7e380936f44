/// \file
/// Shapes: up to eight extents, row-major, with the arithmetic that every room needs.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <stoker/error.h>

namespace stoker {

inline constexpr int kMaxRank = 8;

/// A list of at most kMaxRank integers: extents, strides, axes, padding. Never allocates.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(std::span<const int64_t>(values.begin(), values.size())) {}
  Dims(const std::vector<int64_t>& values) : Dims(std::span<const int64_t>(values)) {}
  explicit Dims(std::span<const int64_t> values);
  static Dims filled(int rank, int64_t value);

  int rank() const { return rank_; }
  size_t size() const { return size_t(rank_); }
  bool empty() const { return rank_ == 0; }
  int64_t& operator[](int i) { return values_[size_t(i)]; }
  int64_t operator[](int i) const { return values_[size_t(i)]; }
  int64_t back() const { return values_[size_t(rank_ - 1)]; }
  void push_back(int64_t value);
  void insert(int at, int64_t value);
  void erase(int at);
  const int64_t* begin() const { return values_.data(); }
  const int64_t* end() const { return values_.data() + rank_; }
  int64_t* begin() { return values_.data(); }
  int64_t* end() { return values_.data() + rank_; }
  std::vector<int64_t> to_vector() const { return {begin(), end()}; }
  bool operator==(const Dims& other) const;

 private:
  std::array<int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

using Shape = Dims;

/// "[2, 3]".
std::string to_string(const Dims& dims);

/// Number of elements; throws ShapeError for a negative extent or when the product leaves 63 bits.
int64_t numel(const Shape& shape, std::string_view operation = "shape", Loc loc = {});
/// Strides, in elements, of a dense row-major tensor.
Dims contiguous_strides(const Shape& shape);
/// NumPy's broadcast of two shapes; `operation` and `loc` name the caller in the ShapeError.
Shape broadcast_shapes(const Shape& a, const Shape& b, std::string_view operation = "broadcast", Loc loc = {});
/// Maps a negative axis onto 0..rank-1; throws ShapeError outside of -rank..rank-1.
int normalize_axis(int64_t axis, int rank, std::string_view operation, Loc loc = {});
/// The same for a list of axes; sorted, and a repeated axis is a ShapeError. An empty list means every axis.
Dims normalize_axes(const Dims& axes, int rank, std::string_view operation, Loc loc = {});

}  // namespace stoker
