// Tile instructions of 32-bit lanes in Highway, compiled for every instruction set and chosen at run time.
#include "backends/cpu/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/tile_vector.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cstring>
#include <utility>

#include "backends/cpu/tile_ops.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::backends::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using graph::ExprInst;
using graph::Lane;
using graph::Prim;

template <class T>
using Tag = hn::CappedTag<T, kBlockBytes / sizeof(T)>;
using F = Tag<float>;
using I = Tag<int32_t>;
using U = Tag<uint32_t>;

// --- loops -----------------------------------------------------------------------------------------------------------

// Whole vectors, four at a time; says how many elements that was. Operands that are not kVector stay at their one
// replicated vector.
template <class Function, class To, bool... kVector, class... From>
HWY_INLINE int64_t map_vectors(To* out, int64_t count, const From*... in) {
  constexpr int64_t kUnroll = 4;
  const Tag<To> d;
  const int64_t n = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + kUnroll * n <= count; i += kUnroll * n)
    for (int64_t k = 0; k < kUnroll; ++k)
      hn::StoreU(Function()(hn::LoadU(Tag<From>(), in + (kVector ? i + k * n : 0))...), d, out + i + k * n);
  return i;
}

// Finds the loop for the operands' steps.
template <class Function, class To, bool... kVector, class... From>
HWY_INLINE int64_t map_steps(const TileCall& call, const From*... in) {
  constexpr size_t known = sizeof...(kVector);
  if constexpr (known == sizeof...(From))
    return map_vectors<Function, To, kVector...>(static_cast<To*>(call.out), call.count, in...);
  else if (call.step[known] != 0)
    return map_steps<Function, To, kVector..., true>(call, in...);
  else
    return map_steps<Function, To, kVector..., false>(call, in...);
}

// `count` elements, a vector or fewer.
template <class T>
HWY_INLINE hn::Vec<Tag<T>> load_partial(const T* from, int64_t step, int64_t i, int64_t count) {
  if (step == 0 || count == int64_t(hn::Lanes(Tag<T>()))) return hn::LoadU(Tag<T>(), from + i * step);
  HWY_ALIGN T data[kBlockBytes / sizeof(T)] = {};
  std::memcpy(data, from + i, size_t(count) * sizeof(T));
  return hn::Load(Tag<T>(), data);
}
template <class T>
HWY_INLINE void store_partial(hn::Vec<Tag<T>> v, T* to, int64_t count) {
  if (count == int64_t(hn::Lanes(Tag<T>()))) return hn::StoreU(v, Tag<T>(), to);
  HWY_ALIGN T data[kBlockBytes / sizeof(T)];
  hn::Store(v, Tag<T>(), data);
  std::memcpy(to, data, size_t(count) * sizeof(T));
}

template <class Function, class To, class... From, size_t... K>
HWY_INLINE void map(const TileCall& call, std::index_sequence<K...>) {
  const int64_t n = int64_t(hn::Lanes(Tag<To>()));
  To* out = static_cast<To*>(call.out);
  for (int64_t i = map_steps<Function, To>(call, static_cast<const From*>(call.in[K])...); i < call.count; i += n) {
    const int64_t count = HWY_MIN(n, call.count - i);
    store_partial<To>(Function()(load_partial(static_cast<const From*>(call.in[K]), call.step[K], i, count)...),
                      out + i, count);
  }
}
template <class Function, class To, class... From>
void run(const TileCall& call) {
  map<Function, To, From...>(call, std::index_sequence_for<From...>());
}

// --- instructions ----------------------------------------------------------------------------------------------------

#define STOKER_UNARY(name, expression)      \
  struct name {                             \
    template <class V>                      \
    HWY_INLINE auto operator()(V a) const { \
      return expression;                    \
    }                                       \
  };
#define STOKER_BINARY(name, expression)          \
  struct name {                                  \
    template <class V>                           \
    HWY_INLINE auto operator()(V a, V b) const { \
      return expression;                         \
    }                                            \
  };

// 0 or 1 from a mask of either lane.
template <class M>
HWY_INLINE hn::Vec<I> one_if(M mask) {
  return hn::IfThenElseZero(hn::RebindMask(I(), mask), hn::Set(I(), 1));
}

