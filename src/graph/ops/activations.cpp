#include <numbers>

#include "graph/ops/elementwise.h"

namespace stoker::graph {

using namespace rows;

namespace {

using std::numbers::inv_sqrtpi, std::numbers::sqrt2;
constexpr double kTanhScale = 2 * inv_sqrtpi / sqrt2, kTanhCube = 0.044715;
const Saves kIn = Saves::in({0});

Value gelu_gradient(Grad c) {
  const Value& x = c.in(0);
  Value cdf = (erf(x * (1 / sqrt2)) + 1) * 0.5, pdf = exp(square(x) * -0.5) * (inv_sqrtpi / sqrt2);
  return c.dy() * (cdf + x * pdf);
}

Value gelu_tanh_gradient(Grad c) {
  const Value& x = c.in(0);
  Value t = tanh((x + x * square(x) * kTanhCube) * kTanhScale);
  Value inner = (square(x) * (3 * kTanhCube) + 1) * kTanhScale;
  return c.dy() * ((t + 1) * 0.5 + x * 0.5 * (1 - square(t)) * inner);
}

Value softplus_gradient(Grad c) {
  Value scaled = c.in(0) * c.in(1);
  return where(gt(scaled, c.in(2)), c.dy(), c.dy() * sigmoid(scaled));
}

}  // namespace

// clang-format off
void register_activations() {
  const Takes floating = Takes::Floating;
  binary("leaky_relu", "x above 0, slope * x below", floating, [](Ex x, Ex slope) { return graph::select(x > 0, x, x * slope); },
         [](Grad c) { return where(gt(c.in(0), 0), c.dy(), c.dy() * c.in(1)); }, nullptr, Saves::in({0, 1}));
  binary("elu", "x above 0, alpha * (exp(x) - 1) below", floating,
         [](Ex x, Ex alpha) { return graph::select(x > 0, x, alpha * expm1(x)); },
         [](Grad c) { return where(gt(c.in(0), 0), c.dy(), c.dy() * (c.in(1) * exp(c.in(0)))); }, nullptr, Saves::in({0, 1}));
  unary("gelu", "x * Phi(x)", floating, [](Ex x) { return x * 0.5 * (erf(x * (1 / sqrt2)) + 1); }, gelu_gradient, kIn);
  unary("gelu_tanh", "gelu by the tanh formula", floating,
        [](Ex x) { return x * 0.5 * (tanh((x + x * x * x * kTanhCube) * kTanhScale) + 1); }, gelu_tanh_gradient, kIn);
  ternary("softplus", "log(1 + exp(beta * x)) / beta; x where beta * x > threshold", floating,
          [](Ex x, Ex beta, Ex threshold) { return graph::select(x * beta > threshold, x, log1p(exp(x * beta)) / beta); },
          softplus_gradient, Saves::all_inputs());
  ternary("hardtanh", "x between low and high; no gradient at the bounds", Takes::Numbers,
          [](Ex x, Ex low, Ex high) { return min(max(x, low), high); },
          [](Grad c) { return where(bitwise_and(gt(c.in(0), c.in(1)), lt(c.in(0), c.in(2))), c.dy(), 0); }, Saves::all_inputs());
}
// clang-format on

}  // namespace stoker::graph
