#include "graph/gradient.h"

#include <map>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "graph/build.h"
#include "graph/recorder.h"

namespace stoker::graph {
namespace {

// Where a view comes from.
const Node& base_of(const Value& value) {
  const Node* node = value.node.get();
  while (node->op().kind == OpClass::View && !node->cell && !node->inputs().empty())
    node = node->inputs()[0].node.get();
  return *node;
}

// A gradient that reads a cell's value needs the value that the forward pass saw.
void check_versions(const Node& node) {
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    if (!gradient_reads(node, int(i))) continue;
    const Node& base = base_of(node.inputs()[i]);
    if (base.cell && base.cell->version() != base.cell_version)
      throw GraphError(
          "backward",
          fmt::format("expected {} as the forward pass saw it for the gradient of {}, but it was updated since; call "
                      "backward() before the update, or run the forward pass again",
                      base.cell->name.empty() ? "a cell" : "'" + base.cell->name + "'", node.op().name),
          node.loc());
  }
}

void check_not_consumed(const Node& node, Loc loc) {
  if (node.consumed)
    throw GraphError(
        "backward",
        fmt::format("expected a recipe that was not used, but an earlier backward() used up that of {} recorded at {}; "
                    "pass {{.retain_graph = true}} to the first backward()",
                    node.op().name, node.loc() ? to_string(node.loc()) : "an unknown line"),
        loc);
}

class Sweep {
 public:
  Sweep(SweepOptions options, Loc loc) : options_(options), loc_(loc) {
    options_.retain_graph |= options_.create_graph;
  }

  // A value whose gradient is wanted; `stop`: nothing behind it is visited.
  void want(const Value& value, bool stop) {
    wanted_[value.node.get()].push_back(value);
    if (stop) stops_.insert(value.node.get());
  }

  void seed(const Value& output, const Value& gradient) { accumulate(output, gradient); }

  // The cells behind the seeded values.
  std::vector<Cell*> cells() const {
    std::vector<Cell*> found;
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> stack;
    for (const auto& [node, grads] : gradients_) stack.push_back(node);
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      if (!node->requires_grad || !seen.insert(node).second) continue;
      if (node->cell)
        found.push_back(node->cell.get());
      else
        for (const Value& v : node->inputs()) stack.push_back(v.node.get());
    }
    return found;
  }

  void run() {
    GradMode mode(options_.create_graph);
    while (!queue_.empty()) {
      const Ref<Node> node = queue_.top().node;
      queue_.pop();
      std::vector<Value> dys = std::move(gradients_[node.get()]);
      gradients_.erase(node.get());
      collect(*node, dys);
      if (node->cell || stops_.count(node.get())) continue;
      step(*node, dys);
      visited_.push_back(node);
    }
    if (options_.retain_graph) return;
    for (const Ref<Node>& node : visited_) {
      node->consumed = true;
      if (node->state == NodeState::Computed) node->drop_inputs();
    }
  }

  // Gradients that reached cells, in the order in which they were first reached.
  const std::vector<std::pair<Ref<Cell>, Value>>& cell_gradients() const { return cell_gradients_; }
  Value gradient_of(const Value& value) const {
    if (value.node->cell) {
      for (const auto& [cell, g] : cell_gradients_)
        if (cell == value.node->cell) return g;
      return {};
    }
    for (const auto& [v, g] : found_)
      if (v == value) return g;
    return {};
  }

 private:
  struct Entry {
    Ref<Node> node;
    bool operator<(const Entry& o) const { return node->sequence() < o.node->sequence(); }
  };

  void accumulate(const Value& target, Value gradient) {
    Node& node = *target.node;
    if (!node.requires_grad && !stops_.count(&node)) return;
    if (!(gradient.shape() == target.shape())) gradient = sum_to(gradient, target.shape());
    if (gradient.dtype() != target.dtype()) gradient = cast(gradient, target.dtype());
    auto [it, fresh] = gradients_.try_emplace(&node, std::vector<Value>(size_t(node.output_count())));
    if (fresh) queue_.push({target.node});
    Value& slot = it->second[size_t(target.index)];
    slot = slot ? add(slot, gradient) : gradient;
  }

  void collect(const Node& node, const std::vector<Value>& dys) {
    if (node.cell) {
      for (auto& [cell, g] : cell_gradients_)
        if (cell == node.cell) {
          g = add(g, dys[0]);
          return;
        }
      cell_gradients_.emplace_back(node.cell, dys[0]);
      return;
    }
    if (auto it = wanted_.find(&node); it != wanted_.end())
      for (const Value& v : it->second)
        if (dys[size_t(v.index)]) found_.emplace_back(v, dys[size_t(v.index)]);
  }

