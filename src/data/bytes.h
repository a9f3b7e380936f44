// Reading bytes that nobody vouches for: every access is checked against the end of the file, and every refusal names
// the file and the offset.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <stoker/error.h>
#include <stoker/shape.h>

#include "data/host_array.h"

namespace stoker::data {

static_assert(std::endian::native == std::endian::little, "the readers and writers of files assume it");

using Bytes = std::span<const std::byte>;

inline std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// A place in a file. `operation` names the reader in errors.
class ByteReader {
 public:
  ByteReader(Bytes bytes, std::string file, std::string_view operation)
      : bytes_(bytes), file_(std::move(file)), operation_(operation) {}

  uint64_t offset() const { return offset_; }
  uint64_t size() const { return bytes_.size(); }
  uint64_t left() const { return bytes_.size() - offset_; }
  const std::string& file() const { return file_; }
  const std::string& operation() const { return operation_; }

  // Moves to an offset that must lie in the file.
  void seek(uint64_t offset, std::string_view what);
  // The next `count` bytes; `what` names them in the FormatError when the file ends before.
  Bytes take(uint64_t count, std::string_view what);
  template <class T>
  T little(std::string_view what) {
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }
  uint32_t big32(std::string_view what) { return __builtin_bswap32(little<uint32_t>(what)); }

  [[noreturn]] void fail(std::string_view message) const { fail_at(offset_, message); }
  [[noreturn]] void fail_at(uint64_t offset, std::string_view message) const;
  // For files that are well-formed, but hold what Stoker cannot.
  [[noreturn]] void unsupported(std::string_view message) const;

 private:
  Bytes bytes_;
  uint64_t offset_ = 0;
  std::string file_, operation_;
};

// Bytes of a dense array; FormatError at the reader's place when the shape is impossible.
uint64_t checked_bytes(const ByteReader& reader, const std::vector<int64_t>& extents, DType dtype);

// Reverses the bytes of each element.
void swap_bytes(std::span<std::byte> bytes, size_t element_size);

// Appends a number in little-endian order.
template <class T>
void put_little(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace stoker::data
