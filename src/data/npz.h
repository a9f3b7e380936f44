// NumPy's .npz format: a zip archive of .npy files.
#pragma once

#include <functional>
#include <string>

#include "data/bytes.h"
#include "data/host_array.h"

namespace stoker::data {

// Calls `take` with each array in turn, so that only one is in memory; its name has no ".npy".
void parse_npz(Bytes bytes, const std::string& file,
               const std::function<void(const std::string& name, HostArray array)>& take);

}  // namespace stoker::data
