// The last step of compiling: memory, segments and kernels.
#pragma once

#include "compiler/passes.h"
#include "runtime/plan.h"

namespace stoker::compiler {

std::shared_ptr<runtime::Plan> make_plan(const Module& module);

}  // namespace stoker::compiler
