#include <stoker/dtype.h>
#include <stoker/error.h>

#include <bit>

#include <fmt/format.h>

namespace stoker {
namespace {

struct Row {
  std::string_view name;
  size_t size;
};
constexpr Row kRows[kDTypeCount] = {{"bool", 1}, {"u8", 1},  {"i8", 1},   {"i16", 2}, {"i32", 4},
                                    {"i64", 8},  {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}};

}  // namespace

size_t size_of(DType dtype) { return kRows[size_t(dtype)].size; }
std::string_view name_of(DType dtype) { return kRows[size_t(dtype)].name; }

DType dtype_from_name(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (kRows[i].name == name) return DType(i);
  throw DTypeError("dtype",
                   fmt::format("expected one of bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64; got '{}'", name));
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);
  if (a == DType::Bool) return b;
  if (a == DType::U8 && is_integral(b)) return b == DType::I8 ? DType::I16 : b;
  if (a == DType::F16 && b == DType::BF16) return DType::F32;
  return b;
}

Half::Half(float value) {
  uint32_t x = std::bit_cast<uint32_t>(value);
  const uint32_t sign = x >> 16 & 0x8000u;
  x &= 0x7fffffffu;
  if (x >= 0x47800000u) {  // beyond the largest half, infinite, or NaN
    bits = uint16_t(sign | (x > 0x7f800000u ? 0x7e00u : 0x7c00u));
  } else if (x < 0x38800000u) {  // subnormal or zero: the addition aligns and rounds to nearest even
    const float magic = 0.5f;
    const float aligned = std::bit_cast<float>(x) + magic;
    bits = uint16_t(sign | (std::bit_cast<uint32_t>(aligned) - std::bit_cast<uint32_t>(magic)));
  } else {
    const uint32_t odd = x >> 13 & 1u;
    x += 0xc8000fffu + odd;  // rebias the exponent by -112 and round to nearest even
    bits = uint16_t(sign | x >> 13);
  }
}

Half::operator float() const {
  const uint32_t sign = uint32_t(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float subnormal = float(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(subnormal));
}

BFloat16::BFloat16(float value) {
  uint32_t x = std::bit_cast<uint32_t>(value);
  if ((x & 0x7fffffffu) > 0x7f800000u) {
    bits = uint16_t(x >> 16 | 0x40u);  // keep a NaN a NaN
  } else {
    x += 0x7fffu + (x >> 16 & 1u);
    bits = uint16_t(x >> 16);
  }
}

}  // namespace stoker
