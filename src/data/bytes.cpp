#include "data/bytes.h"

#include <algorithm>

#include <fmt/format.h>

namespace stoker::data {

void ByteReader::seek(uint64_t offset, std::string_view what) {
  if (offset > bytes_.size())
    fail(fmt::format("expected {} at offset {}, but the file has {} bytes", what, offset, bytes_.size()));
  offset_ = offset;
}

Bytes ByteReader::take(uint64_t count, std::string_view what) {
  if (count > left())
    fail(fmt::format("expected {} bytes of {}, but only {} are left in the file", count, what, left()));
  const Bytes taken = bytes_.subspan(offset_, count);
  offset_ += count;
  return taken;
}

void ByteReader::fail_at(uint64_t offset, std::string_view message) const {
  throw FormatError(operation_, fmt::format("{}, offset {}: {}", file_, offset, message));
}

void ByteReader::unsupported(std::string_view message) const {
  throw Unsupported(operation_, fmt::format("{}, offset {}: {}", file_, offset_, message));
}

uint64_t checked_bytes(const ByteReader& reader, const std::vector<int64_t>& extents, DType dtype) {
  if (extents.size() > size_t(kMaxRank))
    reader.unsupported(fmt::format("expected at most {} dimensions, got {}", kMaxRank, extents.size()));
  uint64_t bytes = size_of(dtype);
  bool overflow = false;
  for (int64_t extent : extents) {
    if (extent < 0) reader.fail(fmt::format("expected extents of at least 0, got {}", to_string(Dims(extents))));
    if (extent > 0) overflow |= __builtin_mul_overflow(bytes, uint64_t(extent), &bytes);
  }
  // As in NumPy, an extent of 0 does not excuse the others: strides are computed from them.
  if (overflow || bytes > uint64_t(INT64_MAX))
    reader.fail(fmt::format("shape {} has more bytes than 63 bits can count", to_string(Dims(extents))));
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return 0;
  return bytes;
}

void swap_bytes(std::span<std::byte> bytes, size_t element_size) {
  for (size_t i = 0; i + element_size <= bytes.size(); i += element_size)
    std::reverse(bytes.begin() + ptrdiff_t(i), bytes.begin() + ptrdiff_t(i + element_size));
}

}  // namespace stoker::data
