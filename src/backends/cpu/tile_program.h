// A fused program made ready for one geometry: what the interpreter runs tile by tile.
//
// A tile is kTile elements of one row, or, where rows are short, several whole rows (then every phase of those rows
// runs before the next tile, and kept values stay where they are). Values come in three shapes: the same everywhere,
// one per row, one per element. The first are computed once per thread, the second once per row, the third once per
// tile.
#pragma once

#include <vector>

#include "backends/cpu/tile_ops.h"
#include "graph/program.h"

namespace stoker::backends::cpu {

// Where a value lies while its tile is computed.
struct Place {
  enum class Where : uint8_t {
    Block,     // replicated over kBlockBytes
    Rows,      // an element for each row of the tile
    Tile,      // an element for each of the tile
    Argument,  // in the argument's own memory: nothing is copied
    Buffer,    // in a row buffer, at the tile's columns
  };
  Where where = Where::Block;
  int64_t width = 4;   // bytes of an element
  int64_t offset = 0;  // Block, Rows, Tile: bytes from the frame's start
  int index = -1;      // Argument, Buffer: which
  int64_t step() const { return where == Where::Block ? 0 : 1; }
};

struct TileStep {
  enum class Kind : uint8_t { Compute, Load, Store, Expand };
  Kind kind = Kind::Compute;
  Place::Where extent = Place::Where::Tile;  // of what is computed or stored: Block, Rows or Tile
  TileFunction compute = nullptr;
  MoveFunction move = nullptr;
  int out = -1;  // places
  int in[3] = {-1, -1, -1};
  int arg = -1;
};

struct TileReduction {
  int value, result;  // places
  ReduceFunctions functions;
};

struct TilePhase {
  std::vector<TileStep> row;
  std::vector<TileStep> row_stores;
  std::vector<TileStep> column;
  std::vector<TileReduction> reductions;
  std::vector<TileStep> stores;  // last, so that an output may lie over an input of the same strides and element size
};

struct TileArgument {
  DType dtype = DType::F32;
  graph::ProgramArg::Access access = graph::ProgramArg::Access::Element;
  bool output = false;
  int number = 0;  // among the inputs, or among the outputs
  Dims row_strides;
  int64_t column_stride = 0;
  // Whether row i lies i * row_stride from the first.
  bool linear = true;
  int64_t row_stride = 0;
  // Whether a tile's elements lie column_stride apart, across its rows too.
  bool even = true;
};

struct TileProgram {
  Dims row_extents;
  int64_t rows = 1, columns = 1;
  bool whole_rows = false;  // a tile is rows_per_tile rows
  int64_t rows_per_tile = 1;
  bool independent = false;  // one phase without reductions: tiles know nothing of each other
  std::vector<TileArgument> args;

  std::vector<Place> places;
  std::vector<TileStep> once;
  std::vector<TilePhase> phases;
  struct Literal {
    int place;
    graph::Lane lane;
    uint64_t bits;  // as Operand::bits
    int arg;        // or the scalar argument that brings them, -1 otherwise
  };
  std::vector<Literal> literals;

  // A frame holds the values, the accumulators of a phase's reductions, and the row buffers.
  int64_t lane_offset = 0;
  std::vector<int64_t> buffer_offsets;
  int64_t frame_bytes = 0;
  int reductions = 0;            // at most in one phase
  int64_t work_per_element = 1;  // steps, for dividing the work
};

// Throws Unsupported for an instruction that the CPU does not have, std::logic_error for a malformed program.
TileProgram lower_program(const graph::Program& program, const graph::ProgramGeometry& geometry);

}  // namespace stoker::backends::cpu