STOKER_BINARY(Add, hn::Add(a, b))
STOKER_BINARY(Sub, hn::Sub(a, b))
STOKER_BINARY(Mul, hn::Mul(a, b))
STOKER_BINARY(Div, hn::Div(a, b))
STOKER_UNARY(Neg, hn::Neg(a))
STOKER_UNARY(Abs, hn::Abs(a))
STOKER_UNARY(Sqrt, hn::Sqrt(a))
STOKER_UNARY(Floor, hn::Floor(a))
STOKER_UNARY(Ceil, hn::Ceil(a))
STOKER_UNARY(Round, hn::Round(a))
STOKER_UNARY(Trunc, hn::Trunc(a))
STOKER_BINARY(MinFloat, hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b))
STOKER_BINARY(MaxFloat, hn::IfThenElse(hn::Or(hn::Lt(b, a), hn::IsNaN(a)), a, b))
STOKER_BINARY(MinInteger, hn::Min(a, b))
STOKER_BINARY(MaxInteger, hn::Max(a, b))
STOKER_BINARY(Lt, one_if(hn::Lt(a, b)))
STOKER_BINARY(LeFloat, one_if(hn::Le(a, b)))
STOKER_BINARY(LeInteger, one_if(hn::Not(hn::Lt(b, a))))
STOKER_BINARY(Eq, one_if(hn::Eq(a, b)))
STOKER_BINARY(Ne, one_if(hn::Not(hn::Eq(a, b))))  // hn::Ne is ordered on x86
STOKER_BINARY(And, hn::And(a, b))
STOKER_BINARY(Or, hn::Or(a, b))
STOKER_BINARY(Xor, hn::Xor(a, b))
STOKER_UNARY(Not, one_if(hn::Eq(a, hn::Zero(I()))))
STOKER_UNARY(ToFloat, hn::ConvertTo(F(), a))
STOKER_UNARY(ToBool, one_if(hn::Ne(a, hn::Zero(I()))))
STOKER_UNARY(ToU8, hn::And(a, hn::Set(I(), 0xff)))
STOKER_UNARY(ToI8, hn::ShiftRight<24>(hn::ShiftLeft<24>(a)))
STOKER_UNARY(ToI16, hn::ShiftRight<16>(hn::ShiftLeft<16>(a)))
STOKER_BINARY(ShiftUp, hn::Shl(a, hn::And(b, hn::Set(I(), 31))))
STOKER_BINARY(ShiftDown, hn::Shr(a, hn::And(b, hn::Set(I(), 31))))
STOKER_BINARY(ShiftDownLogical,
              hn::BitCast(I(), hn::Shr(hn::BitCast(U(), a), hn::BitCast(U(), hn::And(b, hn::Set(I(), 31))))))

struct Select {
  template <class V>
  HWY_INLINE V operator()(hn::Vec<I> condition, V a, V b) const {
    return hn::IfThenElse(hn::RebindMask(hn::DFromV<V>(), hn::Ne(condition, hn::Zero(I()))), a, b);
  }
};

struct ToInteger {
  HWY_INLINE hn::Vec<I> operator()(hn::Vec<F> v) const {
    const auto above = hn::Ge(v, hn::Set(F(), 0x1p31f));
    const auto inside = hn::Max(hn::IfThenZeroElse(hn::Or(above, hn::IsNaN(v)), v), hn::Set(F(), -0x1p31f));
    return hn::IfThenElse(hn::RebindMask(I(), above), hn::Set(I(), INT32_MAX), hn::ConvertTo(I(), inside));
  }
};

// Rounds to the nearest bf16, ties to even; a NaN stays one.
struct RoundBF16 {
  HWY_INLINE hn::Vec<F> operator()(hn::Vec<F> v) const {
    const auto bits = hn::BitCast(U(), v);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(U(), 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(U(), 0x7fff)));
    const auto quiet = hn::Or(bits, hn::Set(U(), 0x400000));
    const auto kept = hn::IfThenElse(hn::RebindMask(U(), hn::IsNaN(v)), quiet, rounded);
    return hn::BitCast(F(), hn::And(kept, hn::Set(U(), 0xffff0000u)));
  }
};

#if HWY_NATIVE_FMA
struct Fma {
  HWY_INLINE hn::Vec<F> operator()(hn::Vec<F> a, hn::Vec<F> b, hn::Vec<F> c) const { return hn::MulAdd(a, b, c); }
};
#endif

#undef STOKER_UNARY
#undef STOKER_BINARY

// --- the tables ------------------------------------------------------------------------------------------------------

