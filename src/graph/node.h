// Graph room: what is to be computed, and nothing about how. Below it stands only base.
// Nodes record operations; the operation table (op.h) says what each means; the recorder keeps a thread's pending work.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include <stoker/device.h>
#include <stoker/dtype.h>
#include <stoker/error.h>
#include <stoker/shape.h>

#include "base/ref.h"
#include "graph/attrs.h"

namespace stoker::graph {

struct Op;
class Node;
class Cell;
class Recorder;

// The program's line of a node. Plans are replayed for other lines that record the same: then the node's place in the
// record tells which line it is.
struct Line : Loc {
  int recorded = -1;
};

struct TensorType {
  DType dtype = DType::F32;
  Shape shape;
  Device device;
  int64_t elements() const { return numel(shape); }
  int64_t bytes() const { return elements() * int64_t(size_of(dtype)); }
  bool operator==(const TensorType&) const = default;
};
std::string to_string(const TensorType& type);

// Where an evaluated value lives: defined by the runtime, carried by the graph.
class Storage : public RefCounted {};

// One output of a node.
struct Value {
  Ref<Node> node;
  int index = 0;

  Value() = default;
  Value(Ref<Node> n, int i) : node(std::move(n)), index(i) {}
  explicit operator bool() const { return bool(node); }
  bool operator==(const Value&) const = default;
  // Of a temporary Value by value: its node may die with it.
  const TensorType& type() const&;
  TensorType type() && { return static_cast<const Value&>(*this).type(); }
  DType dtype() const { return type().dtype; }
  const Shape& shape() const& { return type().shape; }
  Shape shape() && { return static_cast<const Value&>(*this).type().shape; }
  Device device() const { return type().device; }
  int rank() const { return shape().rank(); }
};

// A Value that somebody outside of the graph can still read: a tensor or a cell. Counted apart from the references
// between nodes, because only what is held must be stored when a plan runs.
class Held {
 public:
  Held() = default;
  explicit Held(Value value);
  Held(const Held& other) : Held(other.value_) {}
  Held(Held&& other) noexcept : value_(std::move(other.value_)) {}
  Held& operator=(Held other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Held();
  const Value& value() const { return value_; }
  explicit operator bool() const { return bool(value_); }

 private:
  Value value_;
};

// How far a node has come.
enum class NodeState : uint8_t {
  Pending,   // recorded, not started
  Computed,  // started or finished; the outputs that were kept have storage
  Failed,    // its record could not run; `failure` says why
};

// One recorded operation. Immutable but for its evaluation state; the storage of its outputs and its state change only
// under evaluation_mutex().
class Node final : public RefCounted {
 public:
  struct Output {
    TensorType type;
    std::atomic<int> handles{0};
    Ref<Storage> storage;
  };

  Node(const Op& op, Attrs attrs, std::vector<Value> inputs, std::vector<TensorType> types, Loc loc);
  ~Node() override;

  const Op& op() const { return *op_; }
  const Attrs& attrs() const { return attrs_; }
  template <class T>
  const T& attrs() const {
    return attrs_.get<T>();
  }
  const std::vector<Value>& inputs() const { return inputs_; }
  int output_count() const { return count_; }
  Output& output(int i) { return outputs_[i]; }
  const Output& output(int i) const { return outputs_[i]; }
  Loc loc() const { return loc_; }
  uint64_t sequence() const { return sequence_; }  // grows with every node of the process: inputs before users

  // Autograd: whether a gradient can flow through this node, and what became of its recipe.
  bool requires_grad = false;
  bool consumed = false;
  // Set on `read` nodes: the cell that was read and its version then.
  Ref<Cell> cell;
  uint64_t cell_version = 0;

  // A host number (operation `scalar`), as plans get it: the bits of a double for floating dtypes, else of an int64.
  // It enters plans through the parameter block, never the key.
  uint64_t number = 0;

  std::atomic<NodeState> state{NodeState::Pending};
  std::exception_ptr failure;
  Ref<Recorder> recorder;     // where it was recorded
  uint32_t record_index = 0;  // its place there while it is pending

  // Forgets the inputs: neither evaluation nor a gradient will ask for them.
  void drop_inputs() { inputs_.clear(); }

 protected:
  void dispose() const override;

 private:
  const Op* op_;
  Attrs attrs_;
  std::vector<Value> inputs_;
  int count_;
  std::unique_ptr<Output[]> outputs_;
  Loc loc_;
  uint64_t sequence_;
};

// A shared variable: parameters, buffers, optimizer state, collected gradients. Its current value changes; its address
// never does.
class Cell final : public RefCounted {
 public:
  // The first value is recorded like an assignment, so that it moves to the cell's own storage.
  static Ref<Cell> create(Value initial, bool requires_grad);

  const TensorType& type() const { return type_; }
  // Empty after forget().
  const Value& current() const { return current_.value(); }
  uint64_t version() const { return version_; }
  bool requires_grad() const { return requires_grad_; }
  void set_requires_grad(bool on) { requires_grad_ = on; }

  // The value for an operation to read: the current one, behind the `read` node that leads gradients to this cell while
  // it requires one. There is one such node per version.
  Value read();
  // Rebinds the cell to a value of its own type; recorded, so that the next plan stores it at `home`.
  void assign(const Value& value);
  // Changes what the cell is (dtype, device, shape) together with its value.
  void reset(const Value& value);
  // Drops the current value and keeps the address: a gradient that was used up.
  void forget();
  // The same value by another node: what evaluation stored at `home`.
  void rebind(const Value& value) { current_ = Held(value); }
  // Undoes assignments of a record that could not run.
  void restore(const Value& value);

  Ref<Storage> home;  // the permanent storage; set by evaluation when the first value arrives there
  std::string name;   // for errors

  // The gradient collected for this cell.
  enum class GradientState : uint8_t { None, Present, UsedUp };
  GradientState gradient_state = GradientState::None;
  Ref<Cell> gradient;  // kept from step to step for its address

 private:
  friend class Node;
  Cell(TensorType type, bool requires_grad) : type_(std::move(type)), requires_grad_(requires_grad) {}

  TensorType type_;
  Held current_;
  uint64_t version_ = 0;
  bool requires_grad_;
  std::mutex mutex_;        // guards reader_
  Node* reader_ = nullptr;  // not owned; its node clears it
};

// The value that a `read` node stands for.
Value behind_reads(const Value& value);

// Guards node states and storages while records are evaluated.
std::recursive_mutex& evaluation_mutex();

}  // namespace stoker::graph
