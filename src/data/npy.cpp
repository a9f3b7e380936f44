#include "data/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stoker/io.h>

#include "base/file.h"

namespace stoker {
namespace data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;

struct NpyType {
  DType dtype;
  std::string_view name;  // without the byte order
};
constexpr std::array kTypes = {
    NpyType{DType::Bool, "b1"}, NpyType{DType::U8, "u1"},  NpyType{DType::I8, "i1"},
    NpyType{DType::I16, "i2"},  NpyType{DType::I32, "i4"}, NpyType{DType::I64, "i8"},
    NpyType{DType::F16, "f2"},  NpyType{DType::F32, "f4"}, NpyType{DType::F64, "f8"},
};

// The dictionary of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
 public:
  HeaderParser(const ByteReader& reader, std::string_view text)
      : reader_(reader), begin_(reader.offset() - text.size()), text_(text) {}

  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;

  void parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !descr) {
        descr = string();
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = boolean();
      } else if (key == "shape" && !shape) {
        shape = tuple();
      } else {
        fail("'descr', 'fortran_order' and 'shape', each once, as keys");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail("nothing after the dictionary");
    if (!descr || !fortran_order || !shape) fail("the keys 'descr', 'fortran_order' and 'shape'");
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    reader_.fail_at(begin_ + at_, fmt::format("expected {} in the header", expected));
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}'", c));
  }

  std::string string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote == '[') reader_.unsupported("expected one element type, got a structured array");
    if (quote != '\'' && quote != '"') fail("a string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a closed string");
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(value);
  }

  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {"False", false}}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail("True or False");
  }

  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      skip_space();
      int64_t value = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc()) fail("an integer of at most 63 bits");
      at_ = size_t(end - text_.data());
      values.push_back(value);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  const ByteReader& reader_;
  uint64_t begin_;
  std::string_view text_;
  size_t at_ = 0;
};

// Column-major to row-major.
void reorder(std::span<const std::byte> source, std::span<std::byte> destination, const Shape& shape, size_t size) {
  Dims strides, position = Dims::filled(shape.rank(), 0);
  for (int64_t stride = 1; int64_t extent : shape) {
    strides.push_back(stride);
    stride *= extent;
  }
  size_t from = 0;
  for (size_t to = 0; to < destination.size(); to += size) {
    std::memcpy(destination.data() + to, source.data() + from * size, size);
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      from += size_t(strides[axis]);
      if (++position[axis] < shape[axis]) break;
      from -= size_t(strides[axis] * shape[axis]);
      position[axis] = 0;
    }
  }
}

struct Element {
  DType dtype;
  bool swapped;
};

Element element_of(const ByteReader& reader, std::string_view descr) {
  const std::string_view name = descr.substr(std::min<size_t>(1, descr.size()));
  const auto row = std::find_if(kTypes.begin(), kTypes.end(), [&](const NpyType& t) { return t.name == name; });
  if (row != kTypes.end() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos)
    return {row->dtype, descr[0] == '>'};
  if (name.starts_with("O"))
    reader.unsupported("expected numbers, got Python objects, which are programs and not read");
  std::vector<std::string_view> known;
  for (const NpyType& type : kTypes) known.push_back(type.name);
  reader.unsupported(fmt::format("expected an element type of {}, got '{}'; convert with numpy.ndarray.astype",
                                 fmt::join(known, ", "), descr));
}

}  // namespace

HostArray parse_npy(Bytes bytes, const std::string& file, std::string_view operation) {
  ByteReader reader(bytes, file, operation);
  if (text_of(reader.take(kMagic.size(), "the magic word of an .npy file")) != kMagic)
    reader.fail_at(0, "expected an .npy file, which starts with \\x93NUMPY");
  const auto major = reader.little<uint8_t>("the version");
  reader.take(1, "the version");
  if (major < 1 || major > 3) reader.unsupported(fmt::format("expected format version 1, 2 or 3, got {}", major));
  const uint64_t length =
      major == 1 ? reader.little<uint16_t>("the header's length") : reader.little<uint32_t>("the header's length");
  HeaderParser header(reader, text_of(reader.take(length, "the header")));
  header.parse();

  const auto [dtype, swapped] = element_of(reader, *header.descr);
  const uint64_t expected = checked_bytes(reader, *header.shape, dtype);
  HostArray array{dtype, Shape(*header.shape), {}, nullptr};
  if (expected != reader.left())
    reader.fail(fmt::format("expected {} bytes of data for shape {} of {}, but the file has {}", expected,
                            to_string(array.shape), name_of(dtype), reader.left()));
  array.bytes = reader.take(expected, "data");
  const size_t size = size_of(dtype);
  if (*header.fortran_order && array.shape.rank() > 1) {
    const Bytes source = array.bytes;
    reorder(source, array.allocate(expected), array.shape, size);
  }
  if (swapped) swap_bytes(array.own(), size);
  normalize_bools(array);
  return array;
}

std::string npy_header(DType dtype, const Shape& shape, std::string_view operation) {
  const auto row = std::find_if(kTypes.begin(), kTypes.end(), [&](const NpyType& t) { return t.dtype == dtype; });
  if (row == kTypes.end())
    throw DTypeError(operation, fmt::format("expected a dtype that NumPy has, got {}; convert with .to(kF32), or "
                                            "use save(), whose format has it",
                                            name_of(dtype)));
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}", size_of(dtype) == 1 ? '|' : '<',
                  row->name, fmt::join(shape.begin(), shape.end(), ", "), shape.rank() == 1 ? "," : "");
  const size_t before = kMagic.size() + 4;
  text.append(kAlignment - 1 - (before + text.size()) % kAlignment, ' ');
  text += '\n';
  std::string header(kMagic);
  header += '\1';
  header += '\0';
  put_little(header, uint16_t(text.size()));
  return header + text;
}

}  // namespace data

Tensor load_npy(const std::filesystem::path& path, Device device) {
  const MappedFile file(path, "load_npy");
  return data::parse_npy(file.bytes(), path.string()).to_tensor(device);
}

void save_npy(const Tensor& tensor, const std::filesystem::path& path) {
  const std::string header = data::npy_header(tensor.dtype(), tensor.shape(), "save_npy");
  const data::HostArray array = data::to_host(tensor);
  AtomicFile file(path, "save_npy");
  file.write(header);
  file.write(array.bytes.data(), array.bytes.size());
  file.commit();
}

}  // namespace stoker
