// CPU room: the backend that every machine has. Its driver owns memory, one executor thread and one OpenMP team; steps
// become kernels through the table of kernels.h. Element-wise groups and row reductions run in the interpreter; matrix
// products and convolutions in oneDNN where it is there and takes the type, else in portable code. Everything else is
// one file per family under kernels/. Results do not depend on the number of threads, but for oneDNN's.
// The room knows graph's vocabulary and backend.h; nothing above includes it: it is reached through make_cpu_backend().
#pragma once

#include "backends/backend.h"
#include "backends/cpu/executor.h"

namespace stoker::backends::cpu {

class CpuDriver final : public Driver {
 public:
  CpuDriver(int index, int threads);

  Device device() const override { return device_; }
  DeviceProperties properties() const override;
  void* allocate(int64_t bytes) override;
  void release(void* base) override;
  bool supports(const StepRequest& request) const override;
  std::unique_ptr<Kernel> lower(const StepRequest& request) override;
  Ticket submit(Batch batch) override { return executor_.submit(std::move(batch)); }
  Ticket submitted() const override { return executor_.submitted(); }
  Ticket completed() const override { return executor_.completed(); }
  void wait(Ticket ticket) override { executor_.wait(ticket); }
  void upload(Address to, const void* from, int64_t bytes) override;
  void download(void* to, Address from, int64_t bytes) override;
  void* host_pointer(Address address) override { return static_cast<char*>(address.base) + address.offset; }

 private:
  Device device_;
  int threads_;
  Executor executor_;
};

// One CPU, or the parts into which STOKER_CPU_DEVICES splits it.
class CpuBackend final : public Backend {
 public:
  std::string kind() const override { return "cpu"; }
  int count() const override;
  std::unique_ptr<Driver> open(int index) override;
};

}  // namespace stoker::backends::cpu
