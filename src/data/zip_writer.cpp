#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "data/zip.h"

namespace stoker::data {
namespace {

using namespace zip;

constexpr uint64_t kLimit = kIn64;  // from here on, a size stands in a 64-bit field
constexpr uint16_t kVersion = 45;   // understands 64-bit sizes
constexpr uint16_t kUtf8Names = 1 << 11;
constexpr uint32_t kDate = 0x0021u << 16;  // 1 January 1980, 0:00: equal contents give equal files

std::string deflated(const std::vector<Bytes>& pieces) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, deflateEnd);
  std::string out;
  char buffer[1 << 16];
  const auto run = [&](int flush) {
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer);
      stream.avail_out = sizeof buffer;
      deflate(&stream, flush);
      out.append(buffer, sizeof buffer - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  for (Bytes piece : pieces) {
    while (!piece.empty()) {
      const size_t count = std::min(piece.size(), size_t(std::numeric_limits<uInt>::max()));
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
      stream.avail_in = uInt(count);
      run(Z_NO_FLUSH);
      piece = piece.subspan(count);
    }
  }
  run(Z_FINISH);
  return out;
}

// What local header and directory entry share, from the version on.
std::string common_header(bool deflate, uint32_t checksum, uint64_t compressed, uint64_t size, size_t name_size,
                          size_t extra_size) {
  std::string out;
  put_little(out, kVersion);
  put_little(out, kUtf8Names);
  put_little(out, deflate ? kDeflated : kStored);
  put_little(out, kDate);
  put_little(out, checksum);
  put_little(out, uint32_t(std::min(compressed, kLimit)));
  put_little(out, uint32_t(std::min(size, kLimit)));
  put_little(out, uint16_t(name_size));
  put_little(out, uint16_t(extra_size));
  return out;
}

std::string extra64(std::initializer_list<uint64_t> values) {
  std::string out;
  if (std::all_of(values.begin(), values.end(), [](uint64_t v) { return v < kLimit; })) return out;
  std::string fields;
  for (uint64_t value : values)
    if (value >= kLimit) put_little(fields, value);
  put_little(out, kExtra64);
  put_little(out, uint16_t(fields.size()));
  return out + fields;
}

}  // namespace

void ZipWriter::add(const std::string& name, const std::vector<Bytes>& pieces) {
  uint64_t size = 0;
  uLong checksum = 0;
  for (Bytes piece : pieces) {
    size += piece.size();
    checksum = crc32_z(checksum, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
  }
  const std::string compressed = deflate_ ? deflated(pieces) : std::string();
  const uint64_t stored_size = deflate_ ? compressed.size() : size;
  const uint64_t offset = file_.size();

  // A local header has both sizes in its extra field, or neither.
  const bool large = size >= kLimit || stored_size >= kLimit;
  std::string local, local_extra;
  if (large) {
    put_little(local_extra, kExtra64);
    put_little(local_extra, uint16_t(16));
    put_little(local_extra, size);
    put_little(local_extra, stored_size);
  }
  put_little(local, kLocalMark);
  local += common_header(deflate_, uint32_t(checksum), large ? kIn64 : stored_size, large ? kIn64 : size, name.size(),
                         local_extra.size());
  file_.write(local + name + local_extra);
  if (deflate_)
    file_.write(compressed);
  else
    for (Bytes piece : pieces) file_.write(piece.data(), piece.size());

  const std::string extra = extra64({size, stored_size, offset});
  put_little(directory_, kEntryMark);
  put_little(directory_, kVersion);
  directory_ += common_header(deflate_, uint32_t(checksum), stored_size, size, name.size(), extra.size());
  directory_.append(10, '\0');  // no comment, first disk, no attributes
  put_little(directory_, uint32_t(std::min(offset, kLimit)));
  directory_ += name + extra;
  ++count_;
}

void ZipWriter::finish() {
  const uint64_t offset = file_.size(), size = directory_.size();
  std::string end;
  if (offset >= kLimit || size >= kLimit || count_ >= 0xffff) {
    put_little(end, kEnd64Mark);
    put_little(end, uint64_t(44));
    put_little(end, kVersion);
    put_little(end, kVersion);
    put_little(end, uint64_t(0));  // disks
    for (uint64_t value : {count_, count_, size, offset}) put_little(end, value);
    put_little(end, kLocator64Mark);
    put_little(end, uint32_t(0));
    put_little(end, offset + size);
    put_little(end, uint32_t(1));
  }
  put_little(end, kEndMark);
  put_little(end, uint32_t(0));  // disks
  for (int i = 0; i < 2; ++i) put_little(end, uint16_t(std::min<uint64_t>(count_, 0xffff)));
  put_little(end, uint32_t(std::min(size, kLimit)));
  put_little(end, uint32_t(std::min(offset, kLimit)));
  put_little(end, uint16_t(0));  // comment
  file_.write(directory_ + end);
}

}  // namespace stoker::data
