#include "backends/cpu/tile_geometry.h"

#include <algorithm>
#include <stdexcept>

namespace stoker::backends::cpu {
namespace {

using Access = graph::ProgramArg::Access;

void copy_arguments(TileProgram& out, const graph::Program& program, const graph::ProgramGeometry& geometry) {
  if (geometry.args.size() != program.args.size())
    throw std::logic_error("fused program: expected strides for each argument");
  int inputs = 0, outputs = 0;
  for (size_t i = 0; i < program.args.size(); ++i) {
    const graph::ProgramArg& arg = program.args[i];
    TileArgument a;
    a.dtype = arg.dtype;
    a.access = arg.access;
    a.output = arg.output;
    a.number = arg.output ? outputs++ : inputs++;
    const bool memory = arg.access != Access::Scalar;
    if (memory && geometry.args[i].row.rank() != geometry.rows.rank())
      throw std::logic_error("fused program: expected a row stride for each row extent");
    a.row_strides = memory ? geometry.args[i].row : Dims::filled(geometry.rows.rank(), 0);
    a.column_stride = arg.access == Access::Element ? geometry.args[i].column : 0;
    out.args.push_back(a);
  }
}

void drop_row_axis(TileProgram& out, int axis) {
  out.row_extents.erase(axis);
  for (TileArgument& a : out.args) a.row_strides.erase(axis);
}

void merge_rows(TileProgram& out) {
  for (int k = out.row_extents.rank() - 1; k >= 0; --k)
    if (out.row_extents[k] == 1) drop_row_axis(out, k);
  for (int k = out.row_extents.rank() - 2; k >= 0; --k) {
    const int64_t inner = out.row_extents[k + 1];
    const bool even = std::all_of(out.args.begin(), out.args.end(), [&](const TileArgument& a) {
      return a.row_strides[k] == a.row_strides[k + 1] * inner;
    });
    if (!even) continue;
    out.row_extents[k] *= inner;
    for (TileArgument& a : out.args) a.row_strides[k] = a.row_strides[k + 1];
    drop_row_axis(out, k + 1);
  }
}

void merge_rows_into_columns(TileProgram& out) {
  if (out.columns == 1)  // then an element of the row is the row
    for (TileArgument& a : out.args)
      if (a.access == Access::Row) a.access = Access::Element;
  while (!out.row_extents.empty()) {
    const int last = out.row_extents.rank() - 1;
    const bool even = std::all_of(out.args.begin(), out.args.end(), [&](const TileArgument& a) {
      if (a.access == Access::Element && out.columns == 1) return true;
      return a.row_strides[last] == a.column_stride * out.columns;
    });
    if (!even) return;
    for (TileArgument& a : out.args)
      if (a.access == Access::Element && out.columns == 1) a.column_stride = a.row_strides[last];
    out.columns *= out.row_extents[last];
    drop_row_axis(out, last);
  }
}

void describe(TileArgument& a, const TileProgram& p) {
  const int rank = p.row_extents.rank();
  for (int k = 0; k + 1 < rank; ++k)
    if (a.row_strides[k] != a.row_strides[k + 1] * p.row_extents[k + 1]) a.linear = false;
  if (a.linear && rank > 0) a.row_stride = a.row_strides.back();
  a.even = p.rows_per_tile == 1 || (a.linear && a.row_stride == a.column_stride * p.columns);
}

}  // namespace

int64_t offset_of_row(const Dims& extents, const Dims& strides, int64_t row) {
  int64_t offset = 0;
  for (int k = extents.rank() - 1; k >= 0; --k) {
    offset += (k == 0 ? row : row % extents[k]) * strides[k];
    row /= extents[k];
  }
  return offset;
}

void set_geometry(TileProgram& out, const graph::Program& program, const graph::ProgramGeometry& geometry) {
  out.row_extents = geometry.rows;
  out.columns = geometry.columns;
  out.independent = program.phases.size() == 1 && program.phases[0].reductions.empty();
  copy_arguments(out, program, geometry);
  merge_rows(out);
  if (out.independent) merge_rows_into_columns(out);
  out.rows = numel(out.row_extents);
  out.whole_rows = out.columns <= kTile;
  if (out.whole_rows) out.rows_per_tile = std::clamp<int64_t>(out.rows, 1, kTile / std::max<int64_t>(out.columns, 1));
  for (TileArgument& a : out.args) describe(a, out);
}

}  // namespace stoker::backends::cpu
