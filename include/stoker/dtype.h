/// \file
/// Element types, their promotion rules, and the half-precision storage types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stoker {

/// Element type of a tensor. The order is the order of promotion within a kind.
enum class DType : uint8_t { Bool, U8, I8, I16, I32, I64, F16, BF16, F32, F64 };

inline constexpr DType kBool = DType::Bool, kU8 = DType::U8, kI8 = DType::I8, kI16 = DType::I16, kI32 = DType::I32,
                       kI64 = DType::I64, kF16 = DType::F16, kBF16 = DType::BF16, kF32 = DType::F32, kF64 = DType::F64;
inline constexpr int kDTypeCount = 10;

/// Bytes of one element.
size_t size_of(DType dtype);
/// "f32", "bool", ...; the names that errors and prints use.
std::string_view name_of(DType dtype);
/// The inverse of name_of; throws DTypeError for an unknown name.
DType dtype_from_name(std::string_view name);

inline bool is_floating(DType d) { return d >= DType::F16; }
inline bool is_half(DType d) { return d == DType::F16 || d == DType::BF16; }
inline bool is_integral(DType d) { return d != DType::Bool && d <= DType::I64; }

/// PyTorch's promotion of two tensor types: the smallest type that holds both kinds
/// (u8 with a signed type gives the next wider signed type; f16 with bf16 gives f32).
DType promote_types(DType a, DType b);

/// IEEE binary16 as stored bits; arithmetic happens in float.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);
  explicit operator float() const;
};

/// The upper half of a float as stored bits; arithmetic happens in float.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const {
    uint32_t wide = uint32_t(bits) << 16;
    float f;
    std::memcpy(&f, &wide, sizeof f);
    return f;
  }
};

/// The DType of a C++ element type.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::Bool;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::U8;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::I8;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr DType value = DType::I16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::I32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::I64;
};
template <>
struct DTypeOf<long long> {
  static constexpr DType value = DType::I64;
};
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::F16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::BF16;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::F32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::F64;
};

template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

/// Calls `f` with a value-initialised element of the C++ type of `dtype`: visit(d, [](auto t) { using T = decltype(t);
/// ... }).
template <class F>
decltype(auto) visit(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Bool:
      return f(bool{});
    case DType::U8:
      return f(uint8_t{});
    case DType::I8:
      return f(int8_t{});
    case DType::I16:
      return f(int16_t{});
    case DType::I32:
      return f(int32_t{});
    case DType::I64:
      return f(int64_t{});
    case DType::F16:
      return f(Half{});
    case DType::BF16:
      return f(BFloat16{});
    case DType::F32:
      return f(float{});
    case DType::F64:
      break;
  }
  return f(double{});
}

}  // namespace stoker
