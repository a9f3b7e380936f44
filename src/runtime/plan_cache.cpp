#include <algorithm>

#include <xxhash.h>

#include "runtime/plan.h"

namespace stoker::runtime {
namespace {
uint64_t hash(const std::vector<uint64_t>& key) { return XXH3_64bits(key.data(), key.size() * sizeof(uint64_t)); }
}  // namespace

PlanCache& PlanCache::instance() {
  static PlanCache* cache = new PlanCache;  // plans hold kernels of drivers, which live until the process ends
  return *cache;
}

std::shared_ptr<const Plan> PlanCache::find(const std::vector<uint64_t>& key) {
  std::lock_guard lock(mutex_);
  auto [first, last] = entries_.equal_range(hash(key));
  for (auto it = first; it != last; ++it)
    if (it->second.plan->key == key) {
      it->second.used = ++clock_;
      return it->second.plan;
    }
  return nullptr;
}

void PlanCache::insert(std::shared_ptr<const Plan> plan) {
  std::lock_guard lock(mutex_);
  bytes_ += plan->size_in_memory();
  const uint64_t h = hash(plan->key);
  entries_.emplace(h, Entry{std::move(plan), ++clock_});
  while (bytes_ > kMaxBytes && entries_.size() > 1) drop_oldest();
}

void PlanCache::drop_oldest() {
  auto oldest = std::min_element(entries_.begin(), entries_.end(),
                                 [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
  bytes_ -= oldest->second.plan->size_in_memory();
  entries_.erase(oldest);
}

void PlanCache::clear() {
  std::lock_guard lock(mutex_);
  entries_.clear();
  bytes_ = 0;
}

int64_t PlanCache::size() const {
  std::lock_guard lock(mutex_);
  return int64_t(entries_.size());
}

}  // namespace stoker::runtime
