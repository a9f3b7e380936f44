#include <algorithm>
#include <set>

#include "compiler/passes.h"
#include "graph/program.h"

namespace stoker::compiler {
namespace {

using graph::OpClass;

ValueId append_copy(Module& module, ValueId v) {
  const graph::TensorType type = module.type(v);
  return {module.append({&graph::op("fused"), graph::copy_program(type), {v}, {type}, module.node(v).loc, -1}), 0};
}

class Placement {
 public:
  explicit Placement(const Module& module) : module_(module), looks_(looks(module)) {}

  Module run() {
    Module out = module_;
    std::set<ValueId> taken(module_.outputs.begin(), module_.outputs.end());
    std::vector<size_t> copies;
    for (size_t c = 0; c < out.cells.size(); ++c)
      if (!direct(out.cells[c]) || !taken.insert(out.cells[c].value).second) copies.push_back(c);
    // A value that lies in the storage of another cell of this step is saved before any cell is overwritten.
    for (size_t c : copies)
      if (in_updated_home(out.cells[c])) out.cells[c].value = append_copy(out, out.cells[c].value);
    for (size_t c : copies) out.cells[c].value = append_copy(out, out.cells[c].value);
    return out;
  }

 private:
  bool in_updated_home(const graph::CellStore& cell) const {
    const ModuleNode& node = module_.node(cell.value);
    return node.is("data") && std::any_of(module_.cells.begin(), module_.cells.end(),
                                          [&](const graph::CellStore& other) { return other.input == node.number; });
  }

  // Whether the step that computes the value may store it in the cell at once.
  bool direct(const graph::CellStore& cell) const {
    const int producer = cell.value.node;
    if (module_.node(cell.value).op->kind == OpClass::Leaf) return false;
    if (cell.input < 0) return true;
    for (size_t i = 0; i < module_.nodes.size(); ++i)
      for (size_t k = 0; k < module_.nodes[i].inputs.size(); ++k) {
        if (!reads(module_.nodes[i].inputs[k], cell.input) || module_.nodes[i].op->kind == OpClass::View) continue;
        if (int(i) > producer || (int(i) == producer && !over_itself(cell.value, int(k)))) return false;
      }
    return true;
  }

  bool reads(ValueId v, int input) const {
    const ModuleNode& base = module_.node(looks_[size_t(v.node)][size_t(v.output)].base);
    return base.is("data") && base.number == input;
  }

  // Whether output `value` may be stored over the k-th input of its own node.
  bool over_itself(ValueId value, int k) const {
    const ModuleNode& node = module_.node(value);
    if (!looks_[size_t(node.inputs[size_t(k)].node)][size_t(node.inputs[size_t(k)].output)].whole(module_))
      return false;
    if (node.op->assigns_in_place) return over_same_place(node, value.output, k);
    if (node.op->inplace_input == k) return value.output == 0;
    const auto* fused = node.attrs.get_if<graph::FusedAttrs>();
    return fused && graph::may_overlap(*fused, k, value.output);
  }
  // Updates read inputs [parameters, gradients, states...] and store [parameters, states...].
  bool over_same_place(const ModuleNode& node, int output, int k) const {
    const auto numbers =
        std::count_if(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return is_number(module_.node(v)); });
    const int tensors = int(node.inputs.size()) - int(numbers) - int(node.types.size());
    return k == (output < tensors ? output : output + tensors);
  }

  const Module& module_;
  std::vector<std::vector<Look>> looks_;
};

}  // namespace

Module place_cells(const Module& module) { return Placement(module).run(); }

}  // namespace stoker::compiler
