// Functions of one number, and activations.
#include <cmath>

#include "ops/case.h"

namespace stoker::test {
namespace {

const Domain kReal{-4, 4}, kPositive{0.1, 20}, kFraction{-0.9, 0.9};
const Takes kFloats = Takes::Floats, kNumbers = Takes::Numbers;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double gauss(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2))); }
double gauss_by_tanh(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
double soft(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }
// NaN stays.
double between(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

const Cases kFunctions{
    number(
        "abs", [](X x) { return abs(x[0]); }, [](double x) { return std::abs(x); }, kReal, kNumbers),
    number(
        "sign", [](X x) { return sign(x[0]); }, [](double x) { return double((x > 0) - (x < 0)); }, kReal, kNumbers),
    number(
        "square", [](X x) { return square(x[0]); }, [](double x) { return x * x; }, kReal, kNumbers),
    number(
        "floor", [](X x) { return floor(x[0]); }, [](double x) { return std::floor(x); }, kReal, kNumbers),
    number(
        "ceil", [](X x) { return ceil(x[0]); }, [](double x) { return std::ceil(x); }, kReal, kNumbers),
    number(
        "round", [](X x) { return round(x[0]); }, [](double x) { return std::nearbyint(x); }, kReal, kNumbers),
    number(
        "trunc", [](X x) { return trunc(x[0]); }, [](double x) { return std::trunc(x); }, kReal, kNumbers),
    unary(
        "exp", exp, [](double x) { return std::exp(x); }, kReal),
    unary(
        "exp2", exp2, [](double x) { return std::exp2(x); }, kReal),
    unary(
        "expm1", expm1, [](double x) { return std::expm1(x); }, kReal),
    unary(
        "log", log, [](double x) { return std::log(x); }, kPositive),
    unary(
        "log2", log2, [](double x) { return std::log2(x); }, kPositive),
    unary(
        "log10", log10, [](double x) { return std::log10(x); }, kPositive),
    unary("log1p", log1p, [](double x) { return std::log1p(x); }, {-0.9, 4}),
    unary(
        "sqrt", sqrt, [](double x) { return std::sqrt(x); }, kPositive),
    unary(
        "rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }, kPositive),
    unary("reciprocal", reciprocal, [](double x) { return 1 / x; }, {0.25, 4}),
    unary(
        "sin", sin, [](double x) { return std::sin(x); }, kReal),
    unary(
        "cos", cos, [](double x) { return std::cos(x); }, kReal),
    unary("tan", tan, [](double x) { return std::tan(x); }, {-1.4, 1.4}),
    unary(
        "asin", asin, [](double x) { return std::asin(x); }, kFraction),
    unary(
        "acos", acos, [](double x) { return std::acos(x); }, kFraction),
    unary("atan", atan, [](double x) { return std::atan(x); }, {-8, 8}),
    unary(
        "sinh", sinh, [](double x) { return std::sinh(x); }, kReal),
    unary(
        "cosh", cosh, [](double x) { return std::cosh(x); }, kReal),
    unary(
        "tanh", tanh, [](double x) { return std::tanh(x); }, kReal),
    unary(
        "erf", erf, [](double x) { return std::erf(x); }, kReal),
    number(
        "clamp", [](X x) { return clamp(x[0], -1, 2); }, [](double x) { return between(x, -1, 2); }, kReal,
        Takes::Floats),
    number(
        "clamp.low", [](X x) { return clamp(x[0], 1, {}); }, [](double x) { return between(x, 1, INFINITY); }, kReal,
        kNumbers),
    number(
        "clamp.high", [](X x) { return clamp(x[0], {}, 2); }, [](double x) { return between(x, -INFINITY, 2); }, kReal,
        kNumbers),
    recorded("abs.kink", [](X x) { return abs(x[0]); }, {.smooth = false}),
    recorded("sign.kink", [](X x) { return sign(x[0]); }, {.smooth = false}),
    recorded("round.kink", [](X x) { return round(x[0]); }, {.smooth = false}),
    recorded("sqrt.zero", [](X x) { return sqrt(x[0]); }, {.smooth = false}),
    recorded("clamp.kink", [](X x) { return clamp(x[0], -1, 0.5); }, {.smooth = false}),
};

const Cases kActivations{
    number(
        "relu", [](X x) { return relu(x[0]); }, [](double x) { return x < 0 ? 0 : x; }, kReal, kNumbers),
    number(
        "leaky_relu", [](X x) { return leaky_relu(x[0]); }, [](double x) { return x > 0 ? x : 0.01 * x; }, kReal),
    number(
        "leaky_relu.slope", [](X x) { return leaky_relu(x[0], 0.25); }, [](double x) { return x > 0 ? x : 0.25 * x; },
        kReal),
    number(
        "elu", [](X x) { return elu(x[0]); }, [](double x) { return x > 0 ? x : std::expm1(x); }, kReal),
    number(
        "elu.alpha", [](X x) { return elu(x[0], 1.5); }, [](double x) { return x > 0 ? x : 1.5 * std::expm1(x); },
        kReal),
    number("gelu", [](X x) { return gelu(x[0]); }, gauss, kReal, kFloats, Gives::Same, {.of_largest = true}),
    number("gelu.approximate", [](X x) { return gelu(x[0], true); }, gauss_by_tanh, kReal, kFloats, Gives::Same,
           {.of_largest = true}),
    unary("sigmoid", sigmoid, logistic, kReal),
    unary(
        "silu", silu, [](double x) { return x / (1 + std::exp(-x)); }, kReal),
    number(
        "softplus", [](X x) { return softplus(x[0]); }, soft, kReal),
    number(
        "softplus.beta", [](X x) { return softplus(x[0], 2, 3); },
        [](double x) { return 2 * x > 3 ? x : std::log1p(std::exp(2 * x)) / 2; }, kReal),
    number(
        "hardtanh", [](X x) { return hardtanh(x[0]); }, [](double x) { return between(x, -1, 1); }, kReal),
    number(
        "hardtanh.bounds", [](X x) { return hardtanh(x[0], 1, 3); }, [](double x) { return between(x, 1, 3); }, kReal,
        kNumbers),
    unary(
        "hardsigmoid", hardsigmoid, [](double x) { return between(x + 3, 0, 6) / 6; }, kReal),
    unary(
        "hardswish", hardswish, [](double x) { return x * (between(x + 3, 0, 6) / 6); }, kReal),
    unary(
        "softsign", softsign, [](double x) { return x / (1 + std::abs(x)); }, kReal),
    unary(
        "mish", mish, [](double x) { return x * std::tanh(soft(x)); }, kReal),
    unary(
        "log_sigmoid", log_sigmoid,
        [](double x) { return std::isnan(x) ? x : std::min(x, 0.0) - std::log1p(std::exp(-std::abs(x))); }, kReal),
    recorded("relu.kink", [](X x) { return relu(x[0]); }, {.smooth = false}),
    recorded("leaky_relu.kink", [](X x) { return leaky_relu(x[0], 0.25); }, {.smooth = false}),
    recorded("elu.kink", [](X x) { return elu(x[0], 1.5); }, {.smooth = false}),
    recorded("hardtanh.kink", [](X x) { return hardtanh(x[0], -1, 0.5); }, {.smooth = false}),
    recorded("hardsigmoid.kink", [](X x) { return hardsigmoid(x[0]); }, {.smooth = false}),
    recorded("softplus.kink", [](X x) { return softplus(x[0], 2, 2); }, {.smooth = false}),
};

}  // namespace
}  // namespace stoker::test
