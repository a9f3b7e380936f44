#include "graph/module.h"

namespace stoker::graph {
namespace {

std::string name(const Module& module, ValueId v) {
  return module.node(v).types.size() > 1 ? fmt::format("%{}.{}", v.node, v.output) : fmt::format("%{}", v.node);
}

}  // namespace

std::string print(const Module& module) {
  std::string s;
  for (size_t i = 0; i < module.nodes.size(); ++i) {
    const ModuleNode& node = module.nodes[i];
    std::string types, inputs;
    for (const TensorType& t : node.types)
      types += (types.empty() ? "" : ", ") + std::string(name_of(t.dtype)) + to_string(t.shape);
    for (ValueId v : node.inputs) inputs += (inputs.empty() ? "" : ", ") + name(module, v);
    const std::string number = node.number >= 0 ? fmt::format(" #{}", node.number) : "";
    const std::string attrs = node.attrs ? " {" + node.attrs.print() + "}" : "";
    const std::string loc = node.loc ? "  // " + to_string(node.loc) : "";
    s += fmt::format("%{}: {} = {}{}({}){}{}\n", i, types, node.op->name, number, inputs, attrs, loc);
  }
  for (size_t i = 0; i < module.outputs.size(); ++i)
    s += fmt::format("output {} = {}\n", i, name(module, module.outputs[i]));
  for (size_t i = 0; i < module.cells.size(); ++i) {
    const CellStore& cell = module.cells[i];
    s += fmt::format("cell {} = {}{}\n", i, name(module, cell.value),
                     cell.input >= 0 ? fmt::format(" (was input #{})", cell.input) : "");
  }
  return s;
}

}  // namespace stoker::graph