template <class Function>
constexpr TileFunction float_unary = run<Function, float, float>;
template <class Function>
constexpr TileFunction float_binary = run<Function, float, float, float>;
template <class Function>
constexpr TileFunction float_compare = run<Function, int32_t, float, float>;
template <class Function>
constexpr TileFunction integer_unary = run<Function, int32_t, int32_t>;
template <class Function>
constexpr TileFunction integer_binary = run<Function, int32_t, int32_t, int32_t>;

TileFunction find_float(const ExprInst& inst) {
  switch (inst.prim) {
    case Prim::Add:
      return float_binary<Add>;
    case Prim::Sub:
      return float_binary<Sub>;
    case Prim::Mul:
      return float_binary<Mul>;
    case Prim::Div:
      return float_binary<Div>;
    case Prim::Neg:
      return float_unary<Neg>;
    case Prim::Abs:
      return float_unary<Abs>;
    case Prim::Min:
      return float_binary<MinFloat>;
    case Prim::Max:
      return float_binary<MaxFloat>;
    case Prim::Sqrt:
      return float_unary<Sqrt>;
    case Prim::Floor:
      return float_unary<Floor>;
    case Prim::Ceil:
      return float_unary<Ceil>;
    case Prim::Round:
      return float_unary<Round>;
    case Prim::Trunc:
      return float_unary<Trunc>;
    case Prim::Lt:
      return float_compare<Lt>;
    case Prim::Le:
      return float_compare<LeFloat>;
    case Prim::Eq:
      return float_compare<Eq>;
    case Prim::Ne:
      return float_compare<Ne>;
    case Prim::Select:
      return run<Select, float, int32_t, float, float>;
#if HWY_NATIVE_FMA
    case Prim::Fma:
      return run<Fma, float, float, float, float>;
#endif
    case Prim::Narrow:
      return DType(inst.imm) == DType::BF16 ? float_unary<RoundBF16> : nullptr;
    default:
      return nullptr;
  }
}

TileFunction find_narrow(DType to) {
  switch (to) {
    case DType::Bool:
      return integer_unary<ToBool>;
    case DType::U8:
      return integer_unary<ToU8>;
    case DType::I8:
      return integer_unary<ToI8>;
    case DType::I16:
      return integer_unary<ToI16>;
    default:
      return nullptr;
  }
}

TileFunction find_integer(const ExprInst& inst) {
  switch (inst.prim) {
    case Prim::Add:
      return integer_binary<Add>;
    case Prim::Sub:
      return integer_binary<Sub>;
    case Prim::Mul:
      return integer_binary<Mul>;
    case Prim::Neg:
      return integer_unary<Neg>;
    case Prim::Abs:
      return integer_unary<Abs>;
    case Prim::Min:
      return integer_binary<MinInteger>;
    case Prim::Max:
      return integer_binary<MaxInteger>;
    case Prim::Lt:
      return integer_binary<Lt>;
    case Prim::Le:
      return integer_binary<LeInteger>;
    case Prim::Eq:
      return integer_binary<Eq>;
    case Prim::Ne:
      return integer_binary<Ne>;
    case Prim::And:
      return integer_binary<And>;
    case Prim::Or:
      return integer_binary<Or>;
    case Prim::Xor:
      return integer_binary<Xor>;
    case Prim::Not:
      return integer_unary<Not>;
    case Prim::Shl:
      return integer_binary<ShiftUp>;
    case Prim::Shr:
      return integer_binary<ShiftDown>;
    case Prim::ShrLogical:
      return integer_binary<ShiftDownLogical>;
    case Prim::Select:
      return run<Select, int32_t, int32_t, int32_t, int32_t>;
    case Prim::Narrow:
      return find_narrow(DType(inst.imm));
    default:
      return nullptr;
  }
}

TileFunction find(const ExprInst& inst, Lane from) {
  if (inst.prim == Prim::Cast) {
    if (from == Lane::F32 && inst.lane == Lane::I32) return run<ToInteger, int32_t, float>;
    if (from == Lane::I32 && inst.lane == Lane::F32) return run<ToFloat, float, int32_t>;
    return nullptr;
  }
  return inst.lane == Lane::F32 ? find_float(inst) : inst.lane == Lane::I32 ? find_integer(inst) : nullptr;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace stoker::backends::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::backends::cpu {

HWY_EXPORT(find);

TileFunction find_vector_compute(const graph::ExprInst& inst, graph::Lane from) {
  return HWY_DYNAMIC_DISPATCH(find)(inst, from);
}

}  // namespace stoker::backends::cpu
#endif
