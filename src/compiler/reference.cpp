#include "compiler/reference.h"

#include "compiler/passes.h"
#include "compiler/planner.h"
#include "graph/ops/attributes.h"

namespace stoker::compiler {
namespace {

DType widened(DType dtype) { return is_floating(dtype) ? DType::F64 : dtype; }

// The module with every floating value in double precision. Inputs and random numbers keep their dtype and are
// converted, because a double draws other numbers.
class Widening {
 public:
  explicit Widening(const Module& module) : module_(module), rewrite_(module) {}

  Module run() {
    for (size_t i = 0; i < module_.nodes.size(); ++i) visit(int(i));
    return rewrite_.finish();
  }

 private:
  void visit(int i) {
    const ModuleNode& node = module_.nodes[size_t(i)];
    if (node.is("data") || node.is("random")) {
      rewrite_.copy(i);
      convert_outputs(i);
    } else if (is_number(node)) {
      ModuleNode number = node;
      number.types[0].dtype = widened(number.types[0].dtype);
      if (node.is("constant"))
        number.attrs = graph::ConstantAttrs{node.attrs.get<graph::ConstantAttrs>().value, number.types[0].dtype};
      rewrite_.replace(i, {{rewrite_.out().append(std::move(number)), 0}});
    } else {
      const ValueId first = rewrite_.out().add(*node.op, rewrite_.map(node.inputs), widened_attrs(node), node.loc);
      std::vector<ValueId> values;
      for (size_t k = 0; k < node.types.size(); ++k) values.push_back({first.node, int(k)});
      rewrite_.replace(i, std::move(values));
    }
  }

  void convert_outputs(int i) {
    const ModuleNode& node = module_.nodes[size_t(i)];
    if (!is_floating(node.types[0].dtype) || node.types[0].dtype == DType::F64) return;
    const ValueId narrow = rewrite_.map(ValueId{i, 0});
    rewrite_.replace(i, {rewrite_.out().add(graph::op("cast"), {narrow}, graph::CastAttrs{DType::F64}, node.loc)});
  }

  static graph::Attrs widened_attrs(const ModuleNode& node) {
    if (const auto* make = node.attrs.get_if<graph::MakeAttrs>())
      return graph::MakeAttrs{widened(make->dtype), make->shape, make->device};
    if (const auto* cast = node.attrs.get_if<graph::CastAttrs>()) return graph::CastAttrs{widened(cast->dtype)};
    return node.attrs;
  }

  const Module& module_;
  graph::Rewriter rewrite_;
};

}  // namespace

std::shared_ptr<runtime::Plan> compile_reference(const graph::Module& module) {
  Module wide = Widening(simplify(module)).run();
  for (const graph::CellStore& cell : wide.cells) wide.outputs.push_back(cell.value);
  wide.cells.clear();
  // An input that is handed back is copied, so that every output has memory of its own.
  wide.home_inputs.assign(size_t(wide.input_count), true);
  return make_plan(fuse(make_contiguous(materialize_numbers(compose(wide, /*always=*/true))), /*max_members=*/1));
}

}  // namespace stoker::compiler
