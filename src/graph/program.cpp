#include "graph/program.h"

#include <bit>

namespace stoker::graph {

bool Program::stores_last() const {
  for (size_t p = 0; p < phases.size(); ++p)
    for (const std::vector<int>* list : {&phases[p].row, &phases[p].column})
      for (int i : *list)
        if (code[size_t(i)].kind == ProgramInst::Kind::Store && p + 1 != phases.size()) return false;
  return true;
}

void Program::write_key(KeyWriter& key) const {
  key.add(uint64_t(args.size()));
  for (const ProgramArg& a : args) key.add(uint64_t(a.dtype) << 16 | uint64_t(a.access) << 8 | uint64_t(a.output));
  key.add(uint64_t(code.size()));
  for (const ProgramInst& i : code) {
    key.add(uint64_t(i.kind) << 32 | uint64_t(i.expr.prim) << 16 | uint64_t(i.expr.lane) << 8);
    key.add(uint64_t(uint32_t(i.expr.a)) << 32 | uint32_t(i.expr.b));
    key.add(uint64_t(uint32_t(i.expr.c)) << 32 | uint32_t(i.arg));
    key.add(i.expr.imm);
  }
  for (Lane lane : row_buffers) key.add(uint64_t(lane));
  key.add(uint64_t(phases.size()));
  for (const ProgramPhase& p : phases) {
    key.add(p.row);
    key.add(p.column);
    for (const ProgramReduction& r : p.reductions)
      key.add(uint64_t(uint32_t(r.value)) << 40 | uint64_t(uint32_t(r.result)) << 8 | uint64_t(r.kind));
  }
}

namespace {

std::string print_inst(const Program& program, int id) {
  const ProgramInst& inst = program.code[size_t(id)];
  const ExprInst& e = inst.expr;
  using Kind = ProgramInst::Kind;
  switch (inst.kind) {
    case Kind::Load:
      return fmt::format("%{} = load.{} arg{}", id, name_of(e.lane), inst.arg);
    case Kind::Store:
      return fmt::format("store arg{}, %{}", inst.arg, e.a);
    case Kind::Keep:
      return fmt::format("keep row{}, %{}", inst.arg, e.a);
    case Kind::Recall:
      return fmt::format("%{} = recall.{} row{}", id, name_of(e.lane), inst.arg);
    case Kind::Result:
      return fmt::format("%{} = result.{}", id, name_of(e.lane));
    case Kind::Compute:
      break;
  }
  if (e.prim == Prim::Const) {
    const bool floating = e.lane == Lane::F32 || e.lane == Lane::F64;
    return floating ? fmt::format("%{} = const.{} {}", id, name_of(e.lane), std::bit_cast<double>(e.imm))
                    : fmt::format("%{} = const.{} {}", id, name_of(e.lane), int64_t(e.imm));
  }
  std::string s = fmt::format("%{} = {}.{}", id, name_of(e.prim), name_of(e.lane));
  for (int operand : {e.a, e.b, e.c})
    if (operand >= 0) s += fmt::format(" %{}", operand);
  return s;
}

}  // namespace

std::string Program::print() const {
  constexpr std::string_view kReduceNames[] = {"none", "sum", "prod", "max", "min"};
  std::string s;
  for (size_t p = 0; p < phases.size(); ++p) {
    s += fmt::format("phase {}\n", p);
    for (int i : phases[p].row) s += "  row    " + print_inst(*this, i) + "\n";
    for (int i : phases[p].column) s += "  column " + print_inst(*this, i) + "\n";
    for (const ProgramReduction& r : phases[p].reductions)
      s += fmt::format("  reduce %{} = {} %{}\n", r.result, kReduceNames[size_t(r.kind)], r.value);
  }
  return s;
}

FusedAttrs copy_program(const TensorType& type) {
  using Kind = ProgramInst::Kind;
  const Lane lane = lane_of(type.dtype);
  Program program;
  program.args = {{type.dtype, ProgramArg::Access::Element, false}, {type.dtype, ProgramArg::Access::Element, true}};
  program.code = {{Kind::Load, {Prim::Arg, lane, -1, -1, -1, 0}, 0}, {Kind::Store, {Prim::Arg, lane, 0, -1, -1, 0}, 1}};
  program.phases = {{{}, {0, 1}, {}}};
  FusedAttrs attrs;
  attrs.program = std::make_shared<const Program>(std::move(program));
  attrs.geometry = {{}, type.elements(), {{{}, 1}, {{}, 1}}};
  attrs.types = {type};
  attrs.label = "copy";
  return attrs;
}

bool may_overlap(const FusedAttrs& fused, int input, int output) {
  int in = -1, out = -1, inputs = 0, outputs = 0;
  const std::vector<ProgramArg>& args = fused.program->args;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].output && outputs++ == output) out = int(i);
    if (!args[i].output && inputs++ == input) in = int(i);
  }
  const auto &a = fused.geometry.args[size_t(in)], &b = fused.geometry.args[size_t(out)];
  return args[size_t(in)].access == args[size_t(out)].access &&
         size_of(args[size_t(in)].dtype) == size_of(args[size_t(out)].dtype) && a.row == b.row &&
         a.column == b.column && fused.program->stores_last();
}

void ProgramGeometry::write_key(KeyWriter& key) const {
  key.add(rows);
  key.add(columns);
  key.add(args);
}

std::string ProgramGeometry::print() const { return fmt::format("{}x{}", to_string(rows), columns); }

}  // namespace stoker::graph
