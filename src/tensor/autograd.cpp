#include "graph/gradient.h"

#include "graph/build.h"
#include "graph/ops/custom.h"
#include "tensor/evaluate.h"
#include "tensor/update.h"

namespace stoker {

using detail::Access;
using graph::Cell;
using graph::Value;

NoGrad::NoGrad() : previous_(graph::grad_enabled()) { graph::set_grad_enabled(false); }
NoGrad::~NoGrad() { graph::set_grad_enabled(previous_); }
EnableGrad::EnableGrad() : previous_(graph::grad_enabled()) { graph::set_grad_enabled(true); }
EnableGrad::~EnableGrad() { graph::set_grad_enabled(previous_); }
bool grad_enabled() { return graph::grad_enabled(); }

// --- backward --------------------------------------------------------------------------------------------------------

void Tensor::backward(BackwardOptions options, Loc loc) const {
  if (numel() != 1)
    throw ShapeError(
        "backward",
        fmt::format("expected a tensor with one element, got shape {}; pass the gradient of this tensor, or "
                    "take the sum or mean first",
                    stoker::to_string(shape())),
        loc);
  const Value v = Access::value(*this, "backward", loc);
  graph::backward(v, graph::ones(v.type()), {options.retain_graph, options.create_graph}, loc);
}

void Tensor::backward(const Tensor& gradient, BackwardOptions options, Loc loc) const {
  graph::backward(Access::value(*this, "backward", loc), Access::value(gradient, "backward", loc),
                  {options.retain_graph, options.create_graph}, loc);
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& output_gradients, GradOptions options, Loc loc) {
  if (!output_gradients.empty() && output_gradients.size() != outputs.size())
    throw ValueError(
        "grad",
        fmt::format("expected one gradient for each of {} outputs, got {}", outputs.size(), output_gradients.size()),
        loc);
  std::vector<Value> ys, seeds, xs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    ys.push_back(Access::value(outputs[i], "grad", loc));
    if (output_gradients.empty() && ys.back().type().elements() != 1)
      throw ShapeError("grad",
                       fmt::format("expected outputs with one element, got shape {}; pass output_gradients",
                                   to_string(ys.back().shape())),
                       loc);
    seeds.push_back(output_gradients.empty() ? graph::ones(ys.back().type())
                                             : Access::value(output_gradients[i], "grad", loc));
  }
  {
    graph::GradMode on(true);  // a cell's `read` node is what leads to it
    for (const Tensor& x : inputs) xs.push_back(Access::value(x, "grad", loc));
  }
  const std::vector<Value> found = graph::gradients(ys, seeds, xs, {options.retain_graph, options.create_graph}, loc);
  std::vector<Tensor> results;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i] && !options.allow_unused)
      throw GraphError(
          "grad",
          fmt::format("expected outputs that depend on input {}, but they do not; pass {{.allow_unused = true}} to get "
                      "an undefined tensor",
                      i),
          loc);
    results.push_back(found[i] ? Access::wrap(found[i]) : Tensor());
  }
  return results;
}

// --- collected gradients ---------------------------------------------------------------------------------------------

namespace {

Ref<Cell> collecting_cell(const Tensor& tensor, std::string_view operation, Loc loc) {
  auto cell = Access::cell(tensor);
  if (!cell)
    throw GraphError(operation,
                     "expected a cell: gradients are kept for parameters and what requires_grad_() was called on", loc);
  return cell;
}

}  // namespace

Tensor Tensor::grad(Loc loc) const {
  const auto cell = Access::cell(*this);
  if (!cell || cell->gradient_state == Cell::GradientState::None) return {};
  if (cell->gradient_state == Cell::GradientState::UsedUp)
    throw GraphError("grad",
                     "expected a gradient, but step() used it up and zero_grad() was not called since; read it before "
                     "step(), or give "
                     "the optimizer {.keep_grads = true}",
                     loc);
  return Access::wrap(cell->gradient->current());
}

void Tensor::set_grad(const Tensor& gradient) const {
  const auto cell = collecting_cell(*this, "set_grad", {});
  if (!gradient.defined()) return detail::clear_gradient(*this);
  const Value v = Access::value(gradient.detach(), "set_grad");
  if (!(v.type() == cell->type()))
    throw ShapeError("set_grad", fmt::format("expected a gradient of the cell's type {}, got {}",
                                             graph::to_string(cell->type()), graph::to_string(v.type())));
  if (cell->gradient)
    cell->gradient->assign(v);
  else
    cell->gradient = Cell::create(v, false);
  cell->gradient_state = Cell::GradientState::Present;
}

