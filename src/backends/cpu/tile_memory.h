// Where the values of a tile program lie in a thread's frame.
#pragma once

#include "backends/cpu/tile_program.h"

namespace stoker::backends::cpu {

// Gives every place its offset; tiles that are no longer needed make room for others. `fixed`: by place, what keeps its
// value for the whole run; `buffers`: the lanes of the row buffers.
void assign_memory(TileProgram& program, const std::vector<bool>& fixed, const std::vector<graph::Lane>& buffers);

}  // namespace stoker::backends::cpu
