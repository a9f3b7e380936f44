// From a group to a program: one expression for all members, then phases, then instructions.
#include <algorithm>
#include <bit>
#include <map>

#include "compiler/fusion/functions.h"
#include "compiler/fusion/group.h"
#include "graph/ops/attributes.h"

namespace stoker::compiler {
namespace {

using namespace graph;
using Kind = ProgramInst::Kind;
using Access = ProgramArg::Access;

// Column values of at most this many instructions above their loads are computed again in a later phase rather than
// kept.
constexpr int kCheap = 4;
// Marks Arg instructions that stand for the result of a reduction.
constexpr uint64_t kResultBit = uint64_t(1) << 32;

// --- the group as one expression -------------------------------------------------------------------------------------

struct Operand {
  ValueId value;  // what is read or written
  ProgramArg arg;
  Dims strides;  // one per axis of the space, in elements
};
struct Reduced {
  int value;  // expression that is reduced
  ReduceKind kind;
};

class Body {
 public:
  Body(const Module& module, const std::vector<std::vector<Look>>& looks, const Group& group)
      : module(module), looks_(looks), group(group) {
    for (int m : group.members) emit_member(m);
    for (ValueId v : group.outputs) {
      const TensorType& type = module.type(v);
      operands.push_back({v,
                          {type.dtype, group.space.full(type.shape) ? Access::Element : Access::Row, true},
                          output_strides(type.shape)});
      stores.push_back({values_.at(v.node), int(operands.size()) - 1});
    }
  }

  struct Store {
    int value, operand;
  };
  const Module& module;
  const std::vector<std::vector<Look>>& looks_;
  const Group& group;
  ExprBuilder code;
  std::vector<Operand> operands;
  std::vector<Reduced> reductions;
  std::vector<Store> stores;
  std::string label;

 private:
  void emit_member(int m) {
    const ModuleNode& node = module.nodes[size_t(m)];
    label += (label.empty() ? "" : "+") + node.op->name;
    std::vector<Ex> in;
    for (ValueId v : node.inputs) in.push_back(read(v, node));
    Ex result;
    if (node.op->kind == OpClass::Reduction) {
      const Ex x = cast(in[0], lane_of(node.types[0].dtype));
      reductions.push_back({x.id(), node.op->reduce});
      result = {&code, code.emit({Prim::Arg, x.lane(), -1, -1, -1, kResultBit | (reductions.size() - 1)})};
    } else {
      result = expand(node.op->expr(in, node.attrs), node.types[0].dtype);
    }
    values_[m] = result.id();
  }

  Ex read(ValueId v, const ModuleNode& reader) {
    const ModuleNode& node = module.node(v);
    if (node.is("constant")) return constant(node);
    const ValueId source = operand_source(module, group.space, v);
    if (auto it = values_.find(source.node); it != values_.end() && source.output == 0) return {&code, it->second};
    Operand operand = is_number(node) ? scalar(v) : memory(v, reader);
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i].value == operand.value && operands[i].strides == operand.strides) return load(int(i));
    operands.push_back(operand);
    return load(int(operands.size()) - 1);
  }
  Ex load(int operand) {
    return {&code, code.emit({Prim::Arg, lane_of(operands[size_t(operand)].arg.dtype), -1, -1, -1, uint64_t(operand)})};
  }
  Ex constant(const ModuleNode& node) {
    const Lane lane = lane_of(node.types[0].dtype);
    const double value = node.attrs.get<ConstantAttrs>().value;
    const bool floating = lane == Lane::F32 || lane == Lane::F64;
    return {&code, code.emit({Prim::Const, lane, -1, -1, -1,
                              floating ? std::bit_cast<uint64_t>(value) : uint64_t(int64_t(value))})};
  }
  Operand scalar(ValueId v) const {
    return {v, {module.type(v).dtype, Access::Scalar, false}, Dims::filled(group.space.rank(), 0)};
  }

  // Where the axes of an input lie in the space: aligned at the end, or, for a row value without column axes, at the
  // start.
  Operand memory(ValueId v, const ModuleNode& reader) const {
    const Space& space = group.space;
    const TensorDesc& desc = looks_[size_t(v.node)][size_t(v.output)].desc;
    const Shape& out = reader.op->kind == OpClass::Reduction ? space.shape : reader.types[0].shape;
    const bool dropped = space.columns > 0 && !space.full(out) && out.rank() == space.rows_rank();
    const int last = dropped ? space.rows_rank() : space.rank();
    Dims strides = Dims::filled(space.rank(), 0);
    for (int i = 0; i < desc.shape.rank(); ++i)
      if (desc.shape[i] != 1) strides[last - desc.shape.rank() + i] = desc.strides[i];
    bool per_row = space.columns > 0;
    for (int i = space.rows_rank(); i < space.rank(); ++i) per_row &= strides[i] == 0;
    return {v, {desc.dtype, per_row ? Access::Row : Access::Element, false}, strides};
  }

