// The arrays that tests/reference/io_files.py puts into the recorded files, as bytes.
#pragma once

#include <limits>
#include <map>
#include <string>

#include "data_room/files.h"

namespace stoker::test {

inline std::string recorded_bytes(DType dtype) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  switch (dtype) {
    case DType::Bool:
      return bytes_of<uint8_t>({0, 1, 0, 1, 1, 0});
    case DType::U8:
      return bytes_of<uint8_t>({0, 1, 2, 100, 101, 127});
    case DType::I8:
      return bytes_of<int8_t>({0, 1, 2, 100, 101, 127});
    case DType::I16:
      return bytes_of<int16_t>({0, 1, 2, 100, 101, 127});
    case DType::I32:
      return bytes_of<int32_t>({0, 1, 2, 100, 101, 127});
    case DType::I64:
      return bytes_of<int64_t>({0, 1, 2, 100, 101, 127});
    case DType::F16:
      return bytes_of<uint16_t>({0x2e66, 0xbe00, 0x7c00, 0x7e00, 0x8000, 0x7bff});
    case DType::BF16:
      return bytes_of<uint16_t>({0x3dcd, 0xbfc0, 0x7f80, 0x7fc0, 0x8000, 0x4780});
    case DType::F32:
      return bytes_of<float>({0.1f, -1.5f, float(inf), float(nan), -0.0f, 65504.0f});
    case DType::F64:
      break;
  }
  return bytes_of<double>({0.1, -1.5, inf, nan, -0.0, 65504.0});
}

// A [2, 3] tensor of them.
inline Tensor recorded_tensor(DType dtype) { return from_host(recorded_bytes(dtype).data(), {2, 3}, {dtype, cpu()}); }

inline const std::vector<DType>& all_dtypes() {
  static const std::vector<DType> dtypes = {kBool, kU8, kI8, kI16, kI32, kI64, kF16, kBF16, kF32, kF64};
  return dtypes;
}

}  // namespace stoker::test
