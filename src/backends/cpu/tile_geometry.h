// The rows and columns of a fused program, brought to their simplest form.
#pragma once

#include "backends/cpu/tile_program.h"

namespace stoker::backends::cpu {

// Fills in the extents and arguments of `out`: extents of 1 are dropped, neighbours that every argument walks evenly
// are merged, and, where tiles are independent, so are rows and columns.
void set_geometry(TileProgram& out, const graph::Program& program, const graph::ProgramGeometry& geometry);

// Elements from the first row of a nest to row `row`.
int64_t offset_of_row(const Dims& extents, const Dims& strides, int64_t row);

}  // namespace stoker::backends::cpu
