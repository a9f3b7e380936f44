#include "graph/ops/elementwise.h"

#include <bit>
#include <limits>
#include <numbers>

namespace stoker::graph {
namespace rows {
namespace {

std::vector<TensorType> broadcast_type(const InferContext& c, Takes takes, std::optional<DType> result) {
  expect(c, takes);
  Shape shape = c.in(0).shape;
  for (size_t i = 1; i < c.inputs.size(); ++i) shape = broadcast_shapes(shape, c.inputs[i].shape, c.name, c.loc);
  return {c.like(0, shape, result.value_or(c.in(0).dtype))};
}

void elementwise(std::string name, std::string doc, int arity, Takes takes, std::optional<DType> result, ExprFn expr,
                 std::vector<GradientOf> gradients, Saves saves) {
  Op row{.name = std::move(name), .doc = std::move(doc), .arity = arity, .kind = OpClass::Elementwise};
  row.infer = [=](const InferContext& c) { return broadcast_type(c, takes, result); };
  row.expr = std::move(expr);
  row.saves = saves;
  if (std::any_of(gradients.begin(), gradients.end(), [](GradientOf g) { return g != nullptr; }))
    row.gradient = [gradients](Grad c) {
      std::vector<Value> out(gradients.size());
      for (size_t i = 0; i < out.size(); ++i)
        if (gradients[i] && c.needs(int(i))) out[i] = gradients[i](c);
      return out;
    };
  define(std::move(row));
}

}  // namespace

void unary(std::string name, std::string doc, Takes takes, Ex (*f)(Ex), GradientOf dx, Saves saves) {
  elementwise(
      std::move(name), std::move(doc), 1, takes, {}, [f](auto in, const Attrs&) { return f(in[0]); }, {dx}, saves);
}
void binary(std::string name, std::string doc, Takes takes, Ex (*f)(Ex, Ex), GradientOf da, GradientOf db,
            Saves saves) {
  elementwise(
      std::move(name), std::move(doc), 2, takes, {}, [f](auto in, const Attrs&) { return f(in[0], in[1]); }, {da, db},
      saves);
}
void ternary(std::string name, std::string doc, Takes takes, Ex (*f)(Ex, Ex, Ex), GradientOf da, Saves saves) {
  elementwise(
      std::move(name), std::move(doc), 3, takes, {}, [f](auto in, const Attrs&) { return f(in[0], in[1], in[2]); },
      {da, nullptr, nullptr}, saves);
}
void predicate(std::string name, std::string doc, Takes takes, Ex (*f)(Ex)) {
  elementwise(std::move(name), std::move(doc), 1, takes, DType::Bool, [f](auto in, const Attrs&) { return f(in[0]); },
              {}, {});
}
void comparison(std::string name, std::string doc, Ex (*f)(Ex, Ex)) {
  elementwise(std::move(name), std::move(doc), 2, Takes::Any, DType::Bool,
              [f](auto in, const Attrs&) { return f(in[0], in[1]); }, {}, {});
}

Ex negative(Ex x) { return (x < 0) | (equal(x, 0) & (1 / x < 0)); }

}  // namespace rows

using namespace rows;

namespace {

const Saves kIn = Saves::in({0}), kOut = Saves::out({0}), kBoth = Saves::in({0, 1});

// --- integer arithmetic: division by zero gives 0, and the most negative number divided by -1 itself -----------------

Ex safe_divisor(Ex b) { return select(equal(b, 0) | equal(b, -1), 1, b); }

Ex divide(Ex a, Ex b) {
  if (is_float_lane(a)) return a / b;
  return select(equal(b, -1), -a, select(equal(b, 0), 0, a / safe_divisor(b)));
}

// Python's: the sign of the divisor.
Ex modulo(Ex a, Ex b) {
  if (!is_float_lane(a)) return emit(Prim::Rem, a, safe_divisor(b));
  Ex r = emit(Prim::Rem, a, b);
  return graph::select(not_equal(r, r.literal(0)) & ((r < 0) ^ (b < 0)), r + b, r);
}

Ex c_remainder(Ex a, Ex b) {
  if (is_float_lane(a)) return emit(Prim::Rem, a, b);
  return select(equal(b, 0), 0, a - divide(a, b) * b);
}

// Python's: the quotient of what a division without rest leaves, which is nearly whole, rounded to the nearest.
Ex floor_quotient(Ex a, Ex b) {
  if (!is_float_lane(a)) {
    Ex q = divide(a, b), inexact = not_equal(q * b, a) & not_equal(b, b.literal(0));
    return graph::select(inexact & ((a < 0) ^ (b < 0)), q - 1, q);
  }
  Ex r = c_remainder(a, b), q = (a - r) / b;
  q = graph::select(not_equal(r, r.literal(0)) & ((r < 0) ^ (b < 0)), q - 1, q);
  Ex whole = floor(q);
  whole = graph::select(q - whole > 0.5, whole + 1, whole);
  return graph::select(equal(b, 0), a / b, whole);
}

Ex power(Ex a, Ex b) {
  if (is_float_lane(a)) return emit(Prim::Pow, a, b);
  const int bits = a.lane() == Lane::I64 ? 63 : 31;
  Ex result = a.literal(1), factor = a;
  for (int i = 0; i < bits; ++i, factor = factor * factor)
    result = graph::select(equal(emit(Prim::Shr, b, b.literal(i)) & b.literal(1), 1), result * factor, result);
  Ex odd = equal(b & b.literal(1), 1);
  Ex inverse = select(equal(a, 1), 1, select(equal(a, -1) & odd, -1, select(equal(a, -1), 1, a.literal(0))));
  return graph::select(b < 0, inverse, result);
}

Ex arc_tangent_2(Ex y, Ex x) {
  Ex ax = abs(x), ay = abs(y), large = max(ax, ay);
  Ex ratio = select(equal(large, 0), 0, select(graph::equal(ax, ay), 1, min(ax, ay) / large));
  Ex angle = atan(ratio);
  angle = graph::select(ay > ax, std::numbers::pi / 2 - angle, angle);
  angle = graph::select(negative(x), std::numbers::pi - angle, angle);
  return graph::select(negative(y), -angle, angle);
}

// The exponent apart from the mantissa in sqrt(1/2)..sqrt(2), so that powers of two are exact.
Ex binary_logarithm(Ex x) {
  const bool wide = x.lane() == Lane::F64;
  const Lane integer = wide ? Lane::I64 : Lane::I32;
  const uint64_t root_half =
      wide ? std::bit_cast<uint64_t>(std::numbers::sqrt2 / 2) : std::bit_cast<uint32_t>(float(std::numbers::sqrt2 / 2));
  auto bits = [](Ex v, Lane lane) { return Ex(v.builder(), v.builder()->emit({Prim::Bits, lane, v.id(), -1, -1, 0})); };
  const Ex whole = bits(x, integer), shift = whole.literal(wide ? 52 : 23);
  const Ex exponent = emit(Prim::Shr, whole - whole.literal_bits(root_half), shift);
  const Ex mantissa = bits(whole - emit(Prim::Shl, exponent, shift), x.lane());
  const Ex normal = (x >= (wide ? 0x1p-1022 : 0x1p-126)) & (x < std::numeric_limits<double>::infinity());
  return select(normal, cast(exponent, x.lane()), 0) + log(graph::select(normal, mantissa, x)) / std::numbers::ln2;
}

Ex signum(Ex x) { return select(x > 0, 1, select(x < 0, -1, x.literal(0))); }

Ex soft_plus(Ex x) { return graph::select(x > 20, x, log1p(exp(x))); }
Ex six_steps(Ex x) { return min(max(x + 3, x.literal(0)), x.literal(6)); }

// --- gradients that need more than a line ----------------------------------------------------------------------------

// Of equals, each gets half.
Value larger_share(Grad c, const Value& winner, const Value& other, bool greater) {
  Value lost = greater ? lt(winner, other) : gt(winner, other);
  return where(lost, 0, where(eq(winner, other), c.dy() / 2, c.dy()));
}

Value pow_base_gradient(Grad c) { return where(eq(c.in(1), 0), 0, c.dy() * (c.in(1) * pow(c.in(0), c.in(1) - 1))); }
Value pow_exponent_gradient(Grad c) {
  Value zero_base = bitwise_and(eq(c.in(0), 0), ge(c.in(1), 0));
  return c.dy() * where(zero_base, 0, c.out() * log(c.in(0)));
}

Value silu_slope(const Value& x) {
  const Value s = sigmoid(x);
  return s * (x * (1 - s) + 1);
}
Value mish_slope(const Value& x) {
  const Value t = tanh(softplus(x, number_like(1, x), number_like(20, x)));
  return t + x * sigmoid(x) * (1 - square(t));
}
Value within_3(const Value& x) { return bitwise_and(gt(x, -3), lt(x, 3)); }
Value hardswish_gradient(const Value& dy, const Value& x) {
  return where(le(x, -3), 0, where(lt(x, 3), dy * (x / 3 + 0.5), dy));
}

// The table of rows, each as short as it can be said.
// clang-format off
void arithmetic() {
  auto dy = [](Grad c) { return c.dy(); };
  binary("add", "a + b", Takes::Numbers, [](Ex a, Ex b) { return a + b; }, dy, dy);
  binary("sub", "a - b", Takes::Numbers, [](Ex a, Ex b) { return a - b; }, dy, [](Grad c) { return -c.dy(); });
  binary("mul", "a * b", Takes::Numbers, [](Ex a, Ex b) { return a * b; },
         [](Grad c) { return c.dy() * c.in(1); }, [](Grad c) { return c.dy() * c.in(0); }, Saves::each_others());
  binary("div", "a / b; integers toward zero", Takes::Numbers, divide,
         [](Grad c) { return c.dy() / c.in(1); },
         [](Grad c) { return -(c.dy() * (c.in(0) / c.in(1) / c.in(1))); }, kBoth);
  binary("floor_divide", "a / b rounded toward minus infinity", Takes::Numbers, floor_quotient, zero_gradient,
         [](Grad c) { return zeros(c.in(1).type()); });
  binary("remainder", "a - floor(a / b) * b: the sign of b", Takes::Numbers, modulo,
         dy, [](Grad c) { return -(c.dy() * floor_divide(c.in(0), c.in(1))); }, kBoth);
  binary("fmod", "a - trunc(a / b) * b: the sign of a", Takes::Numbers, c_remainder,
         dy, [](Grad c) { return -(c.dy() * trunc(c.in(0) / c.in(1))); }, kBoth);
  binary("pow", "a to the b", Takes::Numbers, power, pow_base_gradient, pow_exponent_gradient, kBoth | kOut);
  binary("maximum", "the larger; NaN if either is", Takes::Any, [](Ex a, Ex b) { return max(a, b); },
         [](Grad c) { return larger_share(c, c.in(0), c.in(1), true); },
         [](Grad c) { return larger_share(c, c.in(1), c.in(0), true); }, kBoth);
  binary("minimum", "the smaller; NaN if either is", Takes::Any, [](Ex a, Ex b) { return min(a, b); },
         [](Grad c) { return larger_share(c, c.in(0), c.in(1), false); },
         [](Grad c) { return larger_share(c, c.in(1), c.in(0), false); }, kBoth);
  binary("atan2", "the angle of the point (b, a)", Takes::Floating, arc_tangent_2,
         [](Grad c) { return c.dy() * (c.in(1) / (square(c.in(0)) + square(c.in(1)))); },
         [](Grad c) { return -(c.dy() * (c.in(0) / (square(c.in(0)) + square(c.in(1))))); }, kBoth);
  binary("clamp_min", "x, but at least b", Takes::Numbers, [](Ex x, Ex b) { return max(x, b); },
         [](Grad c) { return where(ge(c.in(0), c.in(1)), c.dy(), 0); }, nullptr, kBoth);
  binary("clamp_max", "x, but at most b", Takes::Numbers, [](Ex x, Ex b) { return min(x, b); },
         [](Grad c) { return where(le(c.in(0), c.in(1)), c.dy(), 0); }, nullptr, kBoth);
  binary("bitwise_and", "bits set in both; logical and of bool", Takes::Bits, [](Ex a, Ex b) { return a & b; }, nullptr, nullptr);
  binary("bitwise_or", "bits set in either; logical or of bool", Takes::Bits, [](Ex a, Ex b) { return a | b; }, nullptr, nullptr);
  binary("bitwise_xor", "bits set in one; logical xor of bool", Takes::Bits, [](Ex a, Ex b) { return a ^ b; }, nullptr, nullptr);
}

// What the derivative of a function reads.
Value none_of(Grad) { return {}; }
Value x_of(Grad c) { return c.in(0); }
Value y_of(Grad c) { return c.out(); }
const Saves saves_none, saves_x = kIn, saves_y = kOut;
constexpr Takes takes_floats = Takes::Floating, takes_rounding = Takes::Floating, takes_numbers = Takes::Numbers;

void functions() {
  using std::numbers::ln10, std::numbers::ln2, std::numbers::inv_sqrtpi;
#define STOKER_FUNCTION(name, domain, meaning, formula, from, derivative)  \
  unary(#name, meaning, takes_##domain, [](Ex x) -> Ex { return formula; }, \
        [](Grad c) -> Value {                                              \
          [[maybe_unused]] const Value dy = c.dy(), from = from##_of(c);   \
          return derivative;                                               \
        },                                                                 \
        saves_##from);
#include <stoker/functions.inc>
#undef STOKER_FUNCTION
}
// clang-format on

}  // namespace

void register_elementwise() {
  arithmetic();
  functions();
  unary(
      "contiguous", "a dense copy", Takes::Any, [](Ex x) { return x; }, [](Grad c) { return c.dy(); });
}

}  // namespace stoker::graph
