// Decompression with zlib, as a stream that gives as many bytes as it is asked for.
#pragma once

#include <zlib.h>

#include "data/bytes.h"

namespace stoker::data {

// The most that one compressed byte can stand for; a file that promises more lies.
inline constexpr uint64_t kDeflateRatio = 1032;

class InflateStream {
 public:
  enum class Kind { Gzip, Raw };

  // `reader` names the file in errors, and stands where `compressed` begins there.
  InflateStream(const ByteReader& reader, Bytes compressed, Kind kind);
  ~InflateStream();
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;

  // Fills `destination`; FormatError when the stream ends before, or is damaged.
  void read(std::span<std::byte> destination, std::string_view what);
  // FormatError unless everything was read. A gzip stream's checksum is verified by then.
  void expect_end(std::string_view what);
  // FormatError when `size` bytes, read or not, cannot come from this stream.
  void expect_possible(uint64_t size, std::string_view what) const;

 private:
  // Up to destination.size() bytes; fewer at the end of the stream.
  size_t read_some(std::span<std::byte> destination);
  // A gzip file may be several streams in a row.
  bool next_member();
  [[noreturn]] void fail(std::string_view message) const;

  const ByteReader& reader_;
  uint64_t begin_;
  Bytes compressed_;
  size_t fed_ = 0;
  Kind kind_;
  bool ended_ = false;
  z_stream stream_{};
};

}  // namespace stoker::data
