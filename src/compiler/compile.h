// The compiler's front: from the module of a record to a plan.
#pragma once

#include "graph/module.h"
#include "runtime/plan.h"

namespace stoker::compiler {

// Runs every pass, with the verifier after each in debug builds and under STOKER_VERIFY=1; STOKER_DUMP=<pass> prints
// the module after that pass to stderr, STOKER_DUMP=all after every pass, STOKER_DUMP=plan the finished steps.
std::shared_ptr<runtime::Plan> compile(const graph::Module& module);

// The names of the passes, in order.
std::vector<std::string> pass_names();

// One line a step: kernel, operands, bytes, place in memory.
std::string print(const runtime::Plan& plan);

}  // namespace stoker::compiler
