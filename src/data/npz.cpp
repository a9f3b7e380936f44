#include "data/npz.h"

#include <fmt/format.h>

#include <stoker/io.h>

#include "base/file.h"
#include "data/npy.h"
#include "data/zip.h"

namespace stoker {
namespace data {
namespace {

constexpr std::string_view kSuffix = ".npy";

}  // namespace

void parse_npz(Bytes bytes, const std::string& file,
               const std::function<void(const std::string& name, HostArray array)>& take) {
  const ZipReader archive(bytes, file, "load_npz");
  for (const ZipReader::Member& member : archive.members()) {
    if (!member.name.ends_with(kSuffix))
      ByteReader(bytes, file, "load_npz")
          .fail_at(member.offset, fmt::format("expected members that end in .npy, got '{}'", member.name));
    std::unique_ptr<std::byte[]> storage;
    const Bytes content = archive.content(member, storage);
    take(member.name.substr(0, member.name.size() - kSuffix.size()),
         parse_npy(content, file + ":" + member.name, "load_npz"));
  }
}

}  // namespace data

StateDict load_npz(const std::filesystem::path& path, Device device) {
  const MappedFile file(path, "load_npz");
  StateDict tensors;
  data::parse_npz(file.bytes(), path.string(), [&](const std::string& name, data::HostArray array) {
    tensors.emplace(name, array.to_tensor(device));
  });
  return tensors;
}

void save_npz(const StateDict& tensors, const std::filesystem::path& path, bool compressed) {
  AtomicFile file(path, "save_npz");
  data::ZipWriter archive(file, compressed);
  for (const auto& [name, tensor] : tensors) {
    const std::string header = data::npy_header(tensor.dtype(), tensor.shape(), "save_npz");
    const data::HostArray array = data::to_host(tensor);
    archive.add(name + std::string(data::kSuffix), {std::as_bytes(std::span(header)), array.bytes});
  }
  archive.finish();
  file.commit();
}

}  // namespace stoker