  void step(const Node& node, const std::vector<Value>& dys) {
    if (!node.op().gradient) return;
    check_not_consumed(node, loc_);
    check_versions(node);
    LocScope line(node.loc());
    const std::vector<Value> results = node.op().gradient({node, dys});
    for (size_t i = 0; i < results.size() && i < node.inputs().size(); ++i)
      if (results[i]) accumulate(node.inputs()[i], results[i]);
  }

  SweepOptions options_;
  Loc loc_;
  std::priority_queue<Entry> queue_;
  std::unordered_map<const Node*, std::vector<Value>> gradients_;
  std::unordered_map<const Node*, std::vector<Value>> wanted_;
  std::unordered_set<const Node*> stops_;
  std::vector<std::pair<Ref<Cell>, Value>> cell_gradients_;
  std::vector<std::pair<Value, Value>> found_;
  std::vector<Ref<Node>> visited_;
};

void check_seed(const Value& output, const Value& gradient, std::string_view operation, Loc loc) {
  if (!output.node->requires_grad)
    throw GraphError(
        operation,
        "expected a tensor that was computed from one that requires a gradient, got one without a recipe; call "
        "requires_grad_() on what it is computed from, and compute it outside of NoGrad",
        loc);
  if (!(gradient.shape() == output.shape()))
    throw ShapeError(
        operation,
        fmt::format("expected a gradient of shape {}, got {}", to_string(output.shape()), to_string(gradient.shape())),
        loc);
}

bool waits_here(const Cell& gradient) {
  const Node& node = *gradient.current().node;
  return node.state == NodeState::Pending && node.recorder.get() == &Recorder::current();
}

void add_to_cell(Cell& cell, const Value& gradient) {
  // The sum would lack the part that step() used up: whoever wants it is told so, and whoever clears it first never
  // notices.
  if (cell.gradient_state == Cell::GradientState::UsedUp) return;
  Value total = gradient;
  if (cell.gradient_state == Cell::GradientState::Present) total = add(cell.gradient->current(), gradient);
  if (cell.gradient)
    cell.gradient->assign(total);
  else
    cell.gradient = Cell::create(total, false);
  cell.gradient_state = Cell::GradientState::Present;
}

}  // namespace

void backward(const Value& output, const Value& gradient, SweepOptions options, Loc loc) {
  check_seed(output, gradient, "backward", loc);
  Sweep sweep(options, loc);
  sweep.seed(output, gradient);
  bool earlier_waits = false;
  for (Cell* cell : sweep.cells())
    earlier_waits |= cell->gradient_state == Cell::GradientState::Present && waits_here(*cell->gradient);
  if (earlier_waits) evaluate(Recorder::current(), Recorder::current().mark());
  sweep.run();
  GradMode mode(options.create_graph);
  for (const auto& [cell, g] : sweep.cell_gradients()) add_to_cell(*cell, g);
  Recorder::current().set_mark();
}

std::vector<Value> gradients(std::span<const Value> outputs, std::span<const Value> output_gradients,
                             std::span<const Value> inputs, SweepOptions options, Loc loc) {
  Sweep sweep(options, loc);
  for (const Value& v : inputs) sweep.want(v, false);
  for (size_t i = 0; i < outputs.size(); ++i) {
    check_seed(outputs[i], output_gradients[i], "grad", loc);
    sweep.seed(outputs[i], output_gradients[i]);
  }
  sweep.run();
  std::vector<Value> results;
  for (const Value& v : inputs) results.push_back(sweep.gradient_of(v));
  return results;
}

std::vector<Value> gradient_of_composed(const GradContext& context) {
  const Node& node = context.node;
  // Fresh stand-ins for the inputs end the walk there, whatever they were computed from.
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  {
    GradMode on(true);
    for (const Value& v : node.inputs()) {
      Value stand_in = record1(op("alias"), {v});
      inputs.push_back(stand_in);
    }
    outputs = node.op().compose(inputs, node.attrs());
  }
  Sweep sweep({.retain_graph = true, .create_graph = grad_enabled()}, node.loc());
  for (const Value& v : inputs) sweep.want(v, true);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (context.output_gradients[i] && outputs[i].node->requires_grad)
      sweep.seed(outputs[i], context.output_gradients[i]);
  sweep.run();
  std::vector<Value> results;
  for (const Value& v : inputs) results.push_back(sweep.gradient_of(v));
  return results;
}

}  // namespace stoker::graph
