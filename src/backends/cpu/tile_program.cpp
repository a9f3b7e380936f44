#include "backends/cpu/tile_program.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <stoker/error.h>

#include "backends/cpu/tile_geometry.h"
#include "backends/cpu/tile_memory.h"

namespace stoker::backends::cpu {
namespace {

using graph::arity_of;
using graph::ExprInst;
using graph::Lane;
using graph::lane_of;
using graph::Prim;
using graph::ProgramInst;
using Access = graph::ProgramArg::Access;
using Where = Place::Where;

[[noreturn]] void malformed(std::string_view what) { throw std::logic_error(fmt::format("fused program: {}", what)); }

class Lowering {
 public:
  Lowering(const graph::Program& program, const graph::ProgramGeometry& geometry) : program_(program) {
    set_geometry(out_, program, geometry);
    places_of_.assign(program.code.size(), -1);
    kept_.assign(program.row_buffers.size(), -1);
  }

  TileProgram lower() {
    for (const graph::ProgramPhase& phase : program_.phases) lower_phase(phase);
    assign_memory(out_, fixed_, program_.row_buffers);
    return std::move(out_);
  }

 private:
  // --- values --------------------------------------------------------------------------------------------------------

  int add_place(Where where, int64_t width, bool fixed, int index = -1) {
    out_.places.push_back({.where = where, .width = width, .offset = 0, .index = index});
    fixed_.push_back(fixed);
    return int(out_.places.size()) - 1;
  }
  Place& place(int id) { return out_.places[size_t(id)]; }
  bool is_element(int id) { return place(id).where >= Where::Tile; }
  // The shape of a row value: replicated while a tile lies in one row.
  Where row_shape() const { return out_.whole_rows ? Where::Rows : Where::Block; }

  int place_of(int code) {
    if (code < 0 || code >= int(places_of_.size()) || places_of_[size_t(code)] < 0)
      malformed("an operand is used before it is computed");
    return places_of_[size_t(code)];
  }

  // What a value differs with.
  struct Level {
    bool column = false;
    bool row = false;  // or, where a tile is a part of a row, between tiles
  };
  Level level_of(int id) { return {is_element(id), !fixed_[size_t(id)]}; }

  // Makes a place for a new value and says which list computes it.
  std::vector<TileStep>& home(Level level, int64_t width, TileStep& step) {
    step.extent = level.column ? Where::Tile : level.row ? row_shape() : Where::Block;
    step.out = add_place(step.extent, width, !level.row);
    return !level.row ? out_.once : level.column ? phase().column : phase().row;
  }

  TilePhase& phase() { return out_.phases.back(); }
  const TileArgument& arg(int i) const { return out_.args.at(size_t(i)); }

  // --- instructions --------------------------------------------------------------------------------------------------

  void lower_phase(const graph::ProgramPhase& in) {
    out_.phases.emplace_back();
    pending_.clear();
    for (int code : in.row) lower_instruction(code);
    for (int code : in.column) lower_instruction(code);
    for (const graph::ProgramReduction& r : in.reductions) lower_reduction(r);
    for (const Pending& p : pending_) p.arg >= 0 ? lower_store(p) : lower_keep(p);
    out_.reductions = std::max(out_.reductions, int(in.reductions.size()));
    out_.work_per_element += int64_t(phase().column.size() + phase().reductions.size() + phase().stores.size());
  }

  void lower_instruction(int code) {
    const ProgramInst& inst = program_.code.at(size_t(code));
    switch (inst.kind) {
      case ProgramInst::Kind::Compute:
        places_of_[size_t(code)] = compute(inst.expr);
        break;
      case ProgramInst::Kind::Load:
        places_of_[size_t(code)] = load(inst);
        break;
      case ProgramInst::Kind::Store:
        pending_.push_back({place_of(inst.expr.a), lane_of_code(inst.expr.a), inst.arg, -1});
        break;
      case ProgramInst::Kind::Keep:
        keep(inst);
        break;
      case ProgramInst::Kind::Recall:
        places_of_[size_t(code)] = recall(inst);
        break;
      case ProgramInst::Kind::Result:
        if (places_of_[size_t(code)] < 0) malformed("a result is used before its reduction is done");
        break;
    }
  }

