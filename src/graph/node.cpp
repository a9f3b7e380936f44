#include "graph/node.h"

#include "graph/op.h"
#include "graph/recorder.h"

namespace stoker::graph {
namespace {
std::atomic<uint64_t> next_sequence{1};
}

std::string to_string(const TensorType& type) {
  return fmt::format("{}{}@{}", name_of(type.dtype), to_string(type.shape), to_string(type.device));
}

std::recursive_mutex& evaluation_mutex() {
  static auto* mutex = new std::recursive_mutex;  // nodes may die after every static
  return *mutex;
}

const TensorType& Value::type() const& { return node->output(index).type; }

Held::Held(Value value) : value_(std::move(value)) {
  if (value_) value_.node->output(value_.index).handles.fetch_add(1, std::memory_order_relaxed);
}

Held::~Held() {
  if (value_) value_.node->output(value_.index).handles.fetch_sub(1, std::memory_order_relaxed);
}

Node::Node(const Op& op, Attrs attrs, std::vector<Value> inputs, std::vector<TensorType> types, Loc loc)
    : op_(&op),
      attrs_(std::move(attrs)),
      inputs_(std::move(inputs)),
      count_(int(types.size())),
      outputs_(new Output[types.size()]),
      loc_(loc),
      sequence_(next_sequence.fetch_add(1, std::memory_order_relaxed)) {
  for (int i = 0; i < count_; ++i) outputs_[i].type = std::move(types[size_t(i)]);
}

Node::~Node() {
  if (!cell) return;
  std::lock_guard lock(cell->mutex_);
  if (cell->reader_ == this) cell->reader_ = nullptr;
}

// A chain of a hundred thousand nodes dies from a list, not from a hundred thousand nested destructors.
void Node::dispose() const {
  static thread_local std::vector<const Node*>* dying = nullptr;
  if (dying) {
    dying->push_back(this);
    return;
  }
  std::vector<const Node*> list{this};
  dying = &list;
  while (!list.empty()) {
    const Node* node = list.back();
    list.pop_back();
    delete node;
  }
  dying = nullptr;
}

Value behind_reads(const Value& value) {
  Value v = value;
  while (v.node->cell) v = v.node->inputs()[0];
  return v;
}

// --- cells -----------------------------------------------------------------------------------------------------------

Ref<Cell> Cell::create(Value initial, bool requires_grad) {
  Ref<Cell> cell(new Cell(initial.type(), requires_grad));
  cell->assign(initial);
  return cell;
}

Value Cell::read() {
  if (!requires_grad_ || !grad_enabled()) return current();
  std::lock_guard lock(mutex_);
  if (reader_ && reader_->cell_version == version_ && reader_->try_retain()) {
    Ref<Node> node(reader_);
    reader_->release();
    return Value(node, 0);
  }
  auto node = make_ref<Node>(op("read"), Attrs{}, std::vector<Value>{current()}, std::vector<TensorType>{type_},
                             LocScope::current());
  node->state = NodeState::Computed;
  node->requires_grad = true;
  node->cell = Ref<Cell>(this);
  node->cell_version = version_;
  reader_ = node.get();
  return Value(node, 0);
}

void Cell::assign(const Value& value) {
  if (value.dtype() != type_.dtype || !(value.shape() == type_.shape) || value.device() != type_.device)
    throw ValueError("assign",
                     fmt::format("expected a value like the cell's {}, got {}; convert it first", to_string(type_),
                                 to_string(value.type())),
                     LocScope::current());
  const Value resolved = as_tensor(resolve(value));
  const Value previous = current();
  current_ = Held(resolved);
  ++version_;
  Recorder::current().assign(Ref<Cell>(this), resolved, previous);
}

void Cell::reset(const Value& value) {
  Recorder::current().unassign(*this);
  home = {};
  gradient = {};
  gradient_state = GradientState::None;
  type_ = value.type();
  current_ = {};
  assign(value);
}

void Cell::forget() {
  Recorder::current().unassign(*this);
  current_ = {};
  ++version_;
}

void Cell::restore(const Value& value) {
  current_ = value ? Held(value) : Held();
  ++version_;
}

}  // namespace stoker::graph
