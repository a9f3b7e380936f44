// A thread's pending work: nodes in the order in which they were recorded, and the exact key of that record, kept while
// recording so that finding a plan costs one hash over it.
#pragma once

#include <mutex>
#include <unordered_map>

#include "graph/node.h"

namespace stoker::graph {

struct Assignment {
  Ref<Cell> cell;
  Value value;
  Value previous;  // what the cell held before the record
};

// What a recorder hands over when it is cut: everything that is needed to plan and run it.
struct Record {
  std::vector<Ref<Node>> nodes;
  std::vector<Value> inputs;            // evaluated values from outside, in order of first use
  std::vector<Ref<Node>> scalars;       // `scalar` leaves: the parameter block, in order of first use
  std::vector<Assignment> assignments;  // one per cell, with its last value
  KeyWriter key;
};

// Evaluates what a recorder holds, or the part of it before a mark; see set_evaluator.
inline constexpr size_t kWholeRecord = ~size_t(0);
void evaluate(Recorder& recorder, size_t mark = kWholeRecord);

class Recorder final : public RefCounted {
 public:
  // The calling thread's recorder.
  static Recorder& current();

  // Appends a node, whose inputs were resolved.
  void add(const Ref<Node>& node);
  void assign(const Ref<Cell>& cell, const Value& value, const Value& previous);
  // Withdraws an assignment that has not been handed over, so that nothing is stored.
  void unassign(const Cell& cell);

  // Takes the record and starts a new one. With a mark, takes only what was recorded before it.
  Record cut();
  Record cut_at(size_t mark);
  // After the first part of a cut_at() has run: writes the key of the rest, to which the first part is now outside.
  void renumber();
  std::vector<Ref<Node>> nodes() const;
  size_t size() const;
  bool empty() const;
  // The evaluator's account of the last record that this thread ran.
  Ref<RefCounted> report;

  // Where the most recent backward() ended in this record.
  void set_mark();
  size_t mark() const;

  // While it lives, this thread records into a recorder of its own, at whose end nothing runs: for looking at what a
  // function would record.
  class Capture {
   public:
    Capture();
    ~Capture();
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    Record cut();

   private:
    Ref<Recorder> previous_;
    bool eager_;
  };

  // A loop that never reaches a step boundary is cut at this many nodes, by the next function that begins.
  static constexpr size_t kMaxNodes = 16384;
  void bound() {
    if (size() >= kMaxNodes) evaluate(*this);
  }

 private:
  void append(const Ref<Node>& node);
  void write_input(const Value& value);

  mutable std::mutex mutex_;
  Record record_;
  std::unordered_map<const Node*, uint32_t> numbers_;  // of inputs and scalars
  size_t mark_ = 0;
};

// The value that an operation recorded now would really read: looks through `read` nodes, repeats views whose result
// was not kept, and evaluates what is pending in other threads. GraphError for a cell's value that an update has
// replaced.
Value resolve(const Value& value);

// Creates a node of `op` with the shapes that its rule gives, and records it. The only way to record an operation.
Ref<Node> record(const Op& op, std::vector<Value> inputs, Attrs attrs = {});
Value record1(const Op& op, std::vector<Value> inputs, Attrs attrs = {});

// Leaves. `data` is an evaluated value; `number` a host number that may change from step to step without a new plan.
Value data(TensorType type, Ref<Storage> storage);
// 0, 1, -1 and 2 become constants, which plans may specialise on.
Value number(double value, DType dtype, Device device);
// A number that is never specialised on: learning rates, and what follows from the step.
Value varying(double value, DType dtype, Device device);
// An integer that is never specialised on: starts of slices, keys of random numbers.
Value integer(int64_t value, Device device);

// The value, or, for a number of the host, a 0-d tensor filled with it: what can be stored.
Value as_tensor(const Value& value);

// How records are evaluated: set once by the room that knows how to plan and run.
using Evaluator = void (*)(Recorder& recorder, size_t mark);
void set_evaluator(Evaluator evaluator);

// --- the line of the program, and modes ------------------------------------------------------------------------------

// While it lives, nodes recorded by this thread carry `loc`; an outer scope wins, so that layers inside a network
// report the line at which the network was called. Likewise errors name the outermost `function`.
class LocScope {
 public:
  explicit LocScope(Loc loc, std::string_view function = {});
  ~LocScope();
  static Loc current();
  static std::string_view function();

 private:
  bool set_line_, set_function_;
};

bool grad_enabled();
void set_grad_enabled(bool on);
// STOKER_EAGER=1 or an anomaly scope: each operation runs as soon as it is recorded.
bool eager();
void set_eager(bool on);
class GradMode {
 public:
  explicit GradMode(bool enabled);
  ~GradMode();

 private:
  bool previous_;
};

}  // namespace stoker::graph
