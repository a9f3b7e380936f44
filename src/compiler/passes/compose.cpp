#include <algorithm>
#include <bit>

#include "compiler/passes.h"
#include "graph/build.h"
#include "graph/ops/attributes.h"
#include "runtime/buffer.h"

namespace stoker::compiler {
namespace {

using graph::OpClass;

backends::StepRequest request_for(const Module& module, const ModuleNode& node) {
  backends::StepRequest request{node.op, node.attrs, {}, {}, node.loc};
  auto dense = [](const graph::TensorType& t) {
    return graph::TensorDesc{t.dtype, t.shape, contiguous_strides(t.shape), 0};
  };
  for (ValueId v : node.inputs) request.inputs.push_back({dense(module.type(v)), is_number(module.node(v))});
  for (const graph::TensorType& t : node.types) request.outputs.push_back(dense(t));
  return request;
}

// Leaves, views and element-wise operations need no kernel of their own.
bool needs_kernel(const ModuleNode& node) {
  return (node.op->kind == OpClass::Kernel && !is_transfer(node)) || node.op->kind == OpClass::Reduction;
}

bool has_kernel(const Module& module, const ModuleNode& node) {
  return runtime::driver(node.types[0].device).supports(request_for(module, node));
}

// A number inside of a composed form follows from the attributes alone, so it is part of the key already.
ModuleNode constant_of(const graph::Node& number) {
  const graph::TensorType& type = number.output(0).type;
  const double value = is_floating(type.dtype) ? std::bit_cast<double>(number.number) : double(int64_t(number.number));
  return {&graph::op("constant"), graph::ConstantAttrs{value, type.dtype}, {}, {type}, {number.loc()}, -1};
}

// Records the composed form on stand-ins of the inputs, and appends what was recorded to `out`.
std::vector<ValueId> append_composed(Module& out, const ModuleNode& node) {
  graph::Recorder::Capture capture;
  graph::GradMode no_recipes(false);
  graph::LocScope line(node.loc);
  std::vector<graph::Value> stand_ins;
  for (ValueId v : node.inputs) stand_ins.push_back(graph::data(out.type(v), make_ref<graph::Storage>()));
  std::vector<graph::Value> results = node.op->compose(stand_ins, node.attrs);
  for (graph::Value& v : results)  // an input handed through is recorded by nobody
    if (std::find(stand_ins.begin(), stand_ins.end(), v) != stand_ins.end()) v = graph::alias(v);
  const graph::Record record = capture.cut();
  const Module inner = graph::module_from_record(record, results, {});

  std::vector<ValueId> of_input;
  for (const graph::Value& v : record.inputs)
    for (size_t i = 0; i < stand_ins.size(); ++i)
      if (stand_ins[i] == v) of_input.push_back(node.inputs[i]);
  std::vector<std::vector<ValueId>> values(inner.nodes.size());
  for (size_t i = 0; i < inner.nodes.size(); ++i) {
    ModuleNode copy = inner.nodes[i];
    if (copy.is("data")) {
      values[i] = {of_input[size_t(copy.number)]};
      continue;
    }
    if (copy.is("scalar")) copy = constant_of(*record.scalars[size_t(copy.number)]);
    copy.loc = node.loc;
    for (ValueId& v : copy.inputs) v = values[size_t(v.node)][size_t(v.output)];
    const int count = int(copy.types.size());
    const int id = out.append(std::move(copy));
    for (int k = 0; k < count; ++k) values[i].push_back({id, k});
  }
  std::vector<ValueId> outputs;
  for (ValueId v : inner.outputs) outputs.push_back(values[size_t(v.node)][size_t(v.output)]);
  return outputs;
}

Module compose_once(const Module& module, bool always, bool& changed) {
  graph::Rewriter rewrite(module);
  for (size_t i = 0; i < module.nodes.size(); ++i) {
    const ModuleNode& node = module.nodes[i];
    if (!needs_kernel(node) || (has_kernel(module, node) && !(always && node.op->compose))) {
      rewrite.copy(int(i));
      continue;
    }
    if (!node.op->compose)
      throw Unsupported(node.op->name,
                        fmt::format("expected an operation that {} can run, got {} of {}; use another dtype or device",
                                    to_string(node.types[0].device), node.op->name, to_string(node.types[0])),
                        node.loc);
    ModuleNode mapped = node;
    mapped.inputs = rewrite.map(node.inputs);
    rewrite.replace(int(i), append_composed(rewrite.out(), mapped));
    changed = true;
  }
  return rewrite.finish();
}

}  // namespace

Module compose(const Module& module, bool always) {
  Module current = module;
  // A composed form may use operations that are composed themselves.
  for (bool changed = true; changed;) {
    changed = false;
    current = compose_once(current, always, changed);
  }
  return current;
}

}  // namespace stoker::compiler
