// What optimizers are written on: updates of cells recorded as one node, and the step boundary.
#pragma once

#include "tensor/access.h"

namespace stoker::detail {

// Records one node of `op` whose inputs are cells[0..n), gradients[0..n), cells[n..), then the numbers (n =
// gradients.size()), and assigns output i to cells[i]. The cells must not require recording for autograd: no recipe is
// made.
void update_cells(std::string_view op, graph::Attrs attrs, const std::vector<Tensor>& cells,
                  const std::vector<Tensor>& gradients, const std::vector<double>& numbers);

// The gradient that step() is to use, undefined when the parameter has none. Without `keep` it counts as used up:
// reading grad() afterwards is an error until the next backward.
Tensor take_gradient(const Tensor& parameter, bool keep);
// Whether a parameter has a gradient that take_gradient would give.
bool has_gradient(const Tensor& parameter);
// Forgets the collected gradient: zero_grad().
void clear_gradient(const Tensor& parameter);

// The step boundary: starts everything this thread has recorded and still holds, at most two plans in flight per
// device.
void step_boundary();

// Replaces what a cell is (dtype, device or shape may change): moving and loading networks. All handles see it.
void reset_cell(const Tensor& cell, const Tensor& value);

}  // namespace stoker::detail
