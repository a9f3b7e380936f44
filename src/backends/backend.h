// Backends room: how devices are driven. The interface fits devices with their own memory and asynchronous queues;
// a CPU is one of them. A backend knows graph's vocabulary (operations, types, programs) and nothing above it.
//
//   Backend   a kind of device: counts them, opens them. Registers itself (see register_backend).
//   Driver    one opened device: memory, an in-order queue, kernels.
//   Kernel    one step, lowered for fixed shapes; launched many times with different addresses.
//
// A backend is one folder below this one and one registration; nothing else names it.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <stoker/device.h>

#include "graph/op.h"

namespace stoker::backends {

// A place in a device's memory: what allocate() returned, and bytes from there.
struct Address {
  void* base = nullptr;
  int64_t offset = 0;
};

// What a kernel is given for one input: memory, or, where the step's input is a number of the parameter block, its bits
// (a double for floating dtypes, an int64 for the others).
struct Operand {
  Address address;
  uint64_t bits = 0;
};

struct Launch {
  std::span<const Operand> inputs;
  std::span<const Address> outputs;
  Address scratch;  // of Kernel::scratch_bytes()
  Loc loc;          // the program's line, for errors: a plan may be replayed for another line than it was made at
};

// One operation of a plan, with everything that is known before it runs.
struct StepRequest {
  const graph::Op* op = nullptr;
  graph::Attrs attrs;
  struct Input {
    graph::TensorDesc desc;
    bool scalar = false;  // arrives as Operand::bits
  };
  std::vector<Input> inputs;
  std::vector<graph::TensorDesc> outputs;  // always contiguous
  Loc loc;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual int64_t scratch_bytes() const { return 0; }
  // Puts the work on the device's queue. A CPU does it at once, on the queue's own thread.
  virtual void launch(const Launch& launch) = 0;
  // The implementation chosen: "jit:avx2", "portable", ...
  virtual std::string describe() const = 0;
};

// Counts submissions of one device: everything up to a ticket is finished before anything after it starts.
using Ticket = uint64_t;

// Where a batch that failed leaves its cause; valid once its ticket is done. Steps before `failed_step` were done,
// later ones never began.
struct Completion {
  std::exception_ptr error;
  int failed_step = 0;
  std::vector<std::exception_ptr> lost;  // for each of Batch::homes: why it had no value before the batch, or null
};

// Which step wrote a piece of memory.
struct Origin {
  std::shared_ptr<Completion> completion;
  int step = 0;
  int home = -1;  // its place in Batch::homes: a step that never began left the value before it there
  // Why there is no value, or null.
  std::exception_ptr failure() const {
    if (!completion || !completion->error || step < completion->failed_step) return nullptr;
    return home >= 0 && step > completion->failed_step ? completion->lost[size_t(home)] : completion->error;
  }
};

struct Batch {
  struct Step {
    Kernel* kernel;
    std::vector<Operand> inputs;
    std::vector<Address> outputs;
    Address scratch;
    Loc loc;
    std::string_view label;
  };
  std::vector<Step> steps;
  // Submissions of other devices that must be done first.
  std::vector<std::pair<class Driver*, Ticket>> after;
  // Where the batch's inputs come from: if one of these failed, so does the batch, with the same error, and no step
  // runs.
  std::vector<Origin> inputs_from;
  // Where the old values come from that its steps store over.
  std::vector<Origin> homes;
  int first_step = 0;  // the number of steps[0] in the whole plan
  // Kept alive until the batch is done.
  std::vector<std::shared_ptr<const void>> keep;
  std::shared_ptr<Completion> completion;
};

class Driver {
 public:
  virtual ~Driver() = default;

  virtual Device device() const = 0;
  virtual DeviceProperties properties() const = 0;

  // Raw memory, aligned for any kernel; nullptr when the device has no more. Never called while a kernel runs that
  // was given the same memory; the runtime's allocator sees to that.
  virtual void* allocate(int64_t bytes) = 0;
  virtual void release(void* base) = 0;

  // Whether lower() has a kernel of this device for the request, and, if so, whether it wants its inputs contiguous.
  virtual bool supports(const StepRequest& request) const = 0;
  // Throws Unsupported, or ShapeError / DTypeError with the request's line.
  virtual std::unique_ptr<Kernel> lower(const StepRequest& request) = 0;

  // Starts a batch after everything submitted before it. Steps run in order; the first error is stored in `completion`,
  // with the number of its step, and ends the batch.
  virtual Ticket submit(Batch batch) = 0;
  virtual Ticket submitted() const = 0;
  virtual Ticket completed() const = 0;
  // Blocks until `ticket` is done.
  virtual void wait(Ticket ticket) = 0;

  // Host copies, ordered like submissions. upload() may return before the copy is done only if it has taken its own
  // copy of the source; download() returns when the bytes are there.
  virtual void upload(Address to, const void* from, int64_t bytes) = 0;
  virtual void download(void* to, Address from, int64_t bytes) = 0;
  // The address as host memory, or nullptr where the host cannot see it.
  virtual void* host_pointer(Address address) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string kind() const = 0;
  // How many devices of this kind can be used; 0 where the driver is missing. Never throws.
  virtual int count() const = 0;
  // False for a device that only plans: it is there for who names it, and not listed.
  virtual bool computes() const { return true; }
  virtual std::unique_ptr<Driver> open(int index) = 0;
};

void register_backend(std::unique_ptr<Backend> backend);
// Every registered backend, the CPU first.
std::vector<Backend*> all_backends();
// nullptr where no backend of that kind is built in.
Backend* find_backend(std::string_view kind);

}  // namespace stoker::backends
