// Comparing a tensor with the values that it should have, counted in roundings of its dtype.
#pragma once

#include <gtest/gtest.h>
#include <stoker/tensor.h>

#include <cmath>
#include <limits>

namespace stoker::test {

// Distance from 1 to the next number, the largest and the smallest positive number of a floating dtype.
struct FloatLimits {
  double epsilon, largest, smallest;
};
inline FloatLimits limits_of(DType dtype) {
  switch (dtype) {
    case DType::F16:
      return {0x1p-10, 65504, 0x1p-24};
    case DType::BF16:
      return {0x1p-7, 0x1.fep127, 0x1p-133};
    case DType::F32:
      return {0x1p-23, std::numeric_limits<float>::max(), 0x1p-149};
    default:
      return {0x1p-52, std::numeric_limits<double>::max(), 0x1p-1074};
  }
}

// How far a result may be off: `ulps` roundings of its dtype, of each element or of the largest one. Halves are
// computed in f32 and rounded once, so `ulps` counts roundings of f32 there, and half a rounding of the half type comes
// on top.
struct Allowed {
  double ulps = 0;
  bool of_largest = false;
  double half_ulps = 0.5;
  double terms = 0;  // of the largest number that was added up on the way, if that is larger
};

inline bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// A number that is too large for the dtype counts as infinite.
inline bool near(double got, double want, DType dtype, double tolerance) {
  const FloatLimits limits = limits_of(dtype);
  if (std::isnan(want)) return std::isnan(got);
  const double rounds_to_infinity = limits.largest * (1 + limits.epsilon / 4);
  if (std::isinf(got) && got * want > 0 && std::abs(want) + tolerance >= rounds_to_infinity) return true;
  return got == want || std::abs(got - want) <= tolerance;
}

inline ::testing::AssertionResult matches(const Tensor& got, const Shape& shape, DType dtype,
                                          const std::vector<double>& want, Allowed allowed = {}) {
  if (!got.defined()) return ::testing::AssertionFailure() << "undefined";
  if (got.dtype() != dtype)
    return ::testing::AssertionFailure() << "dtype " << name_of(got.dtype()) << " instead of " << name_of(dtype);
  if (!(got.shape() == shape))
    return ::testing::AssertionFailure() << "shape " << to_string(got.shape()) << " instead of " << to_string(shape);
  const std::vector<double> values = got.to_vector<double>();
  double largest = 0, relative = 0, smallest = 0;
  if (is_floating(dtype)) {
    const bool half = is_half(dtype);
    relative = allowed.ulps * limits_of(half ? DType::F32 : dtype).epsilon;
    if (half) relative += allowed.half_ulps * limits_of(dtype).epsilon;
    smallest = limits_of(dtype).smallest * (half ? allowed.half_ulps : allowed.ulps);
    for (double w : want)
      if (std::isfinite(w)) largest = std::max(largest, std::abs(w));
  }
  size_t wrong = 0, first = 0;
  double worst = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double scale = std::max(allowed.of_largest ? largest : std::abs(want[i]), allowed.terms);
    const bool fine =
        is_floating(dtype) ? near(values[i], want[i], dtype, relative * scale + smallest) : values[i] == want[i];
    if (fine) continue;
    if (wrong++ == 0) first = i;
    worst = std::max(worst, std::abs(values[i] - want[i]) / scale);
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << wrong << " of " << want.size() << " elements differ; element " << first
                                       << " is " << ::testing::PrintToString(values[first]) << " instead of "
                                       << ::testing::PrintToString(want[first]) << ", largest error " << worst
                                       << " against " << relative << " allowed";
}

template <class T>
::testing::AssertionResult equals(const Tensor& got, const Shape& shape, const std::vector<T>& want) {
  return matches(got, shape, dtype_of<T>, std::vector<double>(want.begin(), want.end()));
}

// The same dtype, shape and numbers; any NaN equals any other.
inline ::testing::AssertionResult identical(const Tensor& got, const Tensor& want) {
  if (got.defined() != want.defined()) return ::testing::AssertionFailure() << "only one is defined";
  if (!got.defined()) return ::testing::AssertionSuccess();
  return matches(got, want.shape(), want.dtype(), want.to_vector<double>());
}

// The message of the error that `call` throws; empty if it throws none of that type.
template <class Error, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// A tensor of any dtype from host numbers, without an operation of the library.
inline Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype,
                        Device device = default_device()) {
  return visit(dtype, [&](auto t) {
    using T = decltype(t);
    std::vector<T> converted(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
        converted[i] = T(float(values[i]));
      else if constexpr (std::is_same_v<T, bool>)
        converted[i] = values[i] != 0;
      else if constexpr (std::is_integral_v<T>)
        converted[i] = T(int64_t(values[i]));
      else
        converted[i] = T(values[i]);
    }
    return tensor(converted, shape, device);
  });
}

}  // namespace stoker::test
