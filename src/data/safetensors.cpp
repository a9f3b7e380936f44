#include "data/safetensors.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace stoker {
namespace data {
namespace {

using nlohmann::json;

constexpr uint64_t kLongestHeader = 100'000'000;
constexpr size_t kAlignment = 8;
constexpr const char* kMetadataKey = "__metadata__";

constexpr std::array<std::string_view, kDTypeCount> kNames = {"BOOL", "U8",  "I8",   "I16", "I32",
                                                              "I64",  "F16", "BF16", "F32", "F64"};

// Parsed as JSON without its habit of letting the last of two equal keys win, and no deeper than the format goes.
json parse_header(const ByteReader& reader, std::string_view text) {
  constexpr int kDeepest = 3;
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kDeepest) reader.fail("expected a header of tensors by name, got deeper nesting");
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      reader.fail(fmt::format("expected each key once, got '{}' again", parsed.get<std::string>()));
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::exception& e) {
    reader.fail(fmt::format("expected a header in JSON: {}", e.what()));
  }
}

// One entry of the header, before its place is compared with the others'.
struct Entry {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  uint64_t begin, end;
};

std::optional<std::vector<int64_t>> integers(const json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<int64_t> values;
  for (const json& item : list) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > uint64_t(INT64_MAX)) return std::nullopt;
    values.push_back(item.get<int64_t>());
  }
  return values;
}

DType dtype_of_name(const ByteReader& reader, const std::string& tensor, const json& value) {
  const std::string name = value.is_string() ? value.get<std::string>() : value.dump();
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end())
    reader.fail(fmt::format("tensor '{}': expected a dtype of {}, got '{}'", tensor, fmt::join(kNames, ", "), name));
  return DType(found - kNames.begin());
}

Entry parse_entry(const ByteReader& reader, const std::string& name, const json& fields, uint64_t data_size) {
  const auto fail = [&](std::string_view message) { reader.fail(fmt::format("tensor '{}': {}", name, message)); };
  for (const char* key : {"dtype", "shape", "data_offsets"})
    if (!fields.is_object() || !fields.contains(key)) fail("expected dtype, shape and data_offsets");
  if (fields.size() != 3) fail("expected dtype, shape and data_offsets, got further fields");
  const DType dtype = dtype_of_name(reader, name, fields["dtype"]);
  const auto shape = integers(fields["shape"]);
  const auto offsets = integers(fields["data_offsets"]);
  if (!shape) fail(fmt::format("expected a shape of integers that are at least 0, got {}", fields["shape"].dump()));
  if (!offsets || offsets->size() != 2)
    fail(fmt::format("expected two data_offsets that are at least 0, got {}", fields["data_offsets"].dump()));
  const auto begin = uint64_t(offsets->at(0)), end = uint64_t(offsets->at(1));
  if (begin > end || end > data_size)
    fail(fmt::format("expected data_offsets in order and at most {}, got [{}, {}]", data_size, begin, end));
  const uint64_t bytes = checked_bytes(reader, *shape, dtype);
  if (end - begin != bytes)
    fail(fmt::format("expected {} bytes for shape [{}] of {}, but data_offsets [{}, {}] hold {}", bytes,
                     fmt::join(*shape, ", "), name_of(dtype), begin, end, end - begin));
  return {name, dtype, *shape, begin, end};
}

Metadata parse_metadata(const ByteReader& reader, const json& fields) {
  Metadata metadata;
  if (!fields.is_object()) reader.fail("expected __metadata__ to be text by name");
  for (const auto& [key, value] : fields.items()) {
    if (!value.is_string()) reader.fail(fmt::format("expected text as __metadata__ '{}', got {}", key, value.dump()));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// Together the tensors fill the data once.
void check_places(const ByteReader& reader, std::vector<Entry>& entries, uint64_t data_size) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  uint64_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != at)
      reader.fail(fmt::format("tensor '{}': expected its data at {}, where the one before ends, got {}", entry.name, at,
                              entry.begin));
    at = entry.end;
  }
  if (at != data_size)
    reader.fail(fmt::format("expected {} bytes of data, as the tensors say, but the file has {}", at, data_size));
}

