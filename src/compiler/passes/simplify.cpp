#include <unordered_map>

#include "compiler/passes.h"
#include "graph/ops/attributes.h"

namespace stoker::compiler {
namespace {

bool is_constant(const ModuleNode& node, double value) {
  return node.is("constant") && node.attrs.get<graph::ConstantAttrs>().value == value;
}

// The input that this node merely repeats, if it does.
std::optional<ValueId> same_as_input(const Module& module, const ModuleNode& node) {
  if (node.op->barrier || node.inputs.empty() || node.types.size() != 1) return {};
  const ValueId x = node.inputs[0];
  const bool same_type = module.type(x) == node.types[0];
  if (node.is("alias") || node.is("detach") || node.is("read") || node.is("with_gradient")) return x;
  if (!same_type) {
    if (!node.is("mul") || node.inputs.size() != 2) return {};
  } else {
    if (node.is("cast") || node.is("reshape") || node.is("broadcast_to")) return x;
    if (node.is("div") && is_constant(module.node(node.inputs[1]), 1)) return x;
  }
  if (node.is("mul")) {
    if (same_type && is_constant(module.node(node.inputs[1]), 1)) return x;
    if (module.type(node.inputs[1]) == node.types[0] && is_constant(module.node(x), 1)) return node.inputs[1];
  }
  return {};
}

// reshape of reshape, broadcast of broadcast: only the last counts.
ValueId skip_same_view(const Module& module, const ModuleNode& node, ValueId x) {
  while (node.is("reshape") && module.node(x).is("reshape")) x = module.node(x).inputs[0];
  return x;
}

struct Signature {
  std::vector<uint64_t> words;
  bool operator==(const Signature&) const = default;
};
struct SignatureHash {
  size_t operator()(const Signature& s) const {
    uint64_t h = 0x9e3779b97f4a7c15ull;
    for (uint64_t w : s.words) h = (h ^ w) * 0xff51afd7ed558ccdull, h ^= h >> 32;
    return size_t(h);
  }
};

Signature signature(const ModuleNode& node) {
  graph::KeyWriter key;
  key.add(static_cast<const void*>(node.op));
  key.add(node.number);
  node.attrs.write_key(key);
  for (ValueId v : node.inputs) key.add(uint64_t(v.node) << 8 | uint64_t(v.output));
  // A leaf's type is not in its attributes.
  if (node.inputs.empty())
    for (const graph::TensorType& t : node.types) key.add(t.dtype), key.add(t.shape), key.add(t.device);
  return {key.take()};
}

}  // namespace

Module simplify(const Module& module) {
  graph::Rewriter rewrite(module);
  std::unordered_map<Signature, int, SignatureHash> known;
  for (size_t i = 0; i < module.nodes.size(); ++i) {
    rewrite.copy(int(i));
    const ValueId mine = rewrite.map(ValueId{int(i), 0});
    ModuleNode& node = rewrite.out().node(mine);
    if (!node.inputs.empty()) node.inputs[0] = skip_same_view(rewrite.out(), node, node.inputs[0]);
    if (auto same = same_as_input(rewrite.out(), node)) {
      rewrite.replace(int(i), {*same});
      continue;
    }
    if (node.op->barrier) continue;
    auto [it, fresh] = known.try_emplace(signature(node), mine.node);
    if (!fresh) {
      std::vector<ValueId> values;
      for (size_t k = 0; k < node.types.size(); ++k) values.push_back({it->second, int(k)});
      rewrite.replace(int(i), std::move(values));
    }
  }
  return graph::without_dead_nodes(rewrite.finish());
}

}  // namespace stoker::compiler
