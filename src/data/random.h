// The host's random numbers, and which of them the sample being read is to use.
#pragma once

#include <vector>

#include <stoker/data.h>

namespace stoker::data {

// While it lives, sample_random() of the calling thread is the sequence of this sample.
class SampleRandomScope {
 public:
  SampleRandomScope(uint64_t seed, int64_t epoch, int64_t index);
  ~SampleRandomScope();
  SampleRandomScope(const SampleRandomScope&) = delete;
  SampleRandomScope& operator=(const SampleRandomScope&) = delete;

 private:
  Random random_;
  Random* previous_;
};

// 0 .. count-1, shuffled by (seed, epoch).
std::vector<int64_t> shuffled(int64_t count, uint64_t seed, int64_t epoch);

}  // namespace stoker::data
