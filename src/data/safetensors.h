// The safetensors format: the length of a JSON header, the header, then the tensors' bytes without gaps.
#pragma once

#include <map>
#include <string>

#include <stoker/io.h>

#include "data/bytes.h"
#include "data/host_array.h"

namespace stoker::data {

struct SafeTensors {
  std::map<std::string, HostArray> tensors;  // views of the bytes, but for bools that had to be mended
  Metadata metadata;
};

SafeTensors parse_safetensors(Bytes bytes, const std::string& file, std::string_view operation = "load");

}  // namespace stoker::data
