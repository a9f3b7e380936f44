#include "compiler/passes.h"
#include "graph/ops/attributes.h"

namespace stoker::compiler {
namespace {

// A 0-d tensor that holds the number v of `module`.
ValueId tensor_of(Module& module, ValueId v) {
  const graph::TensorType type = module.type(v);
  return module.add(graph::op("full"), {v}, graph::MakeAttrs{type.dtype, type.shape, type.device}, module.node(v).loc);
}

}  // namespace

Module materialize_numbers(const Module& module) {
  graph::Rewriter rewrite(module);
  for (size_t i = 0; i < module.nodes.size(); ++i) {
    const ModuleNode& node = module.nodes[i];
    const bool looks_at_memory = node.op->kind == graph::OpClass::View || node.op->kind == graph::OpClass::Reduction;
    rewrite.copy(int(i));
    if (!looks_at_memory || node.inputs.empty() || !is_number(module.node(node.inputs[0]))) continue;
    std::vector<ValueId> inputs = rewrite.map(node.inputs);
    inputs[0] = tensor_of(rewrite.out(), inputs[0]);
    rewrite.replace(int(i), {rewrite.out().add(*node.op, inputs, node.attrs, node.loc)});
  }
  Module out = rewrite.finish();
  for (ValueId& v : out.outputs)
    if (is_number(out.node(v))) v = tensor_of(out, v);
  for (graph::CellStore& cell : out.cells)
    if (is_number(out.node(cell.value))) cell.value = tensor_of(out, cell.value);
  return graph::without_dead_nodes(out);
}

}  // namespace stoker::compiler
