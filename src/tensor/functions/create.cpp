// Tensors made from numbers.
#include <cmath>

#include "runtime/buffer.h"
#include "tensor/functions/call.h"

namespace stoker {

using namespace detail;

namespace {

graph::TensorType made(const Call& call, const Shape& shape, Options options) {
  for (int64_t extent : shape)
    if (extent < 0) call.shape_error(fmt::format("expected extents of at least 0, got {}", to_string(shape)));
  runtime::driver(options.device);  // an unknown device is an error here, at this line
  return {options.dtype, shape, options.device};
}

Tensor filled(std::string_view name, const Shape& shape, Scalar value, Options options, Loc loc) {
  const Call call(name, loc);
  return wrap(graph::full(call.number(value, options.dtype, options.device), made(call, shape, options)));
}

Tensor filled_like(std::string_view name, Arg x, Scalar value) {
  const Call call(name, x.loc);
  const graph::TensorType& type = call(x).type();
  return wrap(graph::full(call.number(value, type.dtype, type.device), type));
}

// i64 from integers, f32 from floating numbers.
Options inferred(std::optional<Options> options, std::initializer_list<Scalar> numbers) {
  if (options) return *options;
  for (Scalar s : numbers)
    if (s.is_floating()) return DType::F32;
  return DType::I64;
}

int64_t count_between(const Call& call, Scalar start, Scalar end, Scalar step) {
  if (step.to_double() == 0 || (end.to_double() - start.to_double()) / step.to_double() < 0)
    call.value_error(fmt::format("expected a step that leads from {} to {}, got {}", start.to_double(), end.to_double(),
                                 step.to_double()));
  if (!start.is_floating() && !end.is_floating() && !step.is_floating()) {
    const int64_t distance = end.to_int() - start.to_int(), s = step.to_int();
    return distance / s + (distance % s != 0);
  }
  const double count = std::ceil((end.to_double() - start.to_double()) / step.to_double());
  if (!(count < 0x1p62)) call.value_error("expected finite bounds");
  return int64_t(count);
}

}  // namespace

Tensor zeros(const Shape& shape, Options options, Loc loc) { return filled("zeros", shape, 0, options, loc); }
Tensor ones(const Shape& shape, Options options, Loc loc) { return filled("ones", shape, 1, options, loc); }
Tensor full(const Shape& shape, Scalar value, Options options, Loc loc) {
  return filled("full", shape, value, options, loc);
}
Tensor zeros_like(Arg x) { return filled_like("zeros_like", x, 0); }
Tensor ones_like(Arg x) { return filled_like("ones_like", x, 1); }
Tensor full_like(Arg x, Scalar value) { return filled_like("full_like", x, value); }

Tensor scalar_tensor(Scalar value, std::optional<Options> options, Loc loc) {
  const Options made = options.value_or(value.is_bool() ? Options(DType::Bool) : inferred({}, {value}));
  return filled("scalar_tensor", {}, value, made, loc);
}

Tensor arange(Scalar start, Scalar end, Scalar step, std::optional<Options> options, Loc loc) {
  const Call call("arange", loc);
  const Options o = inferred(options, {start, end, step});
  const int64_t count = count_between(call, start, end, step);
  return wrap(
      graph::iota(call.number(start, o.dtype, o.device), call.number(step, o.dtype, o.device), made(call, {count}, o)));
}
Tensor arange(Scalar end, std::optional<Options> options, Loc loc) {
  return arange(end.is_floating() ? Scalar(0.0) : Scalar(0), end, 1, options, loc);
}

// Counted from both ends in f64, so that both are exact.
Tensor linspace(Scalar start, Scalar end, int64_t count, Options options, Loc loc) {
  const Call call("linspace", loc);
  if (count < 0) call.value_error(fmt::format("expected a count of at least 0, got {}", count));
  const double low = start.to_double(), high = end.to_double(), step = count > 1 ? (high - low) / double(count - 1) : 0;
  const Value i = graph::cast(graph::positions(count, 0, 1, options.device), DType::F64);
  const Value from_low = i * step + low, from_high = high - (double(count - 1) - i) * step;
  const Value y = graph::where(graph::lt(i * 2, double(count)), from_low, from_high);
  return wrap(graph::cast(y, options.dtype));
}

Tensor eye(int64_t n, Options options, Loc loc) {
  const Call call("eye", loc);
  const Value row = graph::positions(n, 0, 2, options.device), column = graph::positions(n, 1, 2, options.device);
  return wrap(graph::cast(graph::eq(row, column), options.dtype));
}

}  // namespace stoker
