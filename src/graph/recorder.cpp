#include "graph/recorder.h"

#include <cstdlib>
#include <thread>

#include "graph/op.h"
#include "graph/ops/attributes.h"

namespace stoker::graph {
namespace {

thread_local Loc current_loc;
thread_local std::string_view current_function;
thread_local bool grad_on = true;
thread_local bool eager_on = [] {
  const char* text = std::getenv("STOKER_EAGER");
  return text && std::string_view(text) == "1";
}();
Evaluator evaluator = nullptr;

const Op& scalar_op() {
  static const Op& row = op("scalar");
  return row;
}
const Op& constant_op() {
  static const Op& row = op("constant");
  return row;
}
bool is_number(const Node& node) { return &node.op() == &scalar_op() || &node.op() == &constant_op(); }
bool is_leaf(const Node& node) { return node.op().kind == OpClass::Leaf; }

// A thread that ends leaves its work to whoever holds it: it is started, and errors wait with the values.
struct ThreadRecorder {
  Ref<Recorder> recorder = make_ref<Recorder>();
  bool main = std::this_thread::get_id() == main_thread();
  ~ThreadRecorder() {
    if (recorder->empty()) return;
    if (main) {
      (void)recorder->cut();  // nobody will ask any more
      return;
    }
    try {
      evaluate(*recorder);
    } catch (...) {  // NOLINT: the failed nodes carry it
    }
  }
  static std::thread::id main_thread() {
    static const std::thread::id id = std::this_thread::get_id();
    return id;
  }
};
const auto main_thread_known = ThreadRecorder::main_thread();

Ref<Recorder>& current_recorder() {
  thread_local ThreadRecorder own;
  return own.recorder;
}

}  // namespace

Recorder& Recorder::current() { return *current_recorder(); }

Recorder::Capture::Capture() : previous_(current_recorder()), eager_(eager_on) {
  current_recorder() = make_ref<Recorder>();
  eager_on = false;
}
Recorder::Capture::~Capture() {
  current_recorder() = previous_;
  eager_on = eager_;
}
Record Recorder::Capture::cut() { return current_recorder()->cut(); }

void Recorder::write_input(const Value& value) {
  Node& node = *value.node;
  KeyWriter& key = record_.key;
  if (node.state == NodeState::Pending && !is_leaf(node)) {
    key.add(uint64_t(node.record_index) << 8 | uint64_t(value.index) << 2 | 1);
    return;
  }
  if (&node.op() == &constant_op()) {
    key.add(uint64_t(2));
    node.attrs().write_key(key);
    return;
  }
  const bool scalar = &node.op() == &scalar_op();
  // One node may be read at several outputs; each is an input of its own.
  uint32_t number = 0;
  bool fresh = false;
  if (scalar) {
    auto [it, inserted] = numbers_.try_emplace(&node, uint32_t(record_.scalars.size()));
    number = it->second, fresh = inserted;
    if (fresh) record_.scalars.push_back(value.node);
  } else {
    auto it = numbers_.find(&node);
    number = it == numbers_.end() ? uint32_t(record_.inputs.size()) : it->second;
    while (number < record_.inputs.size() && !(record_.inputs[number] == value)) ++number;
    fresh = number == record_.inputs.size();
    if (fresh) record_.inputs.push_back(value);
    if (it == numbers_.end()) numbers_.emplace(&node, number);
  }
  key.add(uint64_t(number) << 8 | (scalar ? 3 : 0) | uint64_t(fresh) << 4);
  if (fresh) {
    const TensorType& type = value.type();
    key.add(type.dtype);
    key.add(type.shape);
    key.add(type.device);
  }
}

void Recorder::append(const Ref<Node>& node) {
  node->record_index = uint32_t(record_.nodes.size());
  record_.nodes.push_back(node);
  KeyWriter& key = record_.key;
  key.add(static_cast<const void*>(&node->op()));
  node->attrs().write_key(key);
  key.add(uint64_t(node->inputs().size()));
  for (const Value& input : node->inputs()) write_input(behind_reads(input));
}

void Recorder::add(const Ref<Node>& node) {
  {
    std::lock_guard lock(mutex_);
    node->recorder = Ref<Recorder>(this);
    append(node);
  }
  if (eager_on) evaluate(*this);
}

void Recorder::assign(const Ref<Cell>& cell, const Value& value, const Value& previous) {
  {
    std::lock_guard lock(mutex_);
    for (Assignment& a : record_.assignments)
      if (a.cell == cell) {
        a.value = value;
        return;
      }
    record_.assignments.push_back({cell, value, previous});
  }
  if (eager_on) evaluate(*this);
}

void Recorder::unassign(const Cell& cell) {
  std::lock_guard lock(mutex_);
  std::erase_if(record_.assignments, [&](const Assignment& a) { return a.cell.get() == &cell; });
}

Record Recorder::cut() {
  std::lock_guard lock(mutex_);
  Record taken = std::move(record_);
  record_ = {};
  numbers_.clear();
  mark_ = 0;
  return taken;
}

Record Recorder::cut_at(size_t mark) {
  std::lock_guard lock(mutex_);
  Record whole = std::move(record_);
  record_ = {};
  numbers_.clear();
  mark_ = 0;
  if (mark >= whole.nodes.size()) return whole;
  // The part before the mark is written anew, because its inputs and numbers are its own; then the rest.
  std::vector<Assignment> later;
  for (size_t i = 0; i < mark; ++i) append(whole.nodes[i]);
  for (Assignment& a : whole.assignments) {
    const Node& node = *a.value.node;
    const bool before = node.state != NodeState::Pending || node.record_index < mark;
    (before ? record_.assignments : later).push_back(std::move(a));
  }
  Record first = std::move(record_);
  record_ = {};
  numbers_.clear();
  record_.nodes.assign(whole.nodes.begin() + int64_t(mark), whole.nodes.end());
  record_.assignments = std::move(later);
  return first;
}

void Recorder::renumber() {
  std::lock_guard lock(mutex_);
  std::vector<Ref<Node>> nodes = std::move(record_.nodes);
  std::vector<Assignment> assignments = std::move(record_.assignments);
  record_ = {};
  numbers_.clear();
  for (const Ref<Node>& node : nodes) append(node);
  record_.assignments = std::move(assignments);
}

std::vector<Ref<Node>> Recorder::nodes() const {
  std::lock_guard lock(mutex_);
  return record_.nodes;
}

size_t Recorder::size() const {
  std::lock_guard lock(mutex_);
  return record_.nodes.size();
}

void Recorder::set_mark() {
  std::lock_guard lock(mutex_);
  mark_ = record_.nodes.size();
}

size_t Recorder::mark() const {
  std::lock_guard lock(mutex_);
  return mark_;
}

bool Recorder::empty() const {
  std::lock_guard lock(mutex_);
  return record_.nodes.empty() && record_.assignments.empty();
}

// --- resolving and recording -----------------------------------------------------------------------------------------

Value resolve(const Value& value) {
  const Value v = behind_reads(value);
  Node& node = *v.node;
  if (is_leaf(node)) return v;
  if (node.state == NodeState::Pending && node.recorder.get() != &Recorder::current()) evaluate(*node.recorder);
  if (node.state == NodeState::Pending) return v;
  if (node.state == NodeState::Failed) std::rethrow_exception(node.failure);
  std::lock_guard lock(evaluation_mutex());
  if (node.output(v.index).storage) return v;
  if (node.op().kind == OpClass::View && !node.inputs().empty()) {
    GradMode off(false);
    return record1(node.op(), {node.inputs().begin(), node.inputs().end()}, node.attrs());
  }
  throw GraphError(
      node.op().name,
      "expected a value that is still there, but the cell that held it was updated since (or its recipe was used up); "
      "run the forward pass again after the update",
      LocScope::current() ? LocScope::current() : node.loc());
}

namespace {

void check_devices(std::string_view name, const std::vector<Value>& inputs, Loc loc) {
  const Value* first = nullptr;
  for (const Value& v : inputs) {
    if (is_number(*v.node)) continue;  // numbers of the host are everywhere
    if (!first)
      first = &v;
    else if (v.device() != first->device())
      throw DeviceError(name,
                        fmt::format("expected inputs on one device, got {} and {}; move one of them with .to(device)",
                                    to_string(first->device()), to_string(v.device())),
                        loc);
  }
}

}  // namespace

Ref<Node> record(const Op& op, std::vector<Value> inputs, Attrs attrs) {
  const Loc loc = LocScope::current();
  const std::string_view name = LocScope::function().empty() ? op.name : LocScope::function();
  check_devices(name, inputs, loc);
  std::vector<TensorType> types;
  types.reserve(inputs.size());
  for (const Value& v : inputs) types.push_back(v.type());
  std::vector<TensorType> results = op.infer({op, types, attrs, loc, name});
  for (const TensorType& t : results)
    numel(t.shape, name, loc);  // more than 63 bits can count is an error before anything is recorded

  bool requires_grad = false;
  if (grad_on && op.gradient)
    for (const Value& v : inputs) requires_grad |= v.node->requires_grad;
  if (requires_grad) {
    requires_grad = false;
    for (const TensorType& t : results) requires_grad |= is_floating(t.dtype);
  }
  // A `read` input stays in the node, because gradients find their cell through it; what is computed reads behind it.
  for (Value& v : inputs) {
    if (v.node->cell)
      resolve(v);
    else
      v = [&] {
        Value r = resolve(v);
        if (!(r == v)) r.node->requires_grad = v.node->requires_grad;
        return r;
      }();
  }
  auto node = make_ref<Node>(op, std::move(attrs), std::move(inputs), std::move(results), loc);
  node->requires_grad = requires_grad;
  Recorder::current().add(node);
  return node;
}

Value record1(const Op& op, std::vector<Value> inputs, Attrs attrs) {
  return Value(record(op, std::move(inputs), std::move(attrs)), 0);
}

// --- leaves ----------------------------------------------------------------------------------------------------------

Value data(TensorType type, Ref<Storage> storage) {
  auto node = make_ref<Node>(op("data"), Attrs{}, std::vector<Value>{}, std::vector<TensorType>{std::move(type)},
                             LocScope::current());
  node->output(0).storage = std::move(storage);
  node->state = NodeState::Computed;
  return Value(node, 0);
}

namespace {

Value leaf(const Op& row, uint64_t bits, DType dtype, Device device, Attrs attrs) {
  auto node = make_ref<Node>(row, std::move(attrs), std::vector<Value>{}, std::vector<TensorType>{{dtype, {}, device}},
                             LocScope::current());
  node->number = bits;
  node->state = NodeState::Computed;
  return Value(node, 0);
}

}  // namespace

Value varying(double value, DType dtype, Device device) {
  const uint64_t bits = is_floating(dtype) ? std::bit_cast<uint64_t>(value) : uint64_t(int64_t(value));
  return leaf(scalar_op(), bits, dtype, device, {});
}

Value number(double value, DType dtype, Device device) {
  const Value v = varying(value, dtype, device);
  const bool special = value == 1 || value == -1 || value == 2 || std::bit_cast<uint64_t>(value) == 0;
  return special ? leaf(constant_op(), v.node->number, dtype, device, ConstantAttrs{value, dtype}) : v;
}

Value integer(int64_t value, Device device) { return leaf(scalar_op(), uint64_t(value), DType::I64, device, {}); }

Value as_tensor(const Value& value) {
  if (!is_number(*value.node)) return value;
  const TensorType type = value.type();
  return record1(op("full"), {value}, MakeAttrs{type.dtype, type.shape, type.device});
}

// --- evaluation, lines, modes ----------------------------------------------------------------------------------------

void set_evaluator(Evaluator e) { evaluator = e; }

void evaluate(Recorder& recorder, size_t mark) {
  if (!evaluator) throw std::logic_error("graph: no evaluator was set");
  evaluator(recorder, mark);
}

LocScope::LocScope(Loc loc, std::string_view function)
    : set_line_(!current_loc && loc), set_function_(current_function.empty()) {
  if (set_line_) current_loc = loc;
  if (set_function_) current_function = function;
}
LocScope::~LocScope() {
  if (set_line_) current_loc = {};
  if (set_function_) current_function = {};
}
Loc LocScope::current() { return current_loc; }
std::string_view LocScope::function() { return current_function; }

bool grad_enabled() { return grad_on; }
void set_grad_enabled(bool on) { grad_on = on; }
bool eager() { return eager_on; }
void set_eager(bool on) { eager_on = on; }

GradMode::GradMode(bool enabled) : previous_(grad_on) { grad_on = enabled; }
GradMode::~GradMode() { grad_on = previous_; }

}  // namespace stoker::graph
