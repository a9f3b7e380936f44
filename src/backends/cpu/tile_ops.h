// What one instruction of a fused program does to a tile of elements. The functions are looked up once, when a program
// is lowered, for the widest vectors that the processor has; results are the same bits for every width.
#pragma once

#include <cstdint>

#include "graph/expr.h"
#include "graph/op.h"
#include "graph/program.h"

namespace stoker::backends::cpu {

// Elements of a tile: with 32-bit lanes a dozen tiles fit into the first-level cache.
inline constexpr int64_t kTile = 512;
// A value that is the same for every element of a tile is kept replicated over this many bytes, a vector at most.
inline constexpr int64_t kBlockBytes = 64;

struct TileCall {
  void* out;
  const void* in[3];
  int64_t step[3];  // 1: an element for each of out's; 0: a replicated value
  int64_t count;
};
using TileFunction = void (*)(const TileCall& call);

// What computes `inst`; `from` is the lane that a Cast reads. nullptr where there is no such instruction.
TileFunction find_compute(const graph::ExprInst& inst, graph::Lane from);

// Moves elements between memory and lanes. Strides in elements, of out's and in's own types.
using MoveFunction = void (*)(void* out, int64_t out_stride, const void* in, int64_t in_stride, int64_t count);
// From memory of `dtype` into lane_of(dtype), and back (wrapping, rounding to nearest even).
MoveFunction find_load(DType dtype);
MoveFunction find_store(DType dtype);
// Whether memory of `dtype` is already what its lane holds.
bool is_lane_type(DType dtype);

inline int64_t width_of(graph::Lane lane) { return lane == graph::Lane::F64 || lane == graph::Lane::I64 ? 8 : 4; }

// Reductions in the order of graph/program.h. Lanes are kReduceLanes accumulators, which start as the identity.
struct ReduceFunctions {
  void (*start)(void* lanes, int64_t count);
  // Element i goes to lane i % kReduceLanes.
  void (*accumulate)(void* lanes, const void* values, int64_t count);
  // Halves the lanes down to one and stores it.
  void (*finish)(void* result, void* lanes);
  // *total = *total (+) *value.
  void (*combine)(void* total, const void* value);
  // Each of `rows` runs of `columns` elements, at most a block of them, to one.
  void (*rows)(void* results, const void* values, int64_t rows, int64_t columns);
};
ReduceFunctions find_reduce(graph::ReduceKind kind, graph::Lane lane);

// The parts that tile_ops.cpp chooses from.
TileFunction find_vector_compute(const graph::ExprInst& inst, graph::Lane from);  // 32-bit lanes, Highway
TileFunction find_scalar_compute(const graph::ExprInst& inst, graph::Lane from);  // the rest, plain loops

}  // namespace stoker::backends::cpu
