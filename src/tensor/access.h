// Tensor room: handles to values and cells, the public functions on them, autograd's surface, and evaluation.
// Above it stand nn, optim, data; below it the compiler and the graph. Only this room turns Tensors into graph Values.
#pragma once

#include <stoker/ops.h>
#include <stoker/tensor.h>

#include "graph/node.h"
#include "graph/op.h"
#include "graph/recorder.h"

namespace stoker::detail {

struct TensorImpl {
  graph::Held value;      // of a value; empty for a cell
  Ref<graph::Cell> cell;  // of a cell
};

struct Access {
  // The Value that an operation reads: of a cell that requires a gradient, its `read` node. Throws ValueError for an
  // undefined tensor, naming `operation`.
  static graph::Value value(const Tensor& tensor, std::string_view operation = "tensor", Loc loc = {});
  static Tensor wrap(graph::Value value);
  static Tensor wrap(Ref<graph::Cell> cell);
  static const graph::TensorType& type(const Tensor& tensor);
  // Makes a value a cell, for every copy of the handle.
  static void become_cell(const Tensor& tensor, bool requires_grad);
  // nullptr for a value.
  static Ref<graph::Cell> cell(const Tensor& tensor);
};

}  // namespace stoker::detail
