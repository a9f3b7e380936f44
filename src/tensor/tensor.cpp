#include <stoker/tensor.h>

#include <cstring>

#include "graph/build.h"
#include "tensor/access.h"
#include "tensor/evaluate.h"

namespace stoker {

using detail::Access;
using graph::Value;

namespace detail {

Value Access::value(const Tensor& tensor, std::string_view operation, Loc loc) {
  if (!tensor.impl_)
    throw ValueError(operation, "expected a tensor, got an undefined one; give it a value first",
                     loc ? loc : graph::LocScope::current());
  return tensor.impl_->cell ? tensor.impl_->cell->read() : tensor.impl_->value.value();
}

Tensor Access::wrap(Value value) {
  Tensor t;
  t.impl_ = std::make_shared<TensorImpl>();
  t.impl_->value = graph::Held(graph::as_tensor(value));
  return t;
}

Tensor Access::wrap(Ref<graph::Cell> cell) {
  Tensor t;
  t.impl_ = std::make_shared<TensorImpl>();
  t.impl_->cell = std::move(cell);
  return t;
}

Ref<graph::Cell> Access::cell(const Tensor& tensor) { return tensor.impl_ ? tensor.impl_->cell : Ref<graph::Cell>(); }

void Access::become_cell(const Tensor& tensor, bool requires_grad) {
  tensor.impl_->cell = graph::Cell::create(tensor.impl_->value.value(), requires_grad);
  tensor.impl_->value = {};
}

const graph::TensorType& Access::type(const Tensor& tensor) {
  if (!tensor.impl_) throw ValueError("tensor", "expected a tensor, got an undefined one; give it a value first");
  return tensor.impl_->cell ? tensor.impl_->cell->type() : tensor.impl_->value.value().type();
}

}  // namespace detail

// --- what it is ------------------------------------------------------------------------------------------------------

DType Tensor::dtype() const { return Access::type(*this).dtype; }
const Shape& Tensor::shape() const { return Access::type(*this).shape; }
Device Tensor::device() const { return Access::type(*this).device; }
int Tensor::dim() const { return shape().rank(); }
int64_t Tensor::numel() const { return stoker::numel(shape()); }
int64_t Tensor::bytes() const { return Access::type(*this).bytes(); }

int64_t Tensor::size(int64_t axis) const {
  if (dim() == 0) throw ShapeError("size", "expected a tensor with axes, got a 0-d one");
  return shape()[normalize_axis(axis, dim(), "size")];
}

// --- reading ---------------------------------------------------------------------------------------------------------

namespace {

template <class To, class From>
To convert_element(From x) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>)
    return convert_element<To>(float(x));
  else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>)
    return To(float(x));
  else if constexpr (std::is_same_v<To, bool>)
    return x != From(0);
  else
    return static_cast<To>(x);
}

void convert(const void* from, DType from_type, void* to, DType to_type, int64_t count) {
  visit(from_type, [&](auto f) {
    visit(to_type, [&](auto t) {
      using From = decltype(f);
      using To = decltype(t);
      const From* source = static_cast<const From*>(from);
      To* target = static_cast<To*>(to);
      for (int64_t i = 0; i < count; ++i) target[i] = convert_element<To>(source[i]);
    });
  });
}

}  // namespace

void Tensor::wait(Loc loc) const { runtime::wait(*detail::buffer_of(Access::value(*this, "to_vector", loc))); }

void Tensor::copy_to_host(void* destination, Loc loc) const {
  const Value v = Access::value(*this, "copy_to_host", loc);
  runtime::to_host(*detail::buffer_of(v), destination, v.type().bytes());
}

void Tensor::copy_out(void* destination, DType as, int64_t count, Loc loc) const {
  if (numel() != count)
    throw ShapeError(
        "item",
        fmt::format("expected a tensor with one element, got shape {}; use to_vector()", stoker::to_string(shape())),
        loc);
  if (dtype() == as) return copy_to_host(destination, loc);
  std::vector<char> raw(static_cast<size_t>(bytes()));
  copy_to_host(raw.data(), loc);
  convert(raw.data(), dtype(), destination, as, count);
}

Tensor from_host(const void* data, const Shape& shape, Options options, Loc loc) {
  const graph::TensorType type{options.dtype, shape, options.device};
  return Access::wrap(graph::data(type, runtime::from_host(options.device, data, type.bytes(), {"from_host", loc})));
}

// --- where it lives --------------------------------------------------------------------------------------------------

Tensor Tensor::to(Device target, Loc loc) const { return device() == target ? *this : copy_to(target, loc); }

Tensor Tensor::to(DType target, Loc loc) const {
  if (dtype() == target) return *this;
  graph::LocScope line(loc);
  return Access::wrap(graph::cast(Access::value(*this, "to", loc), target));
}

Tensor Tensor::copy_to(Device target, Loc loc) const {
  graph::LocScope line(loc);
  runtime::driver(target);  // an unknown device is an error here, at this line
  const Value v = Access::value(*this, "copy_to", loc);
  return Access::wrap(device() == target ? graph::record1(graph::op("contiguous"), {v}) : graph::transfer(v, target));
}

Tensor Tensor::clone(Loc loc) const { return copy_to(device(), loc); }

// --- cells -----------------------------------------------------------------------------------------------------------

Tensor make_cell(Arg initial, bool requires_grad) {
  const Value v = Access::value(initial.tensor.detach(), "make_cell", initial.loc);
  if (requires_grad && !is_floating(v.dtype()))
    throw DTypeError(
        "make_cell",
        fmt::format("expected a floating dtype for a cell that requires a gradient, got {}", name_of(v.dtype())),
        initial.loc);
  return Access::wrap(graph::Cell::create(v, requires_grad));
}

bool Tensor::is_cell() const { return bool(Access::cell(*this)); }

bool Tensor::requires_grad() const {
  if (auto cell = Access::cell(*this)) return cell->requires_grad();
  return defined() && impl_->value.value().node->requires_grad;
}

Tensor& Tensor::requires_grad_(bool on) {
  if (on && !is_floating(dtype()))
    throw DTypeError("requires_grad_",
                     fmt::format("expected a floating dtype, got {}; only those have gradients", name_of(dtype())));
  if (auto cell = Access::cell(*this)) {
    cell->set_requires_grad(on);
  } else if (requires_grad()) {
    if (!on)
      throw GraphError("requires_grad_",
                       "expected a cell or a tensor without a recipe, got a computed one; use detach()");
  } else if (on) {
    Access::become_cell(*this, true);
  }
  return *this;
}

Tensor Tensor::detach() const {
  if (auto cell = Access::cell(*this)) return Access::wrap(cell->current());
  const Value v = Access::value(*this, "detach");
  return v.node->requires_grad ? Access::wrap(graph::detach(v)) : *this;
}

void Tensor::assign(const Tensor& value, Loc loc) const {
  graph::LocScope line(loc);
  auto cell = Access::cell(*this);
  if (!cell)
    throw GraphError(
        "assign", "expected a cell (a parameter, a buffer, make_cell()), got a value; use = to rebind the handle", loc);
  cell->assign(Access::value(value.detach(), "assign", loc));
}

}  // namespace stoker