  Lane lane_of_code(int code) const {
    const ProgramInst& inst = program_.code.at(size_t(code));
    return inst.kind == ProgramInst::Kind::Compute ? inst.expr.result() : inst.expr.lane;
  }

  int compute(const ExprInst& e) {
    if (e.prim == Prim::Const) return literal(e.lane, e.imm, -1);
    if (e.prim == Prim::Arg) malformed("an Arg instead of a Load");
    int operands[3] = {-1, -1, -1};
    const int codes[3] = {e.a, e.b, e.c};
    const int count = arity_of(e.prim);
    for (int k = 0; k < count; ++k) operands[k] = place_of(codes[k]);
    const Lane from = lane_of_code(e.a);
    if (changes_nothing(e, from)) return operands[0];
    return compute(e, from, operands, count);
  }

  int compute(const ExprInst& e, Lane from, const int* operands, int count) {
    TileStep step;
    step.compute = find_compute(e, from);
    if (!step.compute)
      throw Unsupported("fused", fmt::format("expected an instruction that the CPU has, got {} on {}", name_of(e.prim),
                                             name_of(e.lane)));
    Level level;
    for (int k = 0; k < count; ++k) {
      const Level l = level_of(operands[k]);
      level.column |= l.column;
      level.row |= l.row;
    }
    for (int k = 0; k < count; ++k) step.in[k] = level.column ? operand_of_element(operands[k]) : operands[k];
    home(level, width_of(e.result()), step).push_back(step);
    return step.out;
  }

  // Bits are a matter of how the same bytes are read.
  static bool changes_nothing(const ExprInst& e, Lane from) {
    if (e.prim == Prim::Bits) return true;
    if (e.prim == Prim::Cast) return from == e.lane;
    return e.prim == Prim::Narrow && is_lane_type(DType(e.imm)) && lane_of(DType(e.imm)) == e.lane;
  }

  int literal(Lane lane, uint64_t bits, int argument) {
    const auto key = std::tuple{lane, bits, argument};
    if (const auto found = literals_.find(key); found != literals_.end()) return found->second;
    const int id = add_place(Where::Block, width_of(lane), true);
    out_.literals.push_back({id, lane, bits, argument});
    return literals_[key] = id;
  }

  // A conversion of a value between lanes, for loads and stores whose memory is of another kind.
  int converted(int id, Lane from, Lane to) {
    if (from == to) return id;
    return compute({.prim = Prim::Cast, .lane = to}, from, &id, 1);
  }

  int load(const ProgramInst& inst) {
    const TileArgument& a = arg(inst.arg);
    const Lane natural = lane_of(a.dtype);
    if (a.access == Access::Scalar) return literal(inst.expr.lane, 0, inst.arg);
    const bool element = a.access == Access::Element && (a.column_stride != 0 || out_.columns == 1);
    const bool row = std::any_of(a.row_strides.begin(), a.row_strides.end(), [](int64_t s) { return s != 0; });
    const bool varies = row || (element && (!out_.whole_rows || out_.rows_per_tile == 1));
    int id;
    if (element && varies && is_dense(a)) {
      id = add_place(Where::Argument, int64_t(size_of(a.dtype)), false, inst.arg);
    } else {
      TileStep step{.kind = TileStep::Kind::Load, .move = find_load(a.dtype), .arg = inst.arg};
      home({element, varies}, width_of(natural), step).push_back(step);
      id = step.out;
    }
    return converted(id, natural, inst.expr.lane);
  }

  bool is_dense(const TileArgument& a) const { return is_lane_type(a.dtype) && a.even && a.column_stride == 1; }

  TileStep copy(int from, int to) {
    const DType bits = place(from).width == 8 ? DType::I64 : DType::I32;
    return {.kind = TileStep::Kind::Expand, .move = find_load(bits), .out = to, .in = {from, -1, -1}};
  }

  // --- between rows and elements -------------------------------------------------------------------------------------

  int operand_of_element(int id) { return place(id).where == Where::Rows ? expanded(id) : id; }

  // The value as a tile of its own.
  int expanded(int id) {
    if (is_element(id)) return id;
    if (const auto found = expansions_.find(id); found != expansions_.end() && out_.whole_rows) return found->second;
    const int out = add_place(Where::Tile, place(id).width, false);
    phase().column.push_back(copy(id, out));
    return expansions_[id] = out;
  }

