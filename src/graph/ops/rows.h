// What the families of the operation table share: registration, and short ways to say common rules.
// Each family is one file with one function; register.cpp calls them all.
#pragma once

#include "graph/build.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/ops/attributes.h"

namespace stoker::graph {

void register_leaves();
void register_elementwise();
void register_activations();
void register_compare();
void register_reductions();
void register_scans();
void register_views();
void register_indexing();
void register_joins();
void register_matmul();
void register_convolution();
void register_pooling();
void register_norms();
void register_softmax();
void register_random();
void register_optimizers();
void register_special();

namespace rows {

using Grad = const GradContext&;

// Which dtypes a row takes.
enum class Takes { Any, Floating, Numbers, Bits };
// DTypeError unless all inputs from `first` on have one dtype of that class.
void expect(const InferContext& c, Takes takes, int first = 0);
// ShapeError unless input `i` has that many axes.
void expect_rank(const InferContext& c, int i, int rank, std::string_view layout);

// The type rule of an operation that keeps its only input's type.
std::vector<TensorType> same_type(const InferContext& c);
// Zero, for rows that move data without computing.
double no_flops(std::span<const TensorType>, std::span<const TensorType>, const Attrs&);
// `per_element` for each element of input 0.
FlopsFn flops_per_input(double per_element);

}  // namespace rows
}  // namespace stoker::graph
