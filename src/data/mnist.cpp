#include <cstdlib>

#include <fmt/format.h>

#include <stoker/data.h>

namespace stoker::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemFolder = "/usr/share/datasets";

std::optional<fs::path> find_file(const fs::path& folder, const std::string& name) {
  for (const char* suffix : {".gz", ""})
    if (const fs::path path = folder / (name + suffix); fs::exists(path)) return path;
  return std::nullopt;
}

std::string file_name(std::string_view split, std::string_view what) {
  if (split != "train" && split != "test")
    throw ValueError("idx_folder", fmt::format("expected the split train or test, got '{}'", split));
  return fmt::format("{}-{}-ubyte", split == "train" ? "train" : "t10k", what);
}

}  // namespace

std::shared_ptr<const ImageDataset> idx_folder(const fs::path& folder, std::string_view split,
                                               const ImageOptions& options) {
  const auto read = [&](std::string_view what) {
    const std::string name = file_name(split, what);
    const auto path = find_file(folder, name);
    if (!path)
      throw IoError("idx_folder",
                    fmt::format("expected {}.gz or {} in {}, found neither", name, name, folder.string()));
    return load_idx(*path, cpu());
  };
  const Tensor images = read("images-idx3"), labels = read("labels-idx1");
  if (images.dtype() != kU8 || images.dim() != 3 || !is_integral(labels.dtype()) ||
      labels.shape() != Shape{images.size(0)})
    throw FormatError("idx_folder", fmt::format("{}: expected images u8[N, H, W] and as many labels, got {}{} and {}{}",
                                                folder.string(), name_of(images.dtype()), to_string(images.shape()),
                                                name_of(labels.dtype()), to_string(labels.shape())));
  return std::make_shared<ImageDataset>(images, labels, options);
}

std::shared_ptr<const ImageDataset> fashion_mnist(std::string_view split, const fs::path& root,
                                                  const ImageOptions& options) {
  const char* datasets = std::getenv("STOKER_DATA");
  const fs::path folder = !root.empty() ? root : fs::path(datasets ? datasets : kSystemFolder) / "fashion-mnist";
  if (!find_file(folder, file_name(split, "images-idx3")))
    throw IoError(
        "fashion_mnist",
        fmt::format("expected Fashion-MNIST's four files in {}, found none; on Debian or Ubuntu, `apt install "
                    "dataset-fashion-mnist` puts them into {}/fashion-mnist; elsewhere, put them into a folder "
                    "fashion-mnist and name the folder above it in STOKER_DATA",
                    folder.string(), kSystemFolder));
  return idx_folder(folder, split, options);
}

}  // namespace stoker::data
