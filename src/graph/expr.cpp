#include "graph/expr.h"

#include <bit>
#include <stdexcept>

namespace stoker::graph {
namespace {

struct PrimRow {
  std::string_view name;
  int arity;
};
// In the order of Prim.
constexpr PrimRow kPrims[] = {
    {"arg", 0}, {"const", 0}, {"add", 2},  {"sub", 2},  {"mul", 2},    {"div", 2},  {"neg", 1},   {"abs", 1},
    {"min", 2}, {"max", 2},   {"fma", 3},  {"sqrt", 1}, {"floor", 1},  {"ceil", 1}, {"round", 1}, {"trunc", 1},
    {"rem", 2}, {"lt", 2},    {"le", 2},   {"eq", 2},   {"ne", 2},     {"and", 2},  {"or", 2},    {"xor", 2},
    {"not", 1}, {"shl", 2},   {"shr", 2},  {"shrl", 2}, {"select", 3}, {"cast", 1}, {"bits", 1},  {"narrow", 1},
    {"exp", 1}, {"log", 1},   {"sin", 1},  {"cos", 1},  {"tanh", 1},   {"erf", 1},  {"log1p", 1}, {"expm1", 1},
    {"pow", 2}, {"atan", 1},  {"asin", 1}, {"acos", 1}, {"sinh", 1},   {"cosh", 1}, {"tan", 1},   {"lgamma", 1}};
static_assert(std::size(kPrims) == size_t(Prim::Lgamma) + 1);

}  // namespace

Lane lane_of(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return Lane::F64;
    case DType::I64:
      return Lane::I64;
    case DType::F16:
    case DType::BF16:
    case DType::F32:
      return Lane::F32;
    default:
      return Lane::I32;
  }
}

std::string_view name_of(Lane lane) {
  constexpr std::string_view names[] = {"f32", "f64", "i32", "i64"};
  return names[size_t(lane)];
}
std::string_view name_of(Prim prim) { return kPrims[size_t(prim)].name; }
int arity_of(Prim prim) { return kPrims[size_t(prim)].arity; }

size_t ExprBuilder::Hash::operator()(const ExprInst& e) const {
  uint64_t h = uint64_t(e.prim) << 8 | uint64_t(e.lane);
  for (uint64_t word : {uint64_t(uint32_t(e.a)) << 32 | uint32_t(e.b), uint64_t(uint32_t(e.c)), e.imm}) {
    h = (h ^ word) * 0x9e3779b97f4a7c15ull;
    h ^= h >> 29;
  }
  return size_t(h);
}

int ExprBuilder::emit(ExprInst inst) {
  auto [it, fresh] = known_.try_emplace(inst, int(code_.size()));
  if (fresh) code_.push_back(inst);
  return it->second;
}

Ex Ex::literal(double v) const {
  const bool floating = lane() == Lane::F32 || lane() == Lane::F64;
  return literal_bits(floating ? std::bit_cast<uint64_t>(v) : uint64_t(int64_t(v)));
}
Ex Ex::literal_bits(uint64_t bits) const { return {builder_, builder_->emit({Prim::Const, lane(), -1, -1, -1, bits})}; }

Ex emit(Prim prim, Ex a) { return {a.builder(), a.builder()->emit({prim, a.lane(), a.id(), -1, -1, 0})}; }

Ex emit(Prim prim, Ex a, Ex b) {
  if (a.lane() != b.lane())
    throw std::logic_error(std::string("expression: ") + std::string(name_of(prim)) + " of different lanes");
  return {a.builder(), a.builder()->emit({prim, a.lane(), a.id(), b.id(), -1, 0})};
}

Ex emit(Prim prim, Ex a, Ex b, Ex c) {
  if (b.lane() != c.lane() || a.lane() != (prim == Prim::Select ? Lane::I32 : b.lane()))
    throw std::logic_error(std::string("expression: ") + std::string(name_of(prim)) + " of different lanes");
  return {a.builder(), a.builder()->emit({prim, b.lane(), a.id(), b.id(), c.id(), 0})};
}

Ex cast(Ex a, Lane lane) {
  if (a.lane() == lane) return a;
  return {a.builder(), a.builder()->emit({Prim::Cast, lane, a.id(), -1, -1, 0})};
}

}  // namespace stoker::graph
