// Small programs that kernels hand to the interpreter themselves.
#pragma once

#include "graph/program.h"

namespace stoker::backends::cpu {

// x -> y, converted between lanes. One phase, arguments x and y.
graph::Program copy_program(DType from, DType to);
// Its geometry for a tensor of any strides and a dense result.
graph::ProgramGeometry copy_geometry(const graph::TensorDesc& from);
// A row of x -> one element of y, computed in y's lane.
graph::Program reduce_program(graph::ReduceKind kind, DType from, DType to);

}  // namespace stoker::backends::cpu