  Dims output_strides(const Shape& shape) const {
    const Space& space = group.space;
    Dims strides = contiguous_strides(space.full(shape) ? space.shape : space.dropped());
    while (strides.rank() < space.rank()) strides.push_back(0);
    return strides;
  }

  // Functions of f32 become primitives; results of narrow integers wrap to their width.
  Ex expand(Ex result, DType dtype) {
    // Instructions precede their users, so one walk over what is new is enough.
    while (expanded_.size() <= size_t(result.id())) {
      const int i = int(expanded_.size());
      ExprInst e = code[i];
      for (int* operand : {&e.a, &e.b, &e.c})
        if (*operand >= 0) *operand = expanded_[size_t(*operand)];
      const bool function = is_function(e.prim) && e.lane == Lane::F32;
      expanded_.push_back(function ? expand_function(e.prim, {&code, e.a}, {&code, e.b}).id() : code.emit(e));
    }
    const Ex out{&code, expanded_[size_t(result.id())]};
    const bool narrow = dtype == DType::U8 || dtype == DType::I8 || dtype == DType::I16;
    return narrow ? Ex{&code, code.emit({Prim::Narrow, out.lane(), out.id(), -1, -1, uint64_t(dtype)})} : out;
  }

  std::map<int, int> values_;  // member -> expression
  std::vector<int> expanded_;  // instruction -> the same without functions
};

// --- geometry --------------------------------------------------------------------------------------------------------

// Merges axes [first, last) of the space wherever every operand's strides allow it.
struct Axes {
  Dims extents;
  std::vector<Dims> strides;  // per operand
};
Axes collapse(const Body& body, int first, int last) {
  Axes axes;
  axes.strides.resize(body.operands.size());
  for (int i = first; i < last; ++i) {
    const int64_t extent = body.group.space.shape[i];
    if (extent == 1) continue;
    bool merge = !axes.extents.empty();
    for (size_t o = 0; o < body.operands.size() && merge; ++o)
      merge = axes.strides[o].back() == body.operands[o].strides[i] * extent;
    if (merge) {
      const int back = axes.extents.rank() - 1;
      axes.extents[back] *= extent;
      for (size_t o = 0; o < body.operands.size(); ++o) axes.strides[o][back] = body.operands[o].strides[i];
    } else {
      axes.extents.push_back(extent);
      for (size_t o = 0; o < body.operands.size(); ++o) axes.strides[o].push_back(body.operands[o].strides[i]);
    }
  }
  return axes;
}

std::optional<ProgramGeometry> geometry_of(const Body& body) {
  const Space& space = body.group.space;
  Axes rows = collapse(body, 0, space.columns > 0 ? space.rows_rank() : space.rank());
  Axes columns = collapse(body, space.columns > 0 ? space.rows_rank() : space.rank(), space.rank());
  if (columns.extents.rank() > 1) return {};
  if (space.columns == 0 && !rows.extents.empty()) {
    // Without reductions any axis may be the columns: the innermost.
    const int back = rows.extents.rank() - 1;
    columns.extents.push_back(rows.extents[back]);
    for (size_t o = 0; o < body.operands.size(); ++o) {
      columns.strides[o].push_back(rows.strides[o][back]);
      rows.strides[o].erase(back);
    }
    rows.extents.erase(back);
  }
  ProgramGeometry geometry;
  geometry.rows = rows.extents;
  geometry.columns = columns.extents.empty() ? 1 : columns.extents[0];
  for (size_t o = 0; o < body.operands.size(); ++o)
    geometry.args.push_back({rows.strides[o], columns.extents.empty() ? 0 : columns.strides[o][0]});
  return geometry;
}

// --- phases ----------------------------------------------------------------------------------------------------------

class Phases {
 public:
  explicit Phases(const Body& body) : body_(body), analysed_(body.code.code().size()) {
    for (size_t i = 0; i < analysed_.size(); ++i) analyse(int(i));
  }

  Program build() {
    for (const Operand& o : body_.operands) program_.args.push_back(o.arg);
    for (const Body::Store& s : body_.stores) need_store(s);
    return std::move(program_);
  }

 private:
  struct Fact {
    bool row = true;
    int phase = 0;
    int cost = 0;  // column instructions above the loads
  };

  void analyse(int i) {
    const ExprInst& e = body_.code[i];
    Fact& fact = analysed_[size_t(i)];
    if (e.prim == Prim::Const) return;
    if (e.prim == Prim::Arg) {
      if (e.imm & kResultBit)
        fact.phase = analysed_[size_t(body_.reductions[size_t(e.imm & ~kResultBit)].value)].phase + 1;
      else
        fact.row = body_.operands[size_t(e.imm)].arg.access != Access::Element;
      return;
    }
    for (int operand : {e.a, e.b, e.c}) {
      if (operand < 0) continue;
      const Fact& f = analysed_[size_t(operand)];
      fact.row &= f.row;
      fact.phase = std::max(fact.phase, f.phase);
      if (!f.row) fact.cost += f.cost;
    }
    fact.cost += e.prim >= Prim::Exp ? 20 : 1;
  }

