// Operations about the graph itself: copies between devices, fused groups, custom gradients.
#include "graph/ops/custom.h"
#include "graph/ops/rows.h"
#include "graph/program.h"

namespace stoker::graph {

using namespace rows;

namespace {

std::vector<Value> custom_gradient(Grad c) {
  const std::vector<Value> inputs(c.node.inputs().begin() + 1, c.node.inputs().end());
  std::vector<Value> out = c.get<CustomGradientAttrs>().gradient(c.dy(), inputs, c.in(0));
  out.insert(out.begin(), Value());
  return out;
}

}  // namespace

void register_special() {
  define({.name = "transfer",
          .doc = "a copy on another device",
          .infer =
              [](const InferContext& c) {
                return std::vector{TensorType{c.in(0).dtype, c.in(0).shape, c.get<TransferAttrs>().device}};
              },
          .gradient = [](Grad c) { return std::vector{transfer(c.dy(), c.in(0).device())}; },
          .flops = no_flops});
  define({.name = "fused",
          .doc = "element-wise operations and row reductions in one kernel; made by the compiler",
          .arity = -1,
          .infer = [](const InferContext& c) { return c.get<FusedAttrs>().types; }});
  define({.name = "with_gradient",
          .doc = "the first input, with a gradient of its own for the others",
          .arity = -1,
          .kind = OpClass::View,
          .infer = same_type,
          .gradient = custom_gradient,
          .saves = Saves::all_inputs(),
          .view = [](const TensorDesc& x, const Attrs&) { return std::optional(x); },
          .flops = no_flops});
}

}  // namespace stoker::graph
