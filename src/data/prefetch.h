// Batches made ahead by threads, and given out in their order.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "data/batch_maker.h"

namespace stoker::data {

class Prefetcher {
 public:
  // Batches first .. count-1 of `maker`; none without workers.
  Prefetcher(const BatchMaker& maker, int64_t first, int workers, int prefetch_factor);
  ~Prefetcher();

  // Waits for the next batch. Throws what making it threw.
  Sample take();

 private:
  struct Slot {
    std::optional<Sample> batch;
    std::exception_ptr error;
  };
  void work(std::stop_token stop, int worker);
  Slot make(const std::stop_token& stop, int64_t batch, int worker) const;

  const BatchMaker& maker_;
  const int64_t count_;
  std::mutex mutex_;
  std::condition_variable_any room_, arrival_;
  int64_t started_, taken_;
  std::vector<Slot> slots_;            // batch b waits in slot b modulo their number
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

}  // namespace stoker::data
