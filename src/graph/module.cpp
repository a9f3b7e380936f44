#include "graph/module.h"

#include <map>

namespace stoker::graph {

int Module::append(ModuleNode node) {
  nodes.push_back(std::move(node));
  return int(nodes.size()) - 1;
}

ValueId Module::add(const Op& op, std::vector<ValueId> inputs, Attrs attrs, Line loc) {
  std::vector<TensorType> types;
  for (ValueId v : inputs) types.push_back(type(v));
  std::vector<TensorType> results = op.infer({op, types, attrs, loc, op.name});
  return {append({&op, std::move(attrs), std::move(inputs), std::move(results), loc, -1}), 0};
}

std::vector<std::vector<int>> Module::users() const {
  std::vector<std::vector<int>> result(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    for (ValueId v : nodes[i].inputs) {
      auto& list = result[size_t(v.node)];
      if (list.empty() || list.back() != int(i)) list.push_back(int(i));
    }
  return result;
}

Rewriter::Rewriter(const Module& old) : old_(old), values_(old.nodes.size()) {
  out_.home_inputs = old.home_inputs;
  out_.input_count = old.input_count;
  out_.scalar_count = old.scalar_count;
  out_.nodes.reserve(old.nodes.size());
}

std::vector<ValueId> Rewriter::map(const std::vector<ValueId>& values) const {
  std::vector<ValueId> mapped;
  mapped.reserve(values.size());
  for (ValueId v : values) mapped.push_back(map(v));
  return mapped;
}

void Rewriter::copy(int i) {
  ModuleNode node = old_.nodes[size_t(i)];
  for (ValueId& v : node.inputs) v = map(v);
  const int count = int(node.types.size());
  const int id = out_.append(std::move(node));
  std::vector<ValueId> values;
  for (int k = 0; k < count; ++k) values.push_back({id, k});
  replace(i, std::move(values));
}

Module Rewriter::finish() {
  out_.outputs = map(old_.outputs);
  for (const CellStore& cell : old_.cells) out_.cells.push_back({map(cell.value), cell.input});
  return std::move(out_);
}

Module module_from_record(const Record& record, const std::vector<Value>& outputs, const std::vector<int>& old_inputs) {
  Module module;
  module.input_count = int(record.inputs.size());
  module.scalar_count = int(record.scalars.size());
  module.nodes.reserve(record.nodes.size() + record.inputs.size() + record.scalars.size());
  std::map<std::pair<const Node*, int>, int> leaves;
  std::map<const Node*, int> recorded;

  for (size_t i = 0; i < record.inputs.size(); ++i) {
    const Value& v = record.inputs[i];
    leaves[{v.node.get(), v.index}] = module.append({&op("data"), {}, {}, {v.type()}, {v.node->loc()}, int(i)});
  }
  for (size_t i = 0; i < record.scalars.size(); ++i) {
    const Ref<Node>& node = record.scalars[i];
    leaves[{node.get(), 0}] = module.append({&node->op(), {}, {}, {node->output(0).type}, {node->loc()}, int(i)});
  }
  auto id_of = [&](const Value& value) -> ValueId {
    const Value v = behind_reads(value);
    if (auto it = recorded.find(v.node.get()); it != recorded.end()) return {it->second, v.index};
    auto [it, fresh] = leaves.try_emplace({v.node.get(), v.index}, -1);
    if (fresh)
      it->second = module.append({&v.node->op(), v.node->attrs(), {}, {v.type()}, {v.node->loc()}, -1});  // a constant
    return {it->second, 0};
  };

  for (size_t i = 0; i < record.nodes.size(); ++i) {
    const Ref<Node>& node = record.nodes[i];
    ModuleNode copy{&node->op(), node->attrs(), {}, {}, {node->loc(), int(i)}, -1};
    for (const Value& v : node->inputs()) copy.inputs.push_back(id_of(v));
    for (int k = 0; k < node->output_count(); ++k) copy.types.push_back(node->output(k).type);
    recorded[node.get()] = module.append(std::move(copy));
  }
  for (const Value& v : outputs) module.outputs.push_back(id_of(v));
  for (size_t i = 0; i < record.assignments.size(); ++i)
    module.cells.push_back({id_of(record.assignments[i].value), old_inputs[i]});
  return module;
}

Module without_dead_nodes(const Module& module) {
  std::vector<bool> live(module.nodes.size(), false);
  for (ValueId v : module.outputs) live[size_t(v.node)] = true;
  for (const CellStore& cell : module.cells) live[size_t(cell.value.node)] = true;
  for (size_t i = module.nodes.size(); i-- > 0;) {
    if (!live[i] && !module.nodes[i].op->barrier) continue;
    live[i] = true;
    for (ValueId v : module.nodes[i].inputs) live[size_t(v.node)] = true;
  }
  Rewriter rewrite(module);
  for (size_t i = 0; i < module.nodes.size(); ++i)
    if (live[i]) rewrite.copy(int(i));
  return rewrite.finish();
}

}  // namespace stoker::graph
