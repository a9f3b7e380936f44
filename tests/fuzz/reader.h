// What the targets for readers of files share: a reader may refuse its input with one of Stoker's exceptions, and what
// it accepts must lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include <stoker/error.h>

#include "data/host_array.h"

// Defined by each target.
void read(std::span<const std::byte> bytes);

inline void touch(const stoker::data::HostArray& array) {
  const auto add = [](unsigned sum, std::byte b) { return sum + unsigned(b); };
  [[maybe_unused]] volatile unsigned sum = std::accumulate(array.bytes.begin(), array.bytes.end(), 0u, add);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    read(std::as_bytes(std::span(data, size)));
  } catch (const stoker::Error&) {
  }
  return 0;
}
