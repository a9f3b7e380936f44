// NumPy's .npy format, versions 1 to 3: a Python dictionary with dtype, order and shape, then the array.
#pragma once

#include <string>
#include <string_view>

#include "data/bytes.h"
#include "data/host_array.h"

namespace stoker::data {

// `operation` names the caller in errors. Arrays in the machine's own byte order and in C order stay views of `bytes`.
HostArray parse_npy(Bytes bytes, const std::string& file, std::string_view operation = "load_npy");

// Everything that stands before the array's bytes.
std::string npy_header(DType dtype, const Shape& shape, std::string_view operation);

}  // namespace stoker::data
