#include "data/prefetch.h"

#include <utility>

namespace stoker::data {

Prefetcher::Prefetcher(const BatchMaker& maker, int64_t first, int workers, int prefetch_factor)
    : maker_(maker),
      count_(maker.count()),
      started_(first),
      taken_(first),
      slots_(size_t(workers) * size_t(prefetch_factor)) {
  for (int worker = 0; worker < workers; ++worker)
    threads_.emplace_back([this, worker](std::stop_token stop) { work(std::move(stop), worker); });
}

// All are told to end before the first one is waited for.
Prefetcher::~Prefetcher() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void Prefetcher::work(std::stop_token stop, int worker) {
  const auto may_start = [this] { return started_ >= count_ || started_ < taken_ + int64_t(slots_.size()); };
  while (true) {
    int64_t batch;
    {
      std::unique_lock lock(mutex_);
      if (!room_.wait(lock, stop, may_start) || started_ >= count_) return;
      batch = started_++;
    }
    Slot made = make(stop, batch, worker);
    {
      const std::lock_guard lock(mutex_);
      slots_[size_t(batch) % slots_.size()] = std::move(made);
    }
    arrival_.notify_one();
  }
}

Prefetcher::Slot Prefetcher::make(const std::stop_token& stop, int64_t batch, int worker) const {
  Slot slot;
  try {
    slot.batch = maker_.make(batch, worker, [&stop] { return stop.stop_requested(); });
  } catch (...) {
    slot.error = std::current_exception();
  }
  return slot;
}

Sample Prefetcher::take() {
  std::unique_lock lock(mutex_);
  Slot& slot = slots_[size_t(taken_) % slots_.size()];
  arrival_.wait(lock, [&slot] { return slot.batch || slot.error; });
  Slot made = std::exchange(slot, {});
  ++taken_;
  lock.unlock();
  room_.notify_one();
  if (made.error) std::rethrow_exception(made.error);
  return std::move(*made.batch);
}

}  // namespace stoker::data
