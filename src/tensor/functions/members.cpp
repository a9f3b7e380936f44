// Members of Tensor that are shorthand for functions.
#include "tensor/functions/call.h"

namespace stoker {

using namespace detail;

namespace {

// The result of an update of `x` in x's dtype. As in PyTorch, the other operand may neither grow x nor raise its
// category.
Tensor updated(std::string_view name, const Tensor& x, const Tensor& result, Loc loc) {
  const Call call(name, loc);
  if (x.is_cell())
    call.value_error(
        "expected a value, got a cell (a parameter or buffer), which += would only unbind from this handle; assign() "
        "gives it a new value");
  if (!(result.shape() == x.shape()))
    call.shape_error(
        fmt::format("expected a result of the left side's shape {}, got {}; write x = x + y to let it grow",
                    to_string(x.shape()), to_string(result.shape())));
  const bool loses = (is_floating(result.dtype()) && !is_floating(x.dtype())) ||
                     (x.dtype() == DType::Bool && result.dtype() != DType::Bool);
  if (loses)
    call.dtype_error(fmt::format("expected a result that {} can hold, got {}; write x = x + y to let the dtype change",
                                 name_of(x.dtype()), name_of(result.dtype())));
  return wrap(graph::cast(call(result), x.dtype()));
}

}  // namespace

Tensor& Tensor::operator+=(Arg other) {
  return *this = updated("add", *this, add({*this, other.loc}, other), other.loc);
}
Tensor& Tensor::operator-=(Arg other) {
  return *this = updated("sub", *this, sub({*this, other.loc}, other), other.loc);
}
Tensor& Tensor::operator*=(Arg other) {
  return *this = updated("mul", *this, mul({*this, other.loc}, other), other.loc);
}
Tensor& Tensor::operator/=(Arg other) {
  return *this = updated("div", *this, div({*this, other.loc}, other), other.loc);
}
Tensor& Tensor::operator+=(ScalarArg other) {
  return *this = updated("add", *this, add({*this, other.loc}, other.number), other.loc);
}
Tensor& Tensor::operator-=(ScalarArg other) {
  return *this = updated("sub", *this, sub({*this, other.loc}, other.number), other.loc);
}
Tensor& Tensor::operator*=(ScalarArg other) {
  return *this = updated("mul", *this, mul({*this, other.loc}, other.number), other.loc);
}
Tensor& Tensor::operator/=(ScalarArg other) {
  return *this = updated("div", *this, div({*this, other.loc}, other.number), other.loc);
}

Tensor Tensor::matmul(const Tensor& other, Loc loc) const { return stoker::matmul({*this, loc}, {other, loc}); }
Tensor Tensor::sum(const Dims& axes, bool keepdim, Loc loc) const { return stoker::sum({*this, loc}, axes, keepdim); }
Tensor Tensor::mean(const Dims& axes, bool keepdim, Loc loc) const { return stoker::mean({*this, loc}, axes, keepdim); }
Tensor Tensor::reshape(const Dims& shape, Loc loc) const { return stoker::reshape({*this, loc}, shape); }
Tensor Tensor::flatten(int64_t first, int64_t last, Loc loc) const {
  return stoker::flatten({*this, loc}, first, last);
}
Tensor Tensor::transpose(int64_t a, int64_t b, Loc loc) const { return stoker::transpose({*this, loc}, a, b); }
Tensor Tensor::permute(const Dims& axes, Loc loc) const { return stoker::permute({*this, loc}, axes); }
Tensor Tensor::squeeze(int64_t axis, Loc loc) const { return stoker::squeeze({*this, loc}, axis); }
Tensor Tensor::unsqueeze(int64_t axis, Loc loc) const { return stoker::unsqueeze({*this, loc}, axis); }
Tensor Tensor::expand(const Dims& shape, Loc loc) const { return stoker::expand({*this, loc}, shape); }
Tensor Tensor::pow(Scalar exponent, Loc loc) const { return stoker::pow({*this, loc}, exponent); }
Tensor Tensor::exp(Loc loc) const { return stoker::exp({*this, loc}); }
Tensor Tensor::log(Loc loc) const { return stoker::log({*this, loc}); }
Tensor Tensor::sqrt(Loc loc) const { return stoker::sqrt({*this, loc}); }
Tensor Tensor::abs(Loc loc) const { return stoker::abs({*this, loc}); }
Tensor Tensor::argmax(int64_t axis, bool keepdim, Loc loc) const { return stoker::argmax({*this, loc}, axis, keepdim); }

}  // namespace stoker