namespace detail {

bool has_gradient(const Tensor& parameter) {
  const auto cell = Access::cell(parameter);
  return cell && cell->gradient_state == Cell::GradientState::Present;
}

Tensor take_gradient(const Tensor& parameter, bool keep) {
  const auto cell = collecting_cell(parameter, "step", {});
  if (cell->gradient_state == Cell::GradientState::UsedUp)
    throw GraphError(
        "step",
        fmt::format("expected a whole gradient of {}, but an earlier step() used it up; call zero_grad() before "
                    "backward(), or give the optimizer {{.keep_grads = true}}",
                    cell->name.empty() ? "a parameter" : "'" + cell->name + "'"));
  if (cell->gradient_state == Cell::GradientState::None) return {};
  Tensor gradient = Access::wrap(cell->gradient->current());
  if (!keep) {
    cell->gradient_state = Cell::GradientState::UsedUp;
    cell->gradient->forget();
  }
  return gradient;
}

void clear_gradient(const Tensor& parameter) {
  const auto cell = collecting_cell(parameter, "zero_grad", {});
  cell->gradient_state = Cell::GradientState::None;
  if (cell->gradient) cell->gradient->forget();
}

void update_cells(std::string_view op, graph::Attrs attrs, const std::vector<Tensor>& cells,
                  const std::vector<Tensor>& gradients, const std::vector<double>& numbers) {
  graph::GradMode off(false);
  std::vector<Value> inputs;
  const size_t n = gradients.size();
  auto current = [&](const Tensor& t) { return collecting_cell(t, op, {})->current(); };
  for (size_t i = 0; i < n; ++i) inputs.push_back(current(cells[i]));
  for (const Tensor& g : gradients) inputs.push_back(Access::value(g, op));
  for (size_t i = n; i < cells.size(); ++i) inputs.push_back(current(cells[i]));
  const Device device = inputs[0].device();
  const DType dtype = inputs[0].dtype() == DType::F64 ? DType::F64 : DType::F32;
  for (double x : numbers) inputs.push_back(graph::varying(x, dtype, device));
  const Ref<graph::Node> node = graph::record(graph::op(op), std::move(inputs), std::move(attrs));
  for (size_t i = 0; i < cells.size(); ++i) Access::cell(cells[i])->assign(Value(node, int(i)));
}

void step_boundary() { graph::evaluate(graph::Recorder::current()); }

void reset_cell(const Tensor& cell, const Tensor& value) {
  collecting_cell(cell, "to", {})->reset(Access::value(value.detach(), "to"));
}

}  // namespace detail

// --- custom functions, anomalies -------------------------------------------------------------------------------------

Tensor custom_function(const std::vector<Tensor>& inputs, CustomForward forward, CustomBackward backward, Loc loc) {
  std::vector<Value> values;
  Tensor output;
  {
    NoGrad unseen;
    output = forward(inputs);
  }
  graph::LocScope line(loc);
  values.push_back(Access::value(output.detach(), "custom_function", loc));
  for (const Tensor& x : inputs) values.push_back(Access::value(x, "custom_function", loc));
  graph::CustomGradientAttrs attrs;
  attrs.gradient = [backward = std::move(backward), loc](const Value& dy, const std::vector<Value>& xs,
                                                         const Value& y) {
    std::vector<Tensor> tensors;
    for (const Value& x : xs) tensors.push_back(Access::wrap(x));
    const std::vector<Tensor> results = backward(Access::wrap(dy), tensors, Access::wrap(y));
    if (results.size() != xs.size())
      throw ValueError(
          "custom_function",
          fmt::format("expected one gradient for each of {} inputs, got {}; undefined tensors stand for none",
                      xs.size(), results.size()),
          loc);
    std::vector<Value> out;
    for (const Tensor& r : results) out.push_back(r.defined() ? Access::value(r, "custom_function", loc) : Value());
    return out;
  };
  return Access::wrap(graph::record1(graph::op("with_gradient"), std::move(values), std::move(attrs)));
}

DetectAnomaly::DetectAnomaly() : previous_(detail::anomaly_detection()) {
  eval();
  detail::set_anomaly_detection(true);
  graph::set_eager(true);
}

DetectAnomaly::~DetectAnomaly() {
  detail::set_anomaly_detection(previous_);
  graph::set_eager(previous_);
}

}  // namespace stoker
