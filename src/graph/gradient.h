// Reverse-mode differentiation: walks recipes from outputs to inputs, newest node first, and records gradient nodes.
// Nothing here recurses, and nothing is computed.
#pragma once

#include "graph/node.h"
#include "graph/op.h"

namespace stoker::graph {

struct SweepOptions {
  bool retain_graph = false;  // leave recipes usable
  bool create_graph = false;  // record recipes for the gradients too; implies retain_graph
};

// Adds the gradient of `output` (seeded with `gradient`) to every cell it was computed from, but for cells whose
// gradient was used up and not cleared since. A cell whose gradient of an earlier backward() still waits is let go
// first, so that micro-batches run while the next is recorded.
void backward(const Value& output, const Value& gradient, SweepOptions options, Loc loc);

// Gradients with respect to `inputs`, touching no cell; empty where there is no path. An input may be a cell's `read`
// node, which stands for every read of that cell.
std::vector<Value> gradients(std::span<const Value> outputs, std::span<const Value> output_gradients,
                             std::span<const Value> inputs, SweepOptions options, Loc loc);

// For rows of the table: the gradient of an operation through its composed form, with respect to its inputs alone.
std::vector<Value> gradient_of_composed(const GradContext& context);

}  // namespace stoker::graph
