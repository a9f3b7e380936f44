// Compiler room: turns the graph of a step into a plan. Passes rewrite modules, one idea each; fusion/ lowers groups of
// element-wise operations and row reductions to programs; plan.cpp lays out memory and asks the backend for kernels.
// Below it stand the runtime and the backends; it never looks at a device's kind.
#pragma once

#include "backends/backend.h"
#include "graph/module.h"

namespace stoker::compiler {

using graph::Module;
using graph::ModuleNode;
using graph::ValueId;

// Removes what computes nothing: aliases, casts and reshapes to the same, x*1, x/1, repeated work, values nobody uses.
Module simplify(const Module& module);

// Gives numbers of the host a tensor where an operation needs memory to look at.
Module materialize_numbers(const Module& module);

// Replaces operations that their device has no kernel for by their composed form. Unsupported, with the line, when
// there is none. `always`: also where there is a kernel.
Module compose(const Module& module, bool always = false);

// Bias, residual and activation into the matrix product or convolution before them; a convolution's bias gradient into
// its weight gradient; transposed products as products of transposes.
Module library_patterns(const Module& module);

// Copies strided views where an operation reads dense memory only, and views that somebody holds.
Module make_contiguous(const Module& module);

// Groups element-wise operations, broadcasts and row reductions into `fused` nodes of at most so many operations.
inline constexpr size_t kMaxFusedOperations = 96;
Module fuse(const Module& module, size_t max_members = kMaxFusedOperations);

// Decides where each cell's value is stored: over the old one by the step that computes it where no later step reads
// the old value, else by a copy at the end.
Module place_cells(const Module& module);

// --- what views look at ----------------------------------------------------------------------------------------------

// A value as memory: a look at a base value that is computed or comes from outside.
struct Look {
  ValueId base;
  graph::TensorDesc desc;
  struct Term {
    ValueId start;   // a scalar leaf
    int64_t stride;  // elements per unit
  };
  std::vector<Term> terms;
  bool whole(const Module& module) const;  // all of the base, in order
};

// The look of each output of each node; views that cannot be expressed as strides look at themselves.
std::vector<std::vector<Look>> looks(const Module& module);
// Whether the view at node `i` is only a look: else its input must be made contiguous first.
bool is_look(const Module& module, const Look& input, const ModuleNode& view);

bool is_number(const ModuleNode& node);
// A copy between devices: the runtime's, not a backend's.
inline bool is_transfer(const ModuleNode& node) { return node.is("transfer"); }
// Algorithmic floating-point operations of one node.
double flops_of(const Module& module, const ModuleNode& node);

}  // namespace stoker::compiler
