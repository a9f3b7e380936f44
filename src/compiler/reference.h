// The second opinion of STOKER_CHECK=1: the same step in double precision, operation by operation, composed and
// unfused.
#pragma once

#include "graph/module.h"
#include "runtime/plan.h"

namespace stoker::compiler {

// A plan without cells whose outputs are the module's outputs and then its cells' values; floating ones are f64.
std::shared_ptr<runtime::Plan> compile_reference(const graph::Module& module);

}  // namespace stoker::compiler
