// The graph of one step as passes see it: nodes in topological order, values by number. Passes build a new module from
// an old one; verify() checks what they made.
#pragma once

#include "graph/op.h"
#include "graph/recorder.h"

namespace stoker::graph {

struct ValueId {
  int node = -1;
  int output = 0;
  explicit operator bool() const { return node >= 0; }
  auto operator<=>(const ValueId&) const = default;
};

struct ModuleNode {
  const Op* op = nullptr;
  Attrs attrs;
  std::vector<ValueId> inputs;
  std::vector<TensorType> types;
  Line loc;
  int number = -1;  // of `data`: the input, of `scalar`: the place in the parameter block

  bool is(std::string_view name) const { return op->name == name; }
};

// A value that the step leaves in a cell's permanent storage.
struct CellStore {
  ValueId value;
  int input = -1;  // the module input that is this cell's old value, if the step reads it
};

class Module {
 public:
  std::vector<ModuleNode> nodes;
  std::vector<ValueId> outputs;  // what somebody holds, in the order of the plan's outputs
  std::vector<CellStore> cells;
  std::vector<bool>
      home_inputs;  // per input: whether it lies in a cell's permanent storage, so that no tensor may share it
  int input_count = 0;
  int scalar_count = 0;

  ModuleNode& node(ValueId v) { return nodes[size_t(v.node)]; }
  const ModuleNode& node(ValueId v) const { return nodes[size_t(v.node)]; }
  const TensorType& type(ValueId v) const { return node(v).types[size_t(v.output)]; }
  // Appends a node with the types that its rule gives.
  ValueId add(const Op& op, std::vector<ValueId> inputs, Attrs attrs, Line loc);
  // Appends a finished node.
  int append(ModuleNode node);
  // For each node the nodes that read it.
  std::vector<std::vector<int>> users() const;
};

// Rewrites a module: visits nodes in order; a pass maps each to values of the new module. Outputs, cells and numbers
// follow.
class Rewriter {
 public:
  explicit Rewriter(const Module& old);
  const Module& old() const { return old_; }
  Module& out() { return out_; }
  ValueId map(ValueId v) const { return values_.at(size_t(v.node)).at(size_t(v.output)); }
  bool mapped(int node) const { return !values_[size_t(node)].empty(); }
  std::vector<ValueId> map(const std::vector<ValueId>& values) const;
  // Copies node i with mapped inputs.
  void copy(int i);
  void replace(int i, std::vector<ValueId> values) { values_[size_t(i)] = std::move(values); }
  Module finish();

 private:
  const Module& old_;
  Module out_;
  std::vector<std::vector<ValueId>> values_;
};

// The module of a record that keeps `outputs` (values of the record's nodes or inputs) and stores its assignments;
// old_inputs[i] is the input that shares the storage of assignment i's cell, or -1.
Module module_from_record(const Record& record, const std::vector<Value>& outputs, const std::vector<int>& old_inputs);

// Nodes that nothing uses are left out.
Module without_dead_nodes(const Module& module);

// Throws std::logic_error, naming the pass, when inputs do not precede users, a type differs from what the operation's
// rule gives, an output or cell is missing, or devices mix.
void verify(const Module& module, std::string_view pass);

std::string print(const Module& module);

}  // namespace stoker::graph
