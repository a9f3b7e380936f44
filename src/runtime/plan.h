// A plan: a step of a program ready to run. Which kernels, in which order, on which addresses; made once by the
// compiler, run many times with other inputs and numbers.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/node.h"
#include "runtime/buffer.h"

namespace stoker::runtime {

// Where an operand lies when the plan runs.
struct Slot {
  enum class Where : uint8_t {
    Arena,    // at `offset` of the arena of device `number`
    Input,    // the plan's input `number`
    Output,   // the plan's output `number`
    Cell,     // the home of the plan's cell `number`
    Scalar,   // the parameter block's `number`: arrives as bits
    Literal,  // `bits`, known when the plan was made
  };
  Where where = Where::Arena;
  int number = 0;
  int64_t offset = 0;  // bytes
  uint64_t bits = 0;
  // Starts of slices that change from run to run: `stride` bytes for each unit of a number of the parameter block.
  struct Term {
    int scalar;
    int64_t stride;
  };
  std::vector<Term> terms;
};

struct PlanStep {
  std::unique_ptr<backends::Kernel> kernel;
  std::vector<Slot> inputs, outputs;
  std::string label;
  graph::Line loc;
  int64_t bytes_moved = 0;
  double flops = 0;
};

// A run of steps on one device.
struct Segment {
  int device = 0;           // index into Plan::devices
  int first = 0, last = 0;  // steps [first, last)
  std::vector<int> after;   // segments of other devices that must be done
};

struct Plan {
  std::vector<uint64_t> key;
  std::vector<Device> devices;
  std::vector<int64_t> arena_bytes;    // per device, without scratch
  std::vector<int64_t> scratch_bytes;  // per device; lies behind the arena
  std::vector<PlanStep> steps;
  std::vector<Segment> segments;

  struct Output {
    graph::TensorType type;
    int same_as_input = -1;   // the very value of an input: nothing is stored
    int same_as_output = -1;  // or of an earlier output
    int segment = -1;         // that stores it,
    int step = -1;            // and in it which step
    std::string_view producer;
    graph::Line loc;
  };
  std::vector<Output> outputs;
  struct CellSlot {
    graph::TensorType type;
    int segment = -1;
    int step = -1;
  };
  std::vector<CellSlot> cells;
  std::vector<graph::TensorType> inputs;
  // What was recorded, to say how a new plan differs.
  struct Note {
    const graph::Op* op;
    graph::TensorType type;
    Loc loc;
  };
  std::vector<Note> notes;

  int64_t output_bytes() const;     // as the allocator rounds them
  int64_t predicted_bytes() const;  // everything that run() takes from allocators, but for cells without a home
  int64_t bytes_moved() const;
  double flops() const;
  int64_t size_in_memory() const;  // a rough figure for the cache's bound
};

struct RunRequest {
  std::vector<Ref<Buffer>> inputs;
  std::vector<uint64_t> scalars;
  std::vector<Ref<Buffer>> homes;  // of the cells; an empty one is allocated
  std::vector<Loc> lines;          // of the record's nodes
};
struct RunResult {
  std::vector<Ref<Buffer>> outputs;
  std::vector<Ref<Buffer>> homes;
};

// Reserves all memory, then starts the plan. OutOfMemory leaves everything as it was.
RunResult run(const std::shared_ptr<const Plan>& plan, const RunRequest& request);

// The kernel of `transfer`: copies a dense value from another device.
std::unique_ptr<backends::Kernel> make_transfer(Device from, const graph::TensorType& to);

// Starts a copy of a buffer into a new one on the same device.
Ref<Buffer> copy(const Ref<Buffer>& source);

// Finished plans by key, least recently used ones dropped beyond a bound of bytes.
class PlanCache {
 public:
  static PlanCache& instance();
  // nullptr where no plan has that very key.
  std::shared_ptr<const Plan> find(const std::vector<uint64_t>& key);
  void insert(std::shared_ptr<const Plan> plan);
  void clear();
  int64_t size() const;

  static constexpr int64_t kMaxBytes = int64_t(256) << 20;

 private:
  struct Entry {
    std::shared_ptr<const Plan> plan;
    uint64_t used;
  };
  void drop_oldest();

  mutable std::mutex mutex_;
  std::unordered_multimap<uint64_t, Entry> entries_;
  int64_t bytes_ = 0;
  uint64_t clock_ = 0;
};

}  // namespace stoker::runtime
