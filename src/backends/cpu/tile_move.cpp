// Elements between memory and lanes. The loops are plain: compiled for every instruction set, the compiler turns those
// over neighbours into vectors. Only f16 needs instructions by name.
#include "backends/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tile_move.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cstring>

#include "backends/cpu/tile_ops.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Stored as S, computed in as L.
template <class S, class L>
struct Codec {
  static HWY_INLINE L load(S s) { return L(s); }
  static HWY_INLINE S store(L v) { return S(v); }
};
template <>
struct Codec<bool, int32_t> {
  static HWY_INLINE int32_t load(uint8_t s) { return s != 0; }
  static HWY_INLINE uint8_t store(int32_t v) { return v != 0; }
};
template <>
struct Codec<BFloat16, float> {
  static HWY_INLINE float load(uint16_t s) {
    const uint32_t bits = uint32_t(s) << 16;
    float v;
    std::memcpy(&v, &bits, sizeof v);
    return v;
  }
  static HWY_INLINE uint16_t store(float v) {
    uint32_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    const uint32_t rounded = bits + 0x7fffu + (bits >> 16 & 1u);
    return uint16_t(((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : rounded) >> 16);
  }
};
template <>
struct Codec<Half, float> {
  static float load(Half s) { return float(s); }
  static Half store(float v) { return Half(v); }
};

template <class S>
struct Stored {
  using type = S;
};
template <>
struct Stored<bool> {
  using type = uint8_t;
};
template <>
struct Stored<BFloat16> {
  using type = uint16_t;
};

template <class To, class From, class Convert>
HWY_INLINE void move(void* to, int64_t to_stride, const void* from, int64_t from_stride, int64_t count,
                     Convert convert) {
  To* out = static_cast<To*>(to);
  const From* in = static_cast<const From*>(from);
  if (to_stride == 1 && from_stride == 1) {
    for (int64_t i = 0; i < count; ++i) out[i] = convert(in[i]);
  } else if (to_stride == 1 && from_stride == 0) {
    const To value = convert(in[0]);
    for (int64_t i = 0; i < count; ++i) out[i] = value;
  } else {
    for (int64_t i = 0; i < count; ++i) out[i * to_stride] = convert(in[i * from_stride]);
  }
}

template <class S, class L>
void load(void* out, int64_t out_stride, const void* in, int64_t in_stride, int64_t count) {
  using T = typename Stored<S>::type;
  move<L, T>(out, out_stride, in, in_stride, count, [](T s) HWY_ATTR { return Codec<S, L>::load(s); });
}
template <class S, class L>
void store(void* out, int64_t out_stride, const void* in, int64_t in_stride, int64_t count) {
  using T = typename Stored<S>::type;
  move<T, L>(out, out_stride, in, in_stride, count, [](L v) HWY_ATTR { return Codec<S, L>::store(v); });
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
using F = hn::CappedTag<float, kBlockBytes / 4>;
using H = hn::Rebind<hwy::float16_t, F>;

void load_f16(void* out, int64_t out_stride, const void* in, int64_t in_stride, int64_t count) {
  if (out_stride != 1 || in_stride != 1) return load<Half, float>(out, out_stride, in, in_stride, count);
  const int64_t n = int64_t(hn::Lanes(F()));
  const auto* from = static_cast<const hwy::float16_t*>(in);
  float* to = static_cast<float*>(out);
  int64_t i = 0;
  for (; i + n <= count; i += n) hn::StoreU(hn::PromoteTo(F(), hn::LoadU(H(), from + i)), F(), to + i);
  load<Half, float>(to + i, 1, from + i, 1, count - i);
}

void store_f16(void* out, int64_t out_stride, const void* in, int64_t in_stride, int64_t count) {
  if (out_stride != 1 || in_stride != 1) return store<Half, float>(out, out_stride, in, in_stride, count);
  const int64_t n = int64_t(hn::Lanes(F()));
  const float* from = static_cast<const float*>(in);
  auto* to = static_cast<hwy::float16_t*>(out);
  int64_t i = 0;
  for (; i + n <= count; i += n) {
    const auto v = hn::LoadU(F(), from + i);
    const auto nan = hn::CopySign(hn::NaN(F()), v);  // one payload, as stoker::Half
    hn::StoreU(hn::DemoteTo(H(), hn::IfThenElse(hn::IsNaN(v), nan, v)), H(), to + i);
  }
  store<Half, float>(to + i, 1, from + i, 1, count - i);
}
#else
constexpr MoveFunction load_f16 = load<Half, float>;
constexpr MoveFunction store_f16 = store<Half, float>;
#endif

MoveFunction loads(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return load<bool, int32_t>;
    case DType::U8:
      return load<uint8_t, int32_t>;
    case DType::I8:
      return load<int8_t, int32_t>;
    case DType::I16:
      return load<int16_t, int32_t>;
    case DType::I32:
      return load<int32_t, int32_t>;
    case DType::I64:
      return load<int64_t, int64_t>;
    case DType::F16:
      return load_f16;
    case DType::BF16:
      return load<BFloat16, float>;
    case DType::F32:
      return load<float, float>;
    case DType::F64:
      break;
  }
  return load<double, double>;
}

MoveFunction stores(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return store<bool, int32_t>;
    case DType::U8:
      return store<uint8_t, int32_t>;
    case DType::I8:
      return store<int8_t, int32_t>;
    case DType::I16:
      return store<int16_t, int32_t>;
    case DType::F16:
      return store_f16;
    case DType::BF16:
      return store<BFloat16, float>;
    default:
      return loads(dtype);  // memory and lane are alike
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stoker::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::backends::cpu {

HWY_EXPORT(loads);
HWY_EXPORT(stores);

MoveFunction find_load(DType dtype) { return HWY_DYNAMIC_DISPATCH(loads)(dtype); }
MoveFunction find_store(DType dtype) { return HWY_DYNAMIC_DISPATCH(stores)(dtype); }

}  // namespace stoker::backends::cpu
#endif
