// What the public functions share. Each opens a Call, reads its tensors through it as graph Values, and wraps the
// result: the functions say which operations make up a result, and the operation table says the rest.
#pragma once

#include <fmt/format.h>

#include "graph/build.h"
#include "tensor/access.h"

namespace stoker::detail {

using graph::Value;

// One call of a public function: its name for errors, and its line for everything that it records.
class Call {
 public:
  Call(std::string_view name, Loc loc) : name_(name), scope_(loc, name), loc_(graph::LocScope::current()) {
    graph::Recorder::current().bound();  // here every live value is held by some tensor
  }
  Value operator()(const Tensor& tensor) const { return Access::value(tensor, name_, loc_); }
  Value operator()(const Arg& arg) const { return (*this)(arg.tensor); }
  // Absent optional tensors give an empty Value.
  Value optional(const Tensor& tensor) const { return tensor.defined() ? (*this)(tensor) : Value(); }

  int axis(int64_t axis, const Value& x) const { return normalize_axis(axis, x.rank(), name_, loc_); }
  // Of x; an empty list stands for all.
  Dims axes(const Dims& axes, const Value& x) const { return normalize_axes(axes, x.rank(), name_, loc_); }
  // A number of the host in `dtype`; ValueError when an integer dtype cannot hold it.
  Value number(Scalar value, DType dtype, Device device) const;
  void expect_floating(const Value& x) const;

  [[noreturn]] void shape_error(const std::string& message) const { throw ShapeError(name_, message, loc_); }
  [[noreturn]] void value_error(const std::string& message) const { throw ValueError(name_, message, loc_); }
  [[noreturn]] void dtype_error(const std::string& message) const { throw DTypeError(name_, message, loc_); }
  std::string_view name() const { return name_; }
  Loc loc() const { return loc_; }

 private:
  std::string_view name_;
  graph::LocScope scope_;
  Loc loc_;
};

inline Tensor wrap(Value value) { return Access::wrap(std::move(value)); }
inline std::pair<Tensor, Tensor> wrap(std::pair<Value, Value> values) {
  return {wrap(std::move(values.first)), wrap(std::move(values.second))};
}

// PyTorch's type promotion: tensors with axes decide before 0-d tensors, those before numbers; a later group only
// counts when its category (bool, integer, floating) is higher.
class Promotion {
 public:
  Promotion& operator<<(const Value& x);
  Promotion& operator<<(Scalar x);
  DType dtype() const;

 private:
  void note(std::optional<DType>& group, DType dtype);
  std::optional<DType> tensors_, scalars_, numbers_;
};

// The dtype that functions of floating results compute in: integers and bool become f32.
inline DType to_floating(DType dtype) { return is_floating(dtype) ? dtype : DType::F32; }
inline Value to_floating(const Value& x) { return graph::cast(x, to_floating(x.dtype())); }

// One range of Python's start:stop:step over `extent` elements.
struct Range {
  int64_t start = 0, length = 0, step = 1;
};
Range python_range(const Call& call, const Slice& slice, int64_t extent);

}  // namespace stoker::detail
