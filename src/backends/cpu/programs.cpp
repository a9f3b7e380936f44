#include "backends/cpu/programs.h"

namespace stoker::backends::cpu {
namespace {

using graph::Lane;
using graph::Prim;
using graph::Program;
using graph::ProgramArg;
using graph::ProgramInst;
using Kind = graph::ProgramInst::Kind;

// Appends an instruction; says its number.
int add(Program& p, std::vector<int>& list, ProgramInst inst) {
  p.code.push_back(inst);
  list.push_back(int(p.code.size()) - 1);
  return list.back();
}

// Argument 0 in `lane`.
int load_as(Program& p, Lane lane) {
  std::vector<int>& list = p.phases.back().column;
  return add(p, list, {Kind::Load, {.prim = Prim::Arg, .lane = lane}, 0});
}

}  // namespace

Program copy_program(DType from, DType to) {
  Program p;
  p.args = {{from, ProgramArg::Access::Element, false}, {to, ProgramArg::Access::Element, true}};
  p.phases.emplace_back();
  const int value = load_as(p, graph::lane_of(to));
  add(p, p.phases.back().column, {Kind::Store, {.prim = Prim::Arg, .lane = graph::lane_of(to), .a = value}, 1});
  return p;
}

graph::ProgramGeometry copy_geometry(const graph::TensorDesc& from) {
  graph::ProgramGeometry g;
  g.rows = from.shape;
  Dims rows = from.strides, dense = contiguous_strides(from.shape);
  int64_t column = 0;
  if (!g.rows.empty()) {
    const int last = g.rows.rank() - 1;
    g.columns = g.rows.back();
    column = rows.back();
    g.rows.erase(last), rows.erase(last), dense.erase(last);
  }
  g.args = {{rows, column}, {dense, 1}};
  return g;
}

Program reduce_program(graph::ReduceKind kind, DType from, DType to) {
  const Lane lane = graph::lane_of(to);
  Program p;
  p.args = {{from, ProgramArg::Access::Element, false}, {to, ProgramArg::Access::Row, true}};
  p.phases.emplace_back();
  const int value = load_as(p, lane);
  p.phases.emplace_back();
  const int result = add(p, p.phases[1].row, {Kind::Result, {.prim = Prim::Arg, .lane = lane}, -1});
  p.phases[0].reductions.push_back({value, result, kind});
  add(p, p.phases[1].row, {Kind::Store, {.prim = Prim::Arg, .lane = lane, .a = result}, 1});
  return p;
}

}  // namespace stoker::backends::cpu
