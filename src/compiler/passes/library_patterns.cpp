#include "compiler/passes.h"
#include "graph/ops/attributes.h"

namespace stoker::compiler {
namespace {

using graph::Epilogue;

std::vector<int> count_uses(const Module& module) {
  std::vector<int> uses(module.nodes.size(), 0);
  for (const ModuleNode& node : module.nodes)
    for (ValueId v : node.inputs) ++uses[size_t(v.node)];
  // What is stored somewhere cannot disappear into another operation.
  for (ValueId v : module.outputs) uses[size_t(v.node)] += 2;
  for (const auto& cell : module.cells) uses[size_t(cell.value.node)] += 2;
  return uses;
}

bool swaps_last_two(const ModuleNode& node) {
  if (!node.is("permute")) return false;
  const Dims& axes = node.attrs.get<graph::PermuteAttrs>().axes;
  const int rank = axes.rank();
  for (int i = 0; i < rank - 2; ++i)
    if (axes[i] != i) return false;
  return rank >= 2 && axes[rank - 2] == rank - 1;
}

// (A B)' is computed as B' A': transposed inputs are only strides, a transposed result would be copied. Gradients of
// linear layers come in this form.
Module transpose_products(const Module& module) {
  const std::vector<int> uses = count_uses(module);
  graph::Rewriter rewrite(module);
  for (size_t i = 0; i < module.nodes.size(); ++i) {
    const ModuleNode& node = module.nodes[i];
    rewrite.copy(int(i));
    if (!swaps_last_two(node)) continue;
    const ModuleNode& product = module.node(node.inputs[0]);
    const bool plain = product.is("matmul") && product.inputs.size() == 2 &&
                       product.attrs.get<graph::MatmulAttrs>().epilogue.steps.empty();
    if (!plain || uses[size_t(node.inputs[0].node)] != 1) continue;
    auto transposed = [&](ValueId v) { return rewrite.out().add(*node.op, {rewrite.map(v)}, node.attrs, node.loc); };
    const ValueId b = transposed(product.inputs[1]), a = transposed(product.inputs[0]);
    rewrite.replace(int(i), {rewrite.out().add(*product.op, {b, a}, product.attrs, product.loc)});
  }
  return graph::without_dead_nodes(rewrite.finish());
}

// Grows the epilogue of matrix products and convolutions while the next operation can be taken into the kernel. A
// product that somebody else reads, or holds, stays as it is.
class EpilogueFusion {
 public:
  explicit EpilogueFusion(const Module& module) : module_(module), rewrite_(module), uses_(count_uses(module)) {}

  Module run() {
    for (size_t i = 0; i < module_.nodes.size(); ++i) {
      rewrite_.copy(int(i));
      const ModuleNode& node = module_.nodes[i];
      if (node.is("add"))
        try_add(int(i), node) || try_add(int(i), node, 1);
      else if (node.is("relu"))
        try_relu(int(i), node);
    }
    return graph::without_dead_nodes(rewrite_.finish());
  }

 private:
  struct Product {
    ModuleNode node;  // in the new module
    graph::EpilogueList epilogue;
  };

  // The library operation that produced value v of the old module, if nothing else reads it.
  std::optional<Product> product(ValueId v) const {
    if (uses_[size_t(v.node)] != 1 || !rewrite_.mapped(v.node)) return {};
    const ModuleNode& node = const_cast<graph::Rewriter&>(rewrite_).out().node(rewrite_.map(v));
    if (!is_floating(node.types[0].dtype) || node.types[0].dtype == DType::F64) return {};
    if (node.is("matmul")) return Product{node, node.attrs.get<graph::MatmulAttrs>().epilogue};
    if (node.is("conv2d")) return Product{node, node.attrs.get<graph::ConvAttrs>().epilogue};
    return {};
  }

  void take(int i, Product p, Epilogue step, std::vector<ValueId> extra) {
    p.epilogue.steps.push_back(step);
    if (p.node.is("matmul")) {
      p.node.attrs = graph::MatmulAttrs{p.epilogue};
    } else {
      graph::ConvAttrs attrs = p.node.attrs.get<graph::ConvAttrs>();
      attrs.epilogue = p.epilogue;
      p.node.attrs = attrs;
    }
    for (ValueId v : extra) p.node.inputs.push_back(v);
    rewrite_.replace(i, {{rewrite_.out().append(std::move(p.node)), 0}});
  }

