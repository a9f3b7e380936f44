// Arithmetic, comparison, logic, selection.
#include <cmath>

#include "ops/case.h"

namespace stoker::test {
namespace {

const Domain kReal{-4, 4}, kPositive{0.25, 4}, kNegative{-4, -0.25}, kTies{-3, 3, true};
const Takes kFloats = Takes::Floats, kNumbers = Takes::Numbers, kAny = Takes::Any, kBits = Takes::Bits;
const Gives kSame = Gives::Same, kToBool = Gives::Bool, kToFloats = Gives::Floats;

// Python's a % b and a // b, for floats as CPython computes them.
double python_remainder(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
double python_quotient(double a, double b) {
  if (b == 0) return a / b;
  const double r = std::fmod(a, b), q = (a - r) / b - (r != 0 && (r < 0) != (b < 0));
  return q - std::floor(q) > 0.5 ? std::floor(q) + 1 : std::floor(q);
}
double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double quotient(double a, double b) { return a / b; }
double truncated_quotient(double a, double b) { return std::trunc(a / b); }
double modulo(double a, double b) { return std::fmod(a, b); }

const Cases kArithmetic{
    binary(
        "add", add, [](double a, double b) { return a + b; }, kReal, kReal),
    binary(
        "add.operator", [](Arg a, Arg b) { return a + b; }, [](double a, double b) { return a + b; }, kReal, kReal),
    binary(
        "sub", sub, [](double a, double b) { return a - b; }, kReal, kReal),
    binary(
        "sub.operator", [](Arg a, Arg b) { return a - b; }, [](double a, double b) { return a - b; }, kReal, kReal),
    binary(
        "mul", mul, [](double a, double b) { return a * b; }, kReal, kReal),
    binary(
        "mul.operator", [](Arg a, Arg b) { return a * b; }, [](double a, double b) { return a * b; }, kReal, kReal),
    binary("div", div, quotient, kReal, kPositive, kNumbers, kToFloats),
    binary(
        "div.operator", [](Arg a, Arg b) { return a / b; }, quotient, kReal, kNegative, kFloats),
    binary("floor_divide", floor_divide, python_quotient, kReal, kPositive),
    binary("floor_divide.negative", floor_divide, python_quotient, kReal, kNegative, kFloats),
    binary("floor_divide.whole", floor_divide, python_quotient, {-9, 9, true}, {-4, -1, true}, kNumbers, kSame,
           {.gradient = false}),
    binary("div_trunc", div_trunc, truncated_quotient, kReal, kPositive),
    binary("div_trunc.negative", div_trunc, truncated_quotient, kReal, kNegative, kFloats),
    binary("div_trunc.whole", div_trunc, truncated_quotient, {-9, 9, true}, {-4, -1, true}, kNumbers, kSame,
           {.gradient = false}),
    binary("remainder", remainder, python_remainder, kReal, kPositive),
    binary("remainder.negative", remainder, python_remainder, kReal, kNegative, kFloats),
    binary("remainder.whole", remainder, python_remainder, {-9, 9, true}, {-4, -1, true}, kNumbers, kSame,
           {.gradient = false}),
    binary("fmod", fmod, modulo, kReal, kPositive),
    binary("fmod.negative", fmod, modulo, kReal, kNegative, kFloats),
    binary("fmod.whole", fmod, modulo, {-9, 9, true}, {-4, -1, true}, kNumbers, kSame, {.gradient = false}),
    binary(
        "pow", pow, [](double a, double b) { return std::pow(a, b); }, kPositive, {-3, 3}, kFloats),
    binary("pow.whole", pow, [](double a, double b) { return std::pow(a, b); }, kTies, {0, 4, true}, kNumbers, kSame,
           {.gradient = false}),
    binary("maximum", maximum, larger, kReal, kReal, kAny),
    binary("maximum.whole", maximum, larger, kTies, kTies, kAny, kSame, {.gradient = false}),
    binary("minimum", minimum, smaller, kReal, kReal, kAny),
    binary("minimum.whole", minimum, smaller, kTies, kTies, kAny, kSame, {.gradient = false}),
    binary(
        "atan2", atan2, [](double a, double b) { return std::atan2(a, b); }, kReal, kReal, kNumbers, kToFloats),
    recorded("maximum.ties", [](X x) { return maximum(x[0], x[1]); }, {.smooth = false}),
    recorded("minimum.ties", [](X x) { return minimum(x[0], x[1]); }, {.smooth = false}),
    recorded("pow.kink", [](X x) { return pow(x[0], x[1]); }, {.smooth = false}),

    number(
        "neg", [](X x) { return neg(x[0]); }, [](double x) { return -x; }, kReal, kNumbers),
    number(
        "neg.operator", [](X x) { return -x[0]; }, [](double x) { return -x; }, kReal, kNumbers),
    number(
        "add.number", [](X x) { return add(x[0], 3); }, [](double x) { return x + 3; }, kReal, kNumbers),
    number(
        "add.number_operator", [](X x) { return 1.5 + (x[0] + 2.25); }, [](double x) { return x + 3.75; }, kReal),
    number(
        "sub.number", [](X x) { return sub(x[0], 3); }, [](double x) { return x - 3; }, kReal, kNumbers),
    number(
        "sub.number_first", [](X x) { return sub(3, x[0]); }, [](double x) { return 3 - x; }, kReal, kNumbers),
    number(
        "sub.number_operator", [](X x) { return 1.5 - (x[0] - 2.25); }, [](double x) { return 3.75 - x; }, kReal),
    number(
        "mul.number", [](X x) { return mul(x[0], -3); }, [](double x) { return x * -3; }, kReal, kNumbers),
    number(
        "mul.number_operator", [](X x) { return 1.5 * (x[0] * -0.5); }, [](double x) { return -0.75 * x; }, kReal),
    number(
        "mul.by_minus_one", [](X x) { return mul(x[0], -1); }, [](double x) { return -x; }, kReal, kNumbers),
    number(
        "mul.by_zero", [](X x) { return mul(x[0], 0); }, [](double x) { return x * 0; }, kReal, kNumbers),
    number(
        "div.number", [](X x) { return div(x[0], 4); }, [](double x) { return x / 4; }, kReal, kNumbers, kToFloats),
    number(
        "div.number_first", [](X x) { return div(3, x[0]); }, [](double x) { return 3 / x; }, kPositive, kNumbers,
        kToFloats),
    number(
        "div.number_operator", [](X x) { return 1.5 / (x[0] / 3); }, [](double x) { return 4.5 / x; }, kNegative),
    number(
        "floor_divide.number", [](X x) { return floor_divide(x[0], 3); },
        [](double x) { return python_quotient(x, 3); }, kReal, kNumbers),
    number(
        "remainder.number", [](X x) { return remainder(x[0], -3); }, [](double x) { return python_remainder(x, -3); },
        kReal, kFloats),
    number(
        "fmod.number", [](X x) { return fmod(x[0], 3); }, [](double x) { return std::fmod(x, 3); }, kReal, kNumbers),
    number(
        "maximum.number", [](X x) { return maximum(x[0], 1); }, [](double x) { return larger(x, 1); }, kReal, kNumbers),
    number(
        "minimum.number", [](X x) { return minimum(x[0], 1); }, [](double x) { return smaller(x, 1); }, kReal,
        kNumbers),
    number(
        "pow.number", [](X x) { return pow(x[0], 2.5); }, [](double x) { return std::pow(x, 2.5); }, kPositive),
    number(
        "pow.number_4", [](X x) { return pow(x[0], 4); }, [](double x) { return std::pow(x, 4); }, kTies, kNumbers),
    number(
        "pow.number_3", [](X x) { return pow(x[0], 3); }, [](double x) { return x * x * x; }, kReal, kNumbers),
    number(
        "pow.number_2", [](X x) { return pow(x[0], 2); }, [](double x) { return x * x; }, kReal, kNumbers),
    number(
        "pow.number_1", [](X x) { return pow(x[0], 1); }, [](double x) { return x; }, kReal, kNumbers),
    number(
        "pow.number_half", [](X x) { return pow(x[0], 0.5); }, [](double x) { return std::sqrt(x); }, kPositive),
    number(
        "pow.number_minus_half", [](X x) { return pow(x[0], -0.5); }, [](double x) { return 1 / std::sqrt(x); },
        kPositive),
    number(
        "pow.number_minus_1", [](X x) { return pow(x[0], -1); }, [](double x) { return 1 / x; }, kNegative),
    number(
        "pow.number_minus_2", [](X x) { return pow(x[0], -2); }, [](double x) { return 1 / (x * x); }, kNegative),
    number(
        "pow.number_first", [](X x) { return pow(2, x[0]); }, [](double x) { return std::pow(2, x); }, {0, 4},
        kNumbers),
    recorded("pow.number_zero", [](X x) { return pow(x[0], 0); }, {.smooth = false}),
    recorded("pow.number_base_zero", [](X x) { return pow(0, x[0]); }, {.smooth = false}),
};

const Cases kComparison{
    binary(
        "eq", eq, [](double a, double b) { return double(a == b); }, kTies, kTies, kAny, kToBool),
    binary(
        "ne", ne, [](double a, double b) { return double(a != b); }, kTies, kTies, kAny, kToBool),
    binary(
        "lt", lt, [](double a, double b) { return double(a < b); }, kTies, kTies, kAny, kToBool),
    binary(
        "le", le, [](double a, double b) { return double(a <= b); }, kTies, kTies, kAny, kToBool),
    binary(
        "gt", gt, [](double a, double b) { return double(a > b); }, kTies, kTies, kAny, kToBool),
    binary(
        "ge", ge, [](double a, double b) { return double(a >= b); }, kTies, kTies, kAny, kToBool),
    binary(
        "eq.operator", [](Arg a, Arg b) { return a == b; }, [](double a, double b) { return double(a == b); }, kTies,
        kTies, kAny, kToBool),
    binary(
        "ne.operator", [](Arg a, Arg b) { return a != b; }, [](double a, double b) { return double(a != b); }, kTies,
        kTies, kAny, kToBool),
    binary(
        "lt.operator", [](Arg a, Arg b) { return a < b; }, [](double a, double b) { return double(a < b); }, kTies,
        kTies, kAny, kToBool),
    binary(
        "le.operator", [](Arg a, Arg b) { return a <= b; }, [](double a, double b) { return double(a <= b); }, kTies,
        kTies, kAny, kToBool),
    binary(
        "gt.operator", [](Arg a, Arg b) { return a > b; }, [](double a, double b) { return double(a > b); }, kTies,
        kTies, kAny, kToBool),
    binary(
        "ge.operator", [](Arg a, Arg b) { return a >= b; }, [](double a, double b) { return double(a >= b); }, kTies,
        kTies, kAny, kToBool),
    number(
        "eq.number", [](X x) { return eq(x[0], 1); }, [](double x) { return double(x == 1); }, kTies, kNumbers,
        kToBool),
    number(
        "ne.number", [](X x) { return ne(x[0], 1); }, [](double x) { return double(x != 1); }, kTies, kNumbers,
        kToBool),
    number(
        "lt.number", [](X x) { return lt(x[0], 1); }, [](double x) { return double(x < 1); }, kTies, kNumbers, kToBool),
    number(
        "le.number", [](X x) { return le(x[0], 1); }, [](double x) { return double(x <= 1); }, kTies, kNumbers,
        kToBool),
    number(
        "gt.number", [](X x) { return gt(x[0], 1); }, [](double x) { return double(x > 1); }, kTies, kNumbers, kToBool),
    number(
        "ge.number", [](X x) { return ge(x[0], 1); }, [](double x) { return double(x >= 1); }, kTies, kNumbers,
        kToBool),
    number(
        "eq.number_operator", [](X x) { return x[0] == 1; }, [](double x) { return double(x == 1); }, kTies, kNumbers,
        kToBool),
    number(
        "ne.number_operator", [](X x) { return x[0] != 1; }, [](double x) { return double(x != 1); }, kTies, kNumbers,
        kToBool),
    number(
        "lt.number_operator", [](X x) { return x[0] < 1; }, [](double x) { return double(x < 1); }, kTies, kNumbers,
        kToBool),
    number(
        "le.number_operator", [](X x) { return x[0] <= 1; }, [](double x) { return double(x <= 1); }, kTies, kNumbers,
        kToBool),
    number(
        "gt.number_operator", [](X x) { return x[0] > 1; }, [](double x) { return double(x > 1); }, kTies, kNumbers,
        kToBool),
    number(
        "ge.number_operator", [](X x) { return x[0] >= 1; }, [](double x) { return double(x >= 1); }, kTies, kNumbers,
        kToBool),
    binary(
        "logical_and", logical_and, [](double a, double b) { return double(a != 0 && b != 0); }, kTies, kTies, kAny,
        kToBool),
    binary(
        "logical_or", logical_or, [](double a, double b) { return double(a != 0 || b != 0); }, kTies, kTies, kAny,
        kToBool),
    binary(
        "logical_xor", logical_xor, [](double a, double b) { return double((a != 0) != (b != 0)); }, kTies, kTies, kAny,
        kToBool),
    number(
        "logical_not", [](X x) { return logical_not(x[0]); }, [](double x) { return double(x == 0); }, kTies, kAny,
        kToBool),
    binary(
        "bitwise_and", bitwise_and, [](double a, double b) { return double(int64_t(a) & int64_t(b)); }, {-99, 99},
        {-99, 99}, kBits),
    binary(
        "bitwise_or", bitwise_or, [](double a, double b) { return double(int64_t(a) | int64_t(b)); }, {-99, 99},
        {-99, 99}, kBits),
    binary(
        "bitwise_xor", bitwise_xor, [](double a, double b) { return double(int64_t(a) ^ int64_t(b)); }, {-99, 99},
        {-99, 99}, kBits),
    number(
        "isnan", [](X x) { return isnan(x[0]); }, [](double x) { return double(std::isnan(x)); }, kReal, kNumbers,
        kToBool),
    number(
        "isinf", [](X x) { return isinf(x[0]); }, [](double x) { return double(std::isinf(x)); }, kReal, kNumbers,
        kToBool),
    number(
        "isfinite", [](X x) { return isfinite(x[0]); }, [](double x) { return double(std::isfinite(x)); }, kReal,
        kNumbers, kToBool),
};

const Cases kSelection{
    recorded("where", [](X x) { return where(x[0], x[1], x[2]); }),
    recorded("where.broadcast", [](X x) { return where(x[0], x[1], x[2]); }),
    recorded("where.number", [](X x) { return where(x[0], x[1], -1.5); }),
    recorded("where.number_first", [](X x) { return where(x[0], 2.0, x[1]); }),
    recorded("where.nan_not_chosen", [](X x) { return where(x[0], x[1], x[2]); }),
    recorded("where.integers", [](X x) { return where(x[0], x[1], x[2]); }),
    recorded("where.empty", [](X x) { return where(x[0], x[1], x[2]); }),
    recorded("masked_fill", [](X x) { return masked_fill(x[0], x[1], -2.5); }),
    recorded("masked_fill.broadcast", [](X x) { return masked_fill(x[0], x[1], -INFINITY); }),
};

}  // namespace
}  // namespace stoker::test
