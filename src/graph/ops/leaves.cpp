// Values that come from outside of the graph, and values made from numbers.
#include "graph/ops/rows.h"

namespace stoker::graph {

using namespace rows;

namespace {

void leaf(std::string name, std::string doc) {
  Op row{.name = std::move(name), .doc = std::move(doc), .arity = 0, .kind = OpClass::Leaf};
  // Leaves are made with their type; no rule can give it.
  row.infer = [](const InferContext& c) -> std::vector<TensorType> {
    throw std::logic_error("operation '" + c.op.name + "' is never recorded");
  };
  row.flops = no_flops;
  define(std::move(row));
}

std::vector<TensorType> made_type(const InferContext& c) {
  const auto& a = c.get<MakeAttrs>();
  return {{a.dtype, a.shape, a.device}};
}

}  // namespace

void register_leaves() {
  leaf("data", "an evaluated value");
  leaf("scalar", "a host number of the parameter block");
  leaf("constant", "a literal number");

  Op full{.name = "full", .doc = "one number in every element", .kind = OpClass::Elementwise};
  full.infer = made_type;
  full.expr = [](std::span<const Ex> in, const Attrs&) { return in[0]; };
  full.gradient = [](Grad c) { return std::vector{c.dy()}; };
  full.flops = no_flops;
  define(std::move(full));

  Op iota{.name = "iota", .doc = "start + step * (position along the last axis)", .arity = 2};
  iota.infer = made_type;
  define(std::move(iota));
}

}  // namespace stoker::graph
