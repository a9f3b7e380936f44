// Comparisons, where and cast: element-wise rows whose result has another dtype than an input.
#include <limits>

#include "graph/ops/elementwise.h"

namespace stoker::graph {

using namespace rows;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// f64 to f32 for what is rounded once more, to a half: whatever is lost sets the last bit, so that it breaks ties.
Ex round_to_odd(Ex x) {
  Ex y = cast(x, Lane::F32), back = cast(y, Lane::F64);
  auto bits = [](Ex v, Lane lane) { return Ex(v.builder(), v.builder()->emit({Prim::Bits, lane, v.id(), -1, -1, 0})); };
  Ex word = bits(y, Lane::I32), even = equal(word & word.literal(1), 0);
  Ex too_small = abs(back)<abs(x), too_large = abs(back)> abs(x);
  Ex odd = graph::select(too_small & even, word + 1, graph::select(too_large & even, word - 1, word));
  return bits(odd, Lane::F32);
}

Ex convert(Ex x, DType to, bool rounds) {
  if (to == DType::Bool) return not_equal(x, x.literal(0));
  Ex y = is_half(to) && x.lane() == Lane::F64 ? round_to_odd(x) : cast(x, lane_of(to));
  if (is_half(to) && !rounds) return y;
  const bool whole_lane = to == DType::F32 || to == DType::F64 || to == DType::I32 || to == DType::I64;
  if (whole_lane) return y;
  return {y.builder(), y.builder()->emit({Prim::Narrow, y.lane(), y.id(), -1, -1, uint64_t(to)})};
}

void selection() {
  Op row{.name = "where", .doc = "condition ? a : b", .arity = 3, .kind = OpClass::Elementwise};
  row.infer = [](const InferContext& c) {
    if (c.in(0).dtype != DType::Bool)
      c.dtype_error(
          fmt::format("expected a bool condition, got {}; compare it with something", name_of(c.in(0).dtype)));
    expect(c, Takes::Any, 1);
    const Shape branches = broadcast_shapes(c.in(1).shape, c.in(2).shape, c.name, c.loc);
    return std::vector{c.like(1, broadcast_shapes(c.in(0).shape, branches, c.name, c.loc))};
  };
  row.expr = [](std::span<const Ex> in, const Attrs&) { return graph::select(in[0], in[1], in[2]); };
  row.gradient = [](Grad c) {
    return std::vector{Value(), c.needs(1) ? where(c.in(0), c.dy(), 0) : Value(),
                       c.needs(2) ? where(c.in(0), 0, c.dy()) : Value()};
  };
  row.saves = Saves::in({0});
  define(std::move(row));
}

void conversion() {
  Op row{.name = "cast", .doc = "x converted to another dtype", .kind = OpClass::Elementwise};
  row.infer = [](const InferContext& c) { return std::vector{c.like(0, c.in(0).shape, c.get<CastAttrs>().dtype)}; };
  row.expr = [](std::span<const Ex> in, const Attrs& attrs) {
    return convert(in[0], attrs.get<CastAttrs>().dtype, attrs.get<CastAttrs>().rounds);
  };
  row.gradient = [](Grad c) { return std::vector{cast(c.dy(), c.in(0).dtype())}; };
  define(std::move(row));
}

}  // namespace

// clang-format off
void register_compare() {
  comparison("eq", "a == b", [](Ex a, Ex b) { return graph::equal(a, b); });
  comparison("ne", "a != b", [](Ex a, Ex b) { return not_equal(a, b); });
  comparison("lt", "a < b", [](Ex a, Ex b) { return a < b; });
  comparison("le", "a <= b", [](Ex a, Ex b) { return a <= b; });
  predicate("isnan", "whether x is NaN", Takes::Floating, [](Ex x) { return not_equal(x, x); });
  predicate("isinf", "whether x is infinite", Takes::Floating, [](Ex x) { return equal(abs(x), kInfinity); });
  predicate("isfinite", "whether x is neither NaN nor infinite", Takes::Floating, [](Ex x) { return abs(x) < kInfinity; });
  selection();
  conversion();
}
// clang-format on

}  // namespace stoker::graph
