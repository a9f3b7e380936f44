#include "backends/cpu/tile_ops.h"

namespace stoker::backends::cpu {

TileFunction find_compute(const graph::ExprInst& inst, graph::Lane from) {
  if (TileFunction vector = find_vector_compute(inst, from)) return vector;
  return find_scalar_compute(inst, from);
}

bool is_lane_type(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F64 || dtype == DType::I32 || dtype == DType::I64;
}

}  // namespace stoker::backends::cpu
