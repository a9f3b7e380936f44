// Kernels that want their operands in another form than they come: dense where they are strided, f32 where they are
// halves. The inner kernel is lowered for the forms it wants; the interpreter converts around it.
#pragma once

#include "backends/cpu/kernels.h"

namespace stoker::backends::cpu {

using LowerFunction = std::function<std::unique_ptr<Kernel>(const StepRequest&)>;

// Lowers `wanted`, which differs from `request` in types and strides of inputs (dense where they differ) and in types
// of outputs alone.
std::unique_ptr<Kernel> lower_staged(const StepRequest& request, const StepRequest& wanted, const LowerFunction& lower);

// The request with halves, of inputs and outputs, as f32; inputs that are not scalars become dense where they change.
StepRequest widened(const StepRequest& request);

// Lowers a request by a function for f32 and f64, staging halves.
std::unique_ptr<Kernel> lower_widened(const StepRequest& request, const LowerFunction& lower);

}  // namespace stoker::backends::cpu
