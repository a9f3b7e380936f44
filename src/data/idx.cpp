#include "data/idx.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <stoker/io.h>

#include "base/file.h"
#include "data/inflate.h"

namespace stoker {
namespace data {
namespace {

constexpr size_t kLongestHeader = 4 + 4 * kMaxRank;

DType dtype_of_code(const ByteReader& reader, uint8_t code) {
  switch (code) {
    case 0x08:
      return DType::U8;
    case 0x09:
      return DType::I8;
    case 0x0b:
      return DType::I16;
    case 0x0c:
      return DType::I32;
    case 0x0d:
      return DType::F32;
    case 0x0e:
      return DType::F64;
  }
  reader.fail_at(2, fmt::format("expected an IDX type of 0x08, 0x09, 0x0b to 0x0e, got {:#04x}", code));
}

// dtype and shape; the reader then stands at the data.
HostArray parse_header(ByteReader& reader, uint64_t& data_bytes) {
  if (reader.little<uint16_t>("the magic number of an IDX file") != 0)
    reader.fail_at(0, "expected an IDX file, which starts with two zeros");
  const DType dtype = dtype_of_code(reader, reader.little<uint8_t>("the type"));
  const auto rank = reader.little<uint8_t>("the rank");
  if (rank > kMaxRank) reader.unsupported(fmt::format("expected at most {} dimensions, got {}", kMaxRank, rank));
  std::vector<int64_t> extents(rank);
  for (int64_t& extent : extents) extent = reader.big32("the extents");
  data_bytes = checked_bytes(reader, extents, dtype);
  return {dtype, Shape(extents), {}, nullptr};
}

HostArray parse_plain(ByteReader& reader) {
  uint64_t size = 0;
  HostArray array = parse_header(reader, size);
  if (size != reader.left())
    reader.fail(fmt::format("expected {} bytes of data for shape {} of {}, but the file has {}", size,
                            to_string(array.shape), name_of(array.dtype), reader.left()));
  array.bytes = reader.take(size, "data");
  return array;
}

HostArray parse_gzip(ByteReader& reader, Bytes bytes) {
  InflateStream stream(reader, bytes, InflateStream::Kind::Gzip);
  std::byte raw[kLongestHeader];
  stream.read({raw, 4}, "an IDX header");
  const size_t rank = std::min<size_t>(size_t(raw[3]), kMaxRank);
  stream.read({raw + 4, 4 * rank}, "an IDX header");
  ByteReader header({raw, 4 + 4 * rank}, reader.file() + " (decompressed)", reader.operation());
  uint64_t size = 0;
  HostArray array = parse_header(header, size);
  stream.expect_possible(size, "data");
  stream.read(array.allocate(size), "data");
  stream.expect_end("the data");
  return array;
}

}  // namespace

HostArray parse_idx(Bytes bytes, const std::string& file, std::string_view operation) {
  ByteReader reader(bytes, file, operation);
  const bool gzip = bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
  HostArray array = gzip ? parse_gzip(reader, bytes) : parse_plain(reader);
  if (const size_t element = size_of(array.dtype); element > 1) swap_bytes(array.own(), element);
  return array;
}

}  // namespace data

Tensor load_idx(const std::filesystem::path& path, Device device) {
  const MappedFile file(path, "load_idx");
  return data::parse_idx(file.bytes(), path.string()).to_tensor(device);
}

}  // namespace stoker
