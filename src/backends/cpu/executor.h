// The thread that runs a device's batches in order, and the only one whose kernels use the device's OpenMP team (a
// second calling thread would get a second team).
#pragma once

#include <memory>

#include "backends/backend.h"

namespace stoker::backends::cpu {

class Executor {
 public:
  Executor(Device device, int threads);
  // Finishes what was submitted.
  ~Executor();

  // All of these throw DeviceError in a process that was forked after the executor started: its thread is not there.
  Ticket submit(Batch batch);
  Ticket submitted() const;
  Ticket completed() const;
  void wait(Ticket ticket);
  void check_process() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stoker::backends::cpu