std::string header_text(const std::vector<const StateDict::value_type*>& order, const Metadata& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  int64_t offset = 0;
  for (const auto* item : order) {
    const auto& [name, tensor] = *item;
    if (name == kMetadataKey)
      throw ValueError("save", fmt::format("expected a tensor name other than '{}', which the format keeps", name));
    header[name] = {{"dtype", kNames[size_t(tensor.dtype())]},
                    {"shape", tensor.shape().to_vector()},
                    {"data_offsets", {offset, offset + tensor.bytes()}}};
    offset += tensor.bytes();
  }
  try {
    return header.dump();
  } catch (const nlohmann::json::exception& e) {
    throw ValueError("save", fmt::format("expected names and metadata in UTF-8: {}", e.what()));
  }
}

}  // namespace

SafeTensors parse_safetensors(Bytes bytes, const std::string& file, std::string_view operation) {
  ByteReader reader(bytes, file, operation);
  const auto length = reader.little<uint64_t>("the header's length");
  if (length > reader.left() || length > kLongestHeader)
    reader.fail_at(0, fmt::format("expected a header of at most {} bytes, got a length of {}",
                                  std::min(reader.left(), kLongestHeader), length));
  ByteReader at_header = reader;
  const std::string_view text = text_of(reader.take(length, "the header"));
  const json header = parse_header(at_header, text);
  if (!header.is_object()) at_header.fail("expected a header of tensors by name");

  SafeTensors result;
  std::vector<Entry> entries;
  const Bytes data = reader.take(reader.left(), "data");
  for (const auto& [name, fields] : header.items()) {
    if (name == kMetadataKey)
      result.metadata = parse_metadata(at_header, fields);
    else
      entries.push_back(parse_entry(at_header, name, fields, data.size()));
  }
  check_places(at_header, entries, data.size());
  for (Entry& entry : entries) {
    HostArray array{entry.dtype, Shape(entry.shape), data.subspan(entry.begin, entry.end - entry.begin), nullptr};
    normalize_bools(array);
    result.tensors.emplace(std::move(entry.name), std::move(array));
  }
  return result;
}

}  // namespace data

void save(const StateDict& tensors, const std::filesystem::path& path, const Metadata& metadata) {
  // Wide elements first, so that every tensor is aligned to its element.
  std::vector<const StateDict::value_type*> order;
  for (const auto& item : tensors) order.push_back(&item);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return size_of(a->second.dtype()) > size_of(b->second.dtype());
  });

  std::string text = data::header_text(order, metadata);
  text.append((data::kAlignment - text.size() % data::kAlignment) % data::kAlignment, ' ');
  if (text.size() > data::kLongestHeader)
    throw ValueError("save", fmt::format("expected names and metadata of at most {} bytes, got {}",
                                         data::kLongestHeader, text.size()));
  std::string length;
  data::put_little(length, uint64_t(text.size()));

  AtomicFile file(path, "save");
  file.write(length + text);
  for (const auto* item : order) {
    const data::HostArray array = data::to_host(item->second);
    file.write(array.bytes.data(), array.bytes.size());
  }
  file.commit();
}

StateDict load(const std::filesystem::path& path, Device device) {
  const MappedFile file(path, "load");
  StateDict tensors;
  for (const auto& [name, array] : data::parse_safetensors(file.bytes(), path.string()).tensors)
    tensors.emplace(name, array.to_tensor(device));
  return tensors;
}

Metadata load_metadata(const std::filesystem::path& path) {
  const MappedFile file(path, "load_metadata");
  return data::parse_safetensors(file.bytes(), path.string(), "load_metadata").metadata;
}

}  // namespace stoker