  ProgramPhase& phase(int p) {
    while (int(program_.phases.size()) <= p) program_.phases.emplace_back();
    return program_.phases[size_t(p)];
  }
  int push(ProgramInst inst) {
    program_.code.push_back(inst);
    return int(program_.code.size()) - 1;
  }

  // The instruction that gives value i inside of phase p.
  int need(int i, int p) {
    const Fact& fact = analysed_[size_t(i)];
    const ExprInst& e = body_.code[i];
    if (fact.row) return need_row(i);
    auto [it, fresh] = columns_.try_emplace({i, p}, -1);
    if (!fresh) return it->second;
    int id;
    if (fact.phase < p && fact.cost > kCheap)
      id = recall(i);
    else if (e.prim == Prim::Arg)
      id = push({Kind::Load, e, int(e.imm)});
    else
      id = push(with_operands(e, p));
    phase(p).column.push_back(id);
    return columns_[{i, p}] = id;
  }
  ProgramInst with_operands(ExprInst e, int p) {
    for (int* operand : {&e.a, &e.b, &e.c})
      if (*operand >= 0) *operand = need(*operand, p);
    return {Kind::Compute, e, -1};
  }

  int need_row(int i) {
    if (auto it = rows_.find(i); it != rows_.end()) return it->second;
    const ExprInst& e = body_.code[i];
    const int p = analysed_[size_t(i)].phase;
    int id;
    if (e.prim == Prim::Arg && (e.imm & kResultBit)) {
      id = need_result(size_t(e.imm & ~kResultBit));
    } else {
      if (e.prim == Prim::Arg) {
        id = push({Kind::Load, e, int(e.imm)});
      } else {
        ExprInst inst = e;
        for (int* operand : {&inst.a, &inst.b, &inst.c})
          if (*operand >= 0) *operand = need_row(*operand);
        id = push({Kind::Compute, inst, -1});
      }
      phase(p).row.push_back(id);
    }
    rows_[i] = id;
    return id;
  }

  int need_result(size_t r) {
    const Reduced& reduction = body_.reductions[r];
    const int p = analysed_[size_t(reduction.value)].phase;
    const int value = need(reduction.value, p);
    const Lane lane = body_.code[reduction.value].result();
    const int id = push({Kind::Result, {Prim::Arg, lane, -1, -1, -1, 0}, -1});
    phase(p).reductions.push_back({value, id, reduction.kind});
    return id;
  }

  // Keeps a column value of an earlier phase in a row buffer.
  int recall(int i) {
    const Lane lane = body_.code[i].result();
    auto [it, fresh] = kept_.try_emplace(i, int(program_.row_buffers.size()));
    const int buffer = it->second;
    if (fresh) {
      program_.row_buffers.push_back(lane);
      const int earlier = analysed_[size_t(i)].phase;
      const int value = need(i, earlier);
      phase(earlier).column.push_back(push({Kind::Keep, {Prim::Arg, lane, value, -1, -1, 0}, buffer}));
    }
    return push({Kind::Recall, {Prim::Arg, lane, -1, -1, -1, 0}, buffer});
  }

  void need_store(const Body::Store& s) {
    const Fact& fact = analysed_[size_t(s.value)];
    const bool per_row = body_.operands[size_t(s.operand)].arg.access == Access::Row;
    const int value = need(s.value, fact.phase);
    const int id = push({Kind::Store, {Prim::Arg, body_.code[s.value].result(), value, -1, -1, 0}, s.operand});
    ProgramPhase& p = phase(fact.phase);
    (per_row ? p.row : p.column).push_back(id);
  }

  const Body& body_;
  std::vector<Fact> analysed_;
  Program program_;
  std::map<std::pair<int, int>, int> columns_;
  std::map<int, int> rows_, kept_;
};

}  // namespace

std::optional<Lowered> lower_group(const Module& module, const std::vector<std::vector<Look>>& looks,
                                   const Group& group) {
  if (group.members.empty()) return {};
  const Body body(module, looks, group);
  auto geometry = geometry_of(body);
  if (!geometry) return {};
  Lowered lowered;
  for (const Operand& o : body.operands) {
    if (o.arg.output)
      lowered.attrs.types.push_back(module.type(o.value));
    else
      lowered.inputs.push_back(o.value);
  }
  lowered.attrs.program = std::make_shared<const Program>(Phases(body).build());
  lowered.attrs.geometry = std::move(*geometry);
  lowered.attrs.label = body.label;
  for (int m : group.members) lowered.attrs.flops += flops_of(module, module.nodes[size_t(m)]);
  return lowered;
}

}  // namespace stoker::compiler
