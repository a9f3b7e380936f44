#include <map>

#include "compiler/passes.h"

namespace stoker::compiler {
namespace {

using graph::OpClass;

class MakeContiguous {
 public:
  explicit MakeContiguous(const Module& module) : module_(module), rewrite_(module) {}

  Module run() {
    for (size_t i = 0; i < module_.nodes.size(); ++i) {
      const ModuleNode& node = module_.nodes[i];
      const bool dense_inputs = node.op->kind == OpClass::Kernel && !node.op->strided_inputs;
      const bool copies_source = node.op->kind == OpClass::View && !node.inputs.empty() && !viewable(node);
      if (!dense_inputs && !copies_source) {
        copy(int(i));
        continue;
      }
      ModuleNode mapped = node;
      for (size_t k = 0; k < mapped.inputs.size(); ++k) {
        mapped.inputs[k] = rewrite_.map(node.inputs[k]);
        if (k == 0 || dense_inputs) mapped.inputs[k] = dense(mapped.inputs[k]);
      }
      const int count = int(mapped.types.size());
      const int id = append(std::move(mapped));
      std::vector<ValueId> values;
      for (int k = 0; k < count; ++k) values.push_back({id, k});
      rewrite_.replace(int(i), std::move(values));
    }
    Module out = rewrite_.finish();
    hold(out);
    return out;
  }

 private:
  void copy(int i) {
    rewrite_.copy(i);
    looks_.push_back(look_of_last());
  }
  int append(ModuleNode node) {
    const int id = rewrite_.out().append(std::move(node));
    looks_.push_back(look_of_last());
    return id;
  }

  // The look of the node that was just appended, from those of its inputs.
  Look look_of_last() {
    const Module& out = rewrite_.out();
    const ModuleNode& node = out.nodes.back();
    const int id = int(out.nodes.size()) - 1;
    if (node.op->kind == OpClass::View && !node.inputs.empty())
      if (const Look source = look(node.inputs[0]); auto desc = node.op->view(source.desc, node.attrs)) {
        Look look{source.base, *desc, source.terms};
        // That a slice begins somewhere is enough to know here; where, the planner works out.
        for (size_t k = 1; k < node.inputs.size(); ++k) look.terms.push_back({node.inputs[k], 1});
        return look;
      }
    return dense_look({id, 0});
  }
  Look dense_look(ValueId v) {
    const graph::TensorType& t = rewrite_.out().type(v);
    return {v, {t.dtype, t.shape, contiguous_strides(t.shape), 0}, {}};
  }
  Look look(ValueId v) { return v.output == 0 ? looks_[size_t(v.node)] : dense_look(v); }

  bool viewable(const ModuleNode& node) {
    return node.op->view && node.op->view(look(rewrite_.map(node.inputs[0])).desc, node.attrs).has_value();
  }

  // A dense copy, unless the value is dense: kernels take any address, so a dense part of something will do.
  ValueId dense(ValueId v) {
    const ModuleNode& node = rewrite_.out().node(v);
    if (node.op->kind != OpClass::View || look(v).desc.contiguous()) return v;
    return contiguous(rewrite_.out(), v);
  }
  ValueId contiguous(Module& out, ValueId v) {
    auto [it, fresh] = copies_.try_emplace(v);
    if (!fresh) return it->second;
    ModuleNode copy{&graph::op("contiguous"), {}, {v}, {out.type(v)}, out.node(v).loc, -1};
    it->second = {&out == &rewrite_.out() ? append(std::move(copy)) : out.append(std::move(copy)), 0};
    return it->second;
  }

  // What somebody holds has memory of its own, unless it is an input as it came and no cell's.
  void hold(Module& out) {
    auto shared = [&](const ModuleNode& node) {
      return node.op->kind == OpClass::View || (node.is("data") && out.home_inputs[size_t(node.number)]);
    };
    for (ValueId& v : out.outputs)
      if (shared(out.node(v))) v = contiguous(out, v);
    for (graph::CellStore& cell : out.cells)
      if (out.node(cell.value).op->kind == OpClass::View) cell.value = contiguous(out, cell.value);
  }

  const Module& module_;
  graph::Rewriter rewrite_;
  std::vector<Look> looks_;  // of output 0 of each new node
  std::map<ValueId, ValueId> copies_;
};

}  // namespace

Module make_contiguous(const Module& module) { return MakeContiguous(module).run(); }

}  // namespace stoker::compiler
