#include "tensor/functions/call.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stoker::detail {
namespace {

// Unsigned dtypes take negative numbers as their wrapped bits, as PyTorch does.
bool fits(int64_t value, DType dtype) {
  const int bits = int(8 * size_of(dtype));
  if (bits == 64) return true;
  const int64_t limit = dtype == DType::U8 ? int64_t(1) << bits : int64_t(1) << (bits - 1);
  return value >= -limit && value < limit;
}

}  // namespace

Value Call::number(Scalar value, DType dtype, Device device) const {
  if (is_floating(dtype)) return graph::number(value.to_double(), dtype, device);
  if (dtype == DType::Bool) return graph::number(value.to_double() != 0, dtype, device);
  const bool finite = !value.is_floating() || std::abs(value.to_double()) < 0x1p63;
  if (!finite || !fits(value.to_int(), dtype))
    value_error(fmt::format("expected a number that {} can hold, got {}; convert the tensor first", name_of(dtype),
                            value.to_double()));
  const int64_t v = value.to_int();
  const bool exact = std::abs(double(v)) < 0x1p53;
  return exact ? graph::number(double(v), dtype, device) : graph::integer(v, device);
}

void Call::expect_floating(const Value& x) const {
  if (!is_floating(x.dtype()))
    dtype_error(fmt::format("expected a floating dtype, got {}; convert it with .to(kF32)", name_of(x.dtype())));
}

void Promotion::note(std::optional<DType>& group, DType dtype) { group = group ? promote_types(*group, dtype) : dtype; }

Promotion& Promotion::operator<<(const Value& x) {
  note(x.rank() > 0 ? tensors_ : scalars_, x.dtype());
  return *this;
}

Promotion& Promotion::operator<<(Scalar x) {
  note(numbers_, x.is_floating() ? DType::F32 : x.is_bool() ? DType::Bool : DType::I64);
  return *this;
}

DType Promotion::dtype() const {
  auto combine = [](std::optional<DType> higher, std::optional<DType> lower) {
    if (!higher || !lower) return higher ? higher : lower;
    const bool outranked = *higher == DType::Bool || (is_floating(*lower) && !is_floating(*higher));
    return outranked ? std::optional(promote_types(*higher, *lower)) : higher;
  };
  return *combine(tensors_, combine(scalars_, numbers_));
}

Range python_range(const Call& call, const Slice& slice, int64_t extent) {
  if (slice.step == 0) call.value_error("expected a step other than 0");
  const int64_t step = std::max(slice.step, -std::numeric_limits<int64_t>::max());
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
  auto bound = [&](std::optional<int64_t> at, int64_t absent) {
    return at ? std::clamp(*at < 0 ? *at + extent : *at, low, high) : absent;
  };
  const int64_t start = bound(slice.start, step > 0 ? low : high), stop = bound(slice.stop, step > 0 ? high : low);
  const int64_t distance = step > 0 ? stop - start : start - stop;
  if (distance <= 0) return {0, 0, step};
  return {start, (distance - 1) / std::abs(step) + 1, step};
}

}  // namespace stoker::detail
