#include "compiler/passes.h"
#include "graph/ops/attributes.h"
#include "graph/program.h"

namespace stoker::compiler {

bool is_number(const ModuleNode& node) { return node.op->kind == graph::OpClass::Leaf && !node.is("data"); }

double flops_of(const Module& module, const ModuleNode& node) {
  if (const auto* fused = node.attrs.get_if<graph::FusedAttrs>()) return fused->flops;
  std::vector<graph::TensorType> inputs;
  for (ValueId v : node.inputs) inputs.push_back(module.type(v));
  if (node.op->flops) return node.op->flops(inputs, node.types, node.attrs);
  return double(node.types[0].elements());
}

bool Look::whole(const Module& module) const {
  return terms.empty() && desc.offset == 0 && desc.contiguous() && numel(desc.shape) == module.type(base).elements();
}

namespace {

std::optional<graph::TensorDesc> desc_of_view(const Look& input, const ModuleNode& view) {
  return view.op->view ? view.op->view(input.desc, view.attrs) : std::nullopt;
}

// Inputs after the first are starts along the axes: constants move the offset, the others become terms.
void add_starts(const Module& module, const ModuleNode& view, const graph::TensorDesc& source, Look& look) {
  for (size_t i = 1; i < view.inputs.size(); ++i) {
    const int64_t stride = source.strides[int(i) - 1];
    const ModuleNode& start = module.node(view.inputs[i]);
    if (start.is("constant"))
      look.desc.offset += int64_t(start.attrs.get<graph::ConstantAttrs>().value) * stride;
    else if (stride != 0)
      look.terms.push_back({view.inputs[i], stride});
  }
}

}  // namespace

bool is_look(const Module&, const Look& input, const ModuleNode& view) { return desc_of_view(input, view).has_value(); }

std::vector<std::vector<Look>> looks(const Module& module) {
  std::vector<std::vector<Look>> all(module.nodes.size());
  for (size_t i = 0; i < module.nodes.size(); ++i) {
    const ModuleNode& node = module.nodes[i];
    if (node.op->kind == graph::OpClass::View && !node.inputs.empty()) {
      const ValueId source = node.inputs[0];
      const Look& input = all[size_t(source.node)][size_t(source.output)];
      if (auto desc = desc_of_view(input, node)) {
        Look look{input.base, *desc, input.terms};
        if (node.is("slice")) add_starts(module, node, input.desc, look);
        all[i].push_back(std::move(look));
        continue;
      }
    }
    for (size_t k = 0; k < node.types.size(); ++k) {
      const graph::TensorType& t = node.types[k];
      all[i].push_back({{int(i), int(k)}, {t.dtype, t.shape, contiguous_strides(t.shape), 0}, {}});
    }
  }
  return all;
}

}  // namespace stoker::compiler