  // --- what leaves a phase -------------------------------------------------------------------------------------------

  struct Pending {
    int value;
    Lane lane;
    int arg;     // a store, or -1
    int buffer;  // a keep, or -1
  };

  void keep(const ProgramInst& inst) {
    const int id = place_of(inst.expr.a);
    kept_.at(size_t(inst.arg)) = id;
    if (out_.whole_rows || !is_element(id)) return;
    kept_[size_t(inst.arg)] = add_place(Where::Buffer, place(id).width, false, inst.arg);
    pending_.push_back({id, inst.expr.lane, -1, inst.arg});
  }

  int recall(const ProgramInst& inst) {
    const int id = kept_.at(size_t(inst.arg));
    if (id < 0) malformed("a row buffer is recalled before it is kept");
    return id;
  }

  void lower_keep(const Pending& p) {
    if (settle(p.value, Where::Buffer, p.buffer)) return;
    phase().stores.push_back(copy(p.value, kept_[size_t(p.buffer)]));
  }

  void lower_store(const Pending& p) {
    const TileArgument& a = arg(p.arg);
    int id = stored_form(p, a.dtype);
    TileStep step{.kind = TileStep::Kind::Store, .move = find_store(a.dtype), .arg = p.arg};
    if (a.access == Access::Element) {
      id = operand_of_element(id);
      if (is_dense(a) && settle(id, Where::Argument, p.arg)) return;
      step.in[0] = id;
      phase().stores.push_back(step);
    } else {
      if (is_element(id)) malformed("an element is stored to a row's argument");
      step.extent = row_shape();
      step.in[0] = id;
      phase().row_stores.push_back(step);
    }
  }

  // In the lane of the argument's memory; a bool is what differs from zero.
  int stored_form(const Pending& p, DType dtype) {
    const Lane natural = lane_of(dtype);
    if (dtype != DType::Bool || p.lane == Lane::I32) return converted(p.value, p.lane, natural);
    const int operands[2] = {p.value, literal(p.lane, 0, -1)};
    return compute({.prim = Prim::Ne, .lane = p.lane}, p.lane, operands, 2);
  }

  // Computes a value of this phase right where it is stored, unless something read later in the phase may lie there.
  bool settle(int id, Where where, int index) {
    if (place(id).where != Where::Tile || fixed_[size_t(id)]) return false;
    const auto& steps = phase().column;
    const auto made = std::find_if(steps.begin(), steps.end(), [&](const TileStep& s) { return s.out == id; });
    if (made == steps.end() || made->kind != TileStep::Kind::Compute) return false;
    const auto overlaps = [&](int other) { return other >= 0 && place(other).where >= Where::Argument; };
    for (auto s = made + 1; s != steps.end(); ++s)
      if (s->kind == TileStep::Kind::Load || overlaps(s->in[0]) || overlaps(s->in[1]) || overlaps(s->in[2]))
        return false;
    for (const TileReduction& r : phase().reductions)
      if (overlaps(r.value)) return false;
    for (const Pending& p : pending_)
      if (overlaps(p.value)) return false;
    place(id).where = where;
    place(id).index = index;
    return true;
  }

  void lower_reduction(const graph::ProgramReduction& r) {
    const Lane lane = lane_of_code(r.value);
    const int value = expanded(place_of(r.value));
    const int result = add_place(row_shape(), width_of(lane), false);
    places_of_.at(size_t(r.result)) = result;
    phase().reductions.push_back({value, result, find_reduce(r.kind, lane)});
  }

  const graph::Program& program_;
  TileProgram out_;
  std::vector<int> places_of_;  // by index into the program's code
  std::vector<int> kept_;       // by row buffer
  std::vector<bool> fixed_;     // by place: the same for every row and tile
  std::map<std::tuple<Lane, uint64_t, int>, int> literals_;
  std::map<int, int> expansions_;
  std::vector<Pending> pending_;
};

}  // namespace

TileProgram lower_program(const graph::Program& program, const graph::ProgramGeometry& geometry) {
  return Lowering(program, geometry).lower();
}

}  // namespace stoker::backends::cpu