  // A bias is a vector seen through reshapes and broadcasts: its only extent that is not 1 lies on the bias axis.
  std::optional<ValueId> bias_vector(ValueId v, const Product& p) {
    const Shape& out = p.node.types[0].shape;
    const int axis = p.node.is("matmul") ? out.rank() - 1 : 1;
    const Shape& shape = module_.type(v).shape;
    const int at = axis - (out.rank() - shape.rank());
    if (at < 0 || numel(shape) != out[axis] || shape[at] != out[axis]) return {};
    const ModuleNode& node = module_.node(v);
    if (node.is("reshape") && module_.type(node.inputs[0]).shape.rank() == 1) return rewrite_.map(node.inputs[0]);
    if (shape.rank() == 1) return rewrite_.map(v);
    return rewrite_.out().add(graph::op("reshape"), {rewrite_.map(v)}, graph::ShapeAttrs{Shape{out[axis]}}, node.loc);
  }

  bool try_add(int i, const ModuleNode& add, int side = 0) {
    const ValueId a = add.inputs[size_t(side)], b = add.inputs[size_t(1 - side)];
    auto p = product(a);
    if (!p || !(add.types[0] == p->node.types[0]) || is_number(module_.node(b))) return false;
    const bool first = p->epilogue.steps.empty();
    if (first)
      if (auto bias = bias_vector(b, *p)) {
        take(i, std::move(*p), Epilogue::Bias, {*bias});
        return true;
      }
    const bool no_activation = first || p->epilogue.steps.back() == Epilogue::Bias;
    if (no_activation && module_.type(b) == add.types[0]) {
      take(i, std::move(*p), Epilogue::Add, {rewrite_.map(b)});
      return true;
    }
    return false;
  }

  void try_relu(int i, const ModuleNode& relu) {
    auto p = product(relu.inputs[0]);
    if (p && (p->epilogue.steps.empty() || p->epilogue.steps.back() != Epilogue::Relu))
      take(i, std::move(*p), Epilogue::Relu, {});
  }

  const Module& module_;
  graph::Rewriter rewrite_;
  std::vector<int> uses_;
};

// sum(dy, all axes but the channels) beside the weight gradient of the same dy is the bias gradient, which the library
// gives for nothing. Where the sum comes first, the weight gradient is computed in its place.
Module bias_gradients(const Module& module) {
  auto is_channel_sum = [&](const ModuleNode& node) {
    return node.is("sum") && module.type(node.inputs[0]).shape.rank() == 4 &&
           node.attrs.get<graph::ReduceAttrs>().axes == Dims{0, 2, 3};
  };
  // The weight gradient of each dy.
  std::vector<int> weight_gradient(module.nodes.size(), -1);
  for (size_t i = 0; i < module.nodes.size(); ++i)
    if (module.nodes[i].is("conv2d_weight_gradient") && module.nodes[i].types[0].dtype == DType::F32)
      weight_gradient[size_t(module.nodes[i].inputs[1].node)] = int(i);

  graph::Rewriter rewrite(module);
  auto with_bias = [&](int w) {
    const ModuleNode& node = module.nodes[size_t(w)];
    graph::ConvAttrs attrs = node.attrs.get<graph::ConvAttrs>();
    attrs.bias = true;
    rewrite.replace(w, {rewrite.out().add(*node.op, rewrite.map(node.inputs), attrs, node.loc)});
  };
  for (size_t i = 0; i < module.nodes.size(); ++i) {
    const ModuleNode& node = module.nodes[i];
    const int w = is_channel_sum(node) ? weight_gradient[size_t(node.inputs[0].node)] : -1;
    if (w >= 0 && (w < int(i) || rewrite.mapped(module.nodes[size_t(w)].inputs[0].node))) {
      if (!rewrite.mapped(w) || !rewrite.out().node(rewrite.map({w, 0})).attrs.get<graph::ConvAttrs>().bias)
        with_bias(w);
      const ValueId bias{rewrite.map({w, 0}).node, 1};
      const Shape& shape = node.types[0].shape;
      rewrite.replace(int(i), {shape.rank() == 1 ? bias
                                                 : rewrite.out().add(graph::op("reshape"), {bias},
                                                                     graph::ShapeAttrs{shape}, node.loc)});
    } else if (!rewrite.mapped(int(i))) {
      rewrite.copy(int(i));
    }
  }
  return graph::without_dead_nodes(rewrite.finish());
}

}  // namespace

Module library_patterns(const Module& module) {
  return bias_gradients(EpilogueFusion(transpose_products(module)).run());
}

}  // namespace stoker::compiler
