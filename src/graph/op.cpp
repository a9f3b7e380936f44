#include "graph/op.h"

#include <map>
#include <stdexcept>

namespace stoker::graph {

void register_all_ops();  // graph/ops/register.cpp

namespace {

std::map<std::string, Op, std::less<>>& rows() {
  static auto* table = new std::map<std::string, Op, std::less<>>;  // nodes may die after every static
  return *table;
}
void ensure_registered() {
  static const bool done = (register_all_ops(), true);
  (void)done;
}

}  // namespace

const Op& define(Op op) {
  const std::string name = op.name;
  auto [it, inserted] = rows().emplace(name, std::move(op));
  if (!inserted) throw std::logic_error("operation '" + name + "' is defined twice");
  return it->second;
}

const Op& op(std::string_view name) {
  ensure_registered();
  auto it = rows().find(name);
  if (it == rows().end()) throw std::logic_error("no operation '" + std::string(name) + "'");
  return it->second;
}

std::vector<const Op*> all_ops() {
  ensure_registered();
  std::vector<const Op*> out;
  for (const auto& [name, row] : rows()) out.push_back(&row);
  return out;
}

void InferContext::shape_error(const std::string& message) const { throw ShapeError(name, message, loc); }
void InferContext::dtype_error(const std::string& message) const { throw DTypeError(name, message, loc); }

bool TensorDesc::contiguous() const {
  int64_t expected = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

namespace {
uint32_t bits(std::initializer_list<int> which) {
  uint32_t mask = 0;
  for (int i : which) mask |= 1u << i;
  return mask;
}
}  // namespace

Saves Saves::in(std::initializer_list<int> which) { return {bits(which), 0, false}; }
Saves Saves::out(std::initializer_list<int> which) { return {0, bits(which), false}; }

bool gradient_reads(const Node& node, int input) {
  const Saves saves = node.op().saves;
  // Operations of many inputs save all or none of them.
  const bool listed = saves.inputs == ~0u || (input < 32 && saves.inputs >> input & 1);
  if (!node.op().gradient || !listed) return false;
  if (!saves.crosswise) return true;
  for (size_t i = 0; i < node.inputs().size(); ++i)
    if (int(i) != input && node.inputs()[i].node->requires_grad) return true;
  return false;
}

}  // namespace stoker::graph
