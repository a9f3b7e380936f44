#include <stdexcept>

#include "graph/module.h"

namespace stoker::graph {
namespace {

[[noreturn]] void fail(std::string_view pass, size_t i, const ModuleNode& node, const std::string& what) {
  throw std::logic_error(fmt::format("after pass {}: node %{} ({}) {}", pass, i, node.op->name, what));
}

void verify_node(const Module& module, size_t i, std::string_view pass) {
  const ModuleNode& node = module.nodes[i];
  if (node.types.empty()) fail(pass, i, node, "has no outputs");
  for (ValueId v : node.inputs) {
    if (v.node < 0 || v.node >= int(i)) fail(pass, i, node, "reads a value that does not precede it");
    if (v.output < 0 || v.output >= int(module.node(v).types.size()))
      fail(pass, i, node, "reads an output that does not exist");
  }
  if (node.op->kind == OpClass::Leaf) return;
  if (node.op->arity >= 0 && !node.op->expr && int(node.inputs.size()) < node.op->arity)
    fail(pass, i, node, fmt::format("has {} inputs, expected {}", node.inputs.size(), node.op->arity));
  std::vector<TensorType> inputs;
  for (ValueId v : node.inputs) inputs.push_back(module.type(v));
  const std::vector<TensorType> expected = node.op->infer({*node.op, inputs, node.attrs, node.loc, node.op->name});
  if (expected.size() != node.types.size()) fail(pass, i, node, "has another number of outputs than its rule gives");
  for (size_t k = 0; k < expected.size(); ++k)
    if (!(expected[k] == node.types[k]))
      fail(pass, i, node,
           fmt::format("has type {}, its rule gives {}", to_string(node.types[k]), to_string(expected[k])));
}

}  // namespace

void verify(const Module& module, std::string_view pass) {
  for (size_t i = 0; i < module.nodes.size(); ++i) verify_node(module, i, pass);
  auto exists = [&](ValueId v) { return v.node >= 0 && v.node < int(module.nodes.size()); };
  for (ValueId v : module.outputs)
    if (!exists(v)) throw std::logic_error(fmt::format("after pass {}: an output is missing", pass));
  for (const CellStore& cell : module.cells)
    if (!exists(cell.value) || cell.input >= module.input_count)
      throw std::logic_error(fmt::format("after pass {}: the value of a cell is missing", pass));
}

}  // namespace stoker::graph
