// exp, log, sin, ... of 32-bit floats as expressions of simpler primitives.
#pragma once

#include "graph/expr.h"

namespace stoker::compiler {

// Prims from Exp on.
bool is_function(graph::Prim prim);
// The expansion in F32; b is read by Pow alone.
graph::Ex expand_function(graph::Prim prim, graph::Ex a, graph::Ex b);

}  // namespace stoker::compiler
