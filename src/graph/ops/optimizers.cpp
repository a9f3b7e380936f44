// Optimizer updates: one node for a whole group of parameters, stored over its inputs. Numbers that change from step to
// step are inputs.
#include "graph/ops/rows.h"

namespace stoker::graph {

using namespace rows;

namespace {

void expect_inputs(const InferContext& c, int64_t tensors, int64_t lists, int64_t numbers) {
  const int64_t expected = tensors * lists + numbers;
  if (int64_t(c.inputs.size()) != expected)
    c.shape_error(fmt::format("expected {} inputs for {} tensors, got {}", expected, tensors, c.inputs.size()));
  for (int64_t i = 0; i < tensors * lists; ++i) {
    const TensorType &parameter = c.in(int(i % tensors)), &other = c.in(int(i));
    if (!(other.shape == parameter.shape))
      c.shape_error(fmt::format("expected gradients and state of the parameter's shape {}, got {}",
                                to_string(parameter.shape), to_string(other.shape)));
  }
}

// The types of what is updated: parameters and state, without the gradients between them.
std::vector<TensorType> updated_types(const InferContext& c, int64_t tensors, int64_t lists) {
  std::vector<TensorType> types;
  for (int64_t i = 0; i < tensors * lists; ++i)
    if (i / tensors != 1) types.push_back(c.in(int(i)));
  return types;
}

// The gradient that the update uses, in the dtype it computes in.
Value effective_gradient(const Value& g, const Value& p, bool maximize, double weight_decay) {
  const Value wide = cast(g, p.dtype()), signed_g = maximize ? -wide : wide;
  return weight_decay != 0 ? signed_g + p * weight_decay : signed_g;
}

std::vector<Value> compose_sgd(std::span<const Value> in, const Attrs& attrs) {
  const auto& a = attrs.get<SgdAttrs>();
  const size_t n = size_t(a.tensors);
  const Value &lr = in[in.size() - 2], &first = in[in.size() - 1];
  std::vector<Value> parameters, velocities;
  for (size_t i = 0; i < n; ++i) {
    const Value p = widen(in[i]), g = effective_gradient(in[n + i], p, a.maximize, a.weight_decay);
    Value direction = g;
    if (a.momentum != 0) {
      const Value v = where(ne(first, 0), g, widen(in[2 * n + i]) * a.momentum + g * (1 - a.dampening));
      velocities.push_back(cast(v, in[2 * n + i].dtype()));
      direction = a.nesterov ? g + v * a.momentum : v;
    }
    parameters.push_back(cast(p - cast(lr, p.dtype()) * direction, in[i].dtype()));
  }
  parameters.insert(parameters.end(), velocities.begin(), velocities.end());
  return parameters;
}

std::vector<Value> compose_adam(std::span<const Value> in, const Attrs& attrs) {
  const auto& a = attrs.get<AdamAttrs>();
  const size_t n = size_t(a.tensors), lists = a.amsgrad ? 4 : 3;
  std::vector<Value> out(n * lists);
  for (size_t i = 0; i < n; ++i) {
    const Value before = widen(in[i]);
    auto number = [&](size_t k) { return cast(in[in.size() - 3 + k], before.dtype()); };
    const Value lr = number(0), bias1 = number(1), bias2 = number(2);
    const Value g = effective_gradient(in[n + i], before, a.maximize, a.decoupled ? 0 : a.weight_decay);
    const Value p = a.decoupled ? before * (1 - lr * a.weight_decay) : before;
    const Value m0 = widen(in[2 * n + i]), v0 = widen(in[3 * n + i]);
    const Value m = m0 + (g - m0) * (1 - a.beta1), v = v0 * a.beta2 + g * g * (1 - a.beta2);
    const Value largest = a.amsgrad ? maximum(widen(in[4 * n + i]), v) : v;
    out[i] = cast(p - lr / bias1 * m / (sqrt(largest) / sqrt(bias2) + a.eps), in[i].dtype());
    out[n + i] = cast(m, in[2 * n + i].dtype());
    out[2 * n + i] = cast(v, in[3 * n + i].dtype());
    if (a.amsgrad) out[3 * n + i] = cast(largest, in[4 * n + i].dtype());
  }
  return out;
}

void update(std::string name, std::string doc, InferFn infer, ComposeFn compose, double flops) {
  Op row{.name = std::move(name), .doc = std::move(doc), .arity = -1};
  row.infer = std::move(infer);
  row.compose = std::move(compose);
  row.flops = [flops](std::span<const TensorType>, std::span<const TensorType> out, const Attrs&) {
    double elements = 0;
    for (const TensorType& t : out) elements += double(t.elements());
    return flops * elements;
  };
  row.assigns_in_place = true;
  define(std::move(row));
}

}  // namespace

void register_optimizers() {
  update(
      "sgd_update", "SGD's step for a group of parameters",
      [](const InferContext& c) {
        const auto& a = c.get<SgdAttrs>();
        const int64_t lists = a.momentum != 0 ? 3 : 2;
        expect_inputs(c, a.tensors, lists, 2);
        return updated_types(c, a.tensors, lists);
      },
      compose_sgd, 3);
  update(
      "adam_update", "Adam's and AdamW's step for a group of parameters",
      [](const InferContext& c) {
        const auto& a = c.get<AdamAttrs>();
        const int64_t lists = a.amsgrad ? 5 : 4;
        expect_inputs(c, a.tensors, lists, 3);
        return updated_types(c, a.tensors, lists);
      },
      compose_adam, 5);
}

}  // namespace stoker::graph
