// The null device: plans everything, computes nothing. Its memory is numbers without bytes, so a step's plan, its bytes
// and its FLOPs can be had for a device that is not there. Reading a value from it is an error.
#include <atomic>

#include "backends/backend.h"

namespace stoker::backends {
namespace {

class NullKernel final : public Kernel {
 public:
  void launch(const Launch&) override {}
  std::string describe() const override { return "null"; }
};

class NullDriver final : public Driver {
 public:
  Device device() const override { return Device("null", 0); }
  DeviceProperties properties() const override {
    DeviceProperties p;
    p.name = "a device that plans and does not compute";
    p.total_memory = p.free_memory = kMemory;
    return p;
  }

  void* allocate(int64_t bytes) override {
    // Addresses that are told apart and never followed.
    return reinterpret_cast<void*>(next_.fetch_add(bytes));
  }
  void release(void*) override {}

  bool supports(const StepRequest&) const override { return true; }
  std::unique_ptr<Kernel> lower(const StepRequest&) override { return std::make_unique<NullKernel>(); }

  Ticket submit(Batch) override { return ++submitted_; }
  Ticket submitted() const override { return submitted_; }
  Ticket completed() const override { return submitted_; }
  void wait(Ticket) override {}

  void upload(Address, const void*, int64_t) override {}
  void download(void*, Address, int64_t) override {
    throw DeviceError(
        "null", "expected a device that computes, got null:0, which only plans; read last_plan() instead of values");
  }
  void* host_pointer(Address) override { return nullptr; }

 private:
  static constexpr int64_t kMemory = int64_t(1) << 50;
  std::atomic<int64_t> next_{int64_t(1) << 20};
  std::atomic<Ticket> submitted_{0};
};

class NullBackend final : public Backend {
 public:
  std::string kind() const override { return "null"; }
  int count() const override { return 1; }
  bool computes() const override { return false; }
  std::unique_ptr<Driver> open(int) override { return std::make_unique<NullDriver>(); }
};

}  // namespace

std::unique_ptr<Backend> make_null_backend() { return std::make_unique<NullBackend>(); }

}  // namespace stoker::backends
