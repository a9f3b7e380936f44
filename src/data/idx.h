// The IDX format of MNIST: two zeros, a type, a rank, big-endian extents, then big-endian numbers; often inside gzip.
#pragma once

#include <string>
#include <string_view>

#include "data/bytes.h"
#include "data/host_array.h"

namespace stoker::data {

// Recognises gzip by its first bytes. Plain u8 and i8 arrays stay views of `bytes`.
HostArray parse_idx(Bytes bytes, const std::string& file, std::string_view operation = "load_idx");

}  // namespace stoker::data
