#include <algorithm>

#include "runtime/buffer.h"

namespace stoker::runtime {

Buffer::~Buffer() { allocator_.give_back(address_.base, bytes_); }

Ref<Buffer> Allocator::allocate(int64_t bytes, Purpose purpose, bool for_host) {
  const int64_t wanted = rounded(bytes);
  std::lock_guard lock(mutex_);
  int64_t size = 0;
  void* base = take(wanted, for_host, &size);
  if (!base) {
    release_free_blocks();
    base = take(wanted, for_host, &size);
  }
  if (!base) fail(wanted, purpose);
  live_[base] = {size, wanted, purpose};
  stats_.in_use += wanted;
  stats_.peak = std::max(stats_.peak, stats_.in_use);
  ++stats_.requests;
  return make_ref<Buffer>(*this, backends::Address{base, 0}, wanted);
}

// The smallest kept block that fits and wastes at most a quarter, or a new one; nullptr when there is none.
void* Allocator::take(int64_t bytes, bool for_host, int64_t* size) {
  for (auto it = free_.lower_bound(bytes); it != free_.end() && it->first <= bytes + bytes / 4 + kGranule; ++it) {
    if (for_host && it->second.retired > driver_.completed()) continue;
    void* base = it->second.base;
    *size = it->first;
    free_.erase(it);
    return base;
  }
  if (stats_.limit > 0 && stats_.reserved + bytes > stats_.limit) return nullptr;
  void* base = driver_.allocate(bytes);
  if (base) stats_.reserved += bytes;
  *size = bytes;
  return base;
}

void Allocator::give_back(void* base, int64_t bytes) {
  std::lock_guard lock(mutex_);
  auto it = live_.find(base);
  free_.emplace(it->second.size, Block{base, it->second.size, driver_.submitted()});
  live_.erase(it);
  stats_.in_use -= bytes;
}

void Allocator::release_free_blocks() {
  driver_.wait(driver_.submitted());
  for (auto& [size, block] : free_) {
    driver_.release(block.base);
    stats_.reserved -= size;
  }
  free_.clear();
}

void Allocator::fail(int64_t bytes, Purpose purpose) {
  const int64_t total = stats_.limit > 0 ? stats_.limit : driver_.properties().total_memory;
  const int64_t available = std::max<int64_t>(0, total - stats_.reserved);
  std::vector<OutOfMemory::Holder> holders;
  for (const auto& [base, live] : live_) {
    std::string what(live.purpose.what);
    if (live.purpose.loc) what += " at " + to_string(live.purpose.loc);
    holders.push_back({std::move(what), live.bytes});
  }
  std::sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  if (holders.size() > 10) holders.resize(10);
  std::string list;
  for (const auto& h : holders) list += fmt::format("\n    {:>14} bytes  {}", h.bytes, h.what);
  throw OutOfMemory(
      purpose.what,
      fmt::format(
          "expected {} bytes on {}, but of {} only {} are free ({} held by Stoker); use a smaller batch, or drop "
          "tensors that are not needed. Largest holders:{}",
          bytes, to_string(driver_.device()), total, available, stats_.in_use, list),
      bytes, available, available, std::move(holders), purpose.loc);
}

void Allocator::trim() {
  std::lock_guard lock(mutex_);
  release_free_blocks();
}

MemoryStats Allocator::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

void Allocator::reset_peak() {
  std::lock_guard lock(mutex_);
  stats_.peak = stats_.in_use;
}

void Allocator::set_limit(int64_t bytes) {
  if (bytes < 0)
    throw ValueError("set_memory_limit", fmt::format("expected a number of bytes of at least 0, got {}", bytes));
  std::lock_guard lock(mutex_);
  stats_.limit = bytes;
  if (bytes > 0 && stats_.reserved > bytes) release_free_blocks();
}

}  // namespace stoker::runtime
