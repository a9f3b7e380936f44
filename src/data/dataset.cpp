#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <stoker/data.h>

#include "data/host_array.h"

namespace stoker::data {
namespace {

void check_index(int64_t index, int64_t size, std::string_view operation) {
  if (index < 0 || index >= size)
    throw ValueError(operation, fmt::format("expected an index in 0..{}, got {}", size - 1, index));
}

}  // namespace

std::optional<Sample> Dataset::get_batch(std::span<const int64_t>, Device) const { return std::nullopt; }

// --- tensors ---------------------------------------------------------------------------------------------------------

struct TensorDataset::Rows {
  HostArray array;
  Shape row;
  size_t row_bytes;

  explicit Rows(const Tensor& tensor) : array(to_host(tensor)), row(array.shape) {
    const int64_t count = row[0];
    row.erase(0);
    row_bytes = count == 0 ? 0 : array.bytes.size() / size_t(count);
  }
  const std::byte* at(int64_t index) const { return array.bytes.data() + size_t(index) * row_bytes; }
};

TensorDataset::TensorDataset(const std::vector<Tensor>& tensors) {
  if (tensors.empty()) throw ValueError("TensorDataset", "expected at least one tensor, got none");
  for (const Tensor& tensor : tensors) {
    if (tensor.dim() == 0 || tensor.size(0) != tensors[0].size(0))
      throw ShapeError("TensorDataset", fmt::format("expected tensors of equal first extent, got {} and {}",
                                                    to_string(tensors[0].shape()), to_string(tensor.shape())));
    fields_.emplace_back(tensor);
  }
}
TensorDataset::~TensorDataset() = default;

int64_t TensorDataset::size() const { return fields_[0].array.shape[0]; }

Sample TensorDataset::get(int64_t index) const {
  check_index(index, size(), "TensorDataset");
  Sample sample;
  for (const Rows& rows : fields_) sample.push_back(from_host(rows.at(index), rows.row, {rows.array.dtype, cpu()}));
  return sample;
}

std::optional<Sample> TensorDataset::get_batch(std::span<const int64_t> indices, Device device) const {
  Sample batch;
  for (const Rows& rows : fields_) {
    HostArray gathered{rows.array.dtype, rows.row, {}, nullptr};
    gathered.shape.insert(0, int64_t(indices.size()));
    std::byte* next = gathered.allocate(indices.size() * rows.row_bytes).data();
    for (int64_t index : indices) {
      check_index(index, size(), "TensorDataset");
      next = std::copy_n(rows.at(index), rows.row_bytes, next);
    }
    batch.push_back(gathered.to_tensor(device));
  }
  return batch;
}

// --- images ----------------------------------------------------------------------------------------------------------

namespace {

double value_for(const std::vector<double>& values, int64_t channel, int64_t channels, std::string_view name) {
  if (values.size() != 1 && values.size() != size_t(channels))
    throw ValueError("ImageDataset", fmt::format("expected one {} or one for each of {} channels, got {}", name,
                                                 channels, values.size()));
  return values[values.size() == 1 ? 0 : size_t(channel)];
}

}  // namespace

ImageDataset::ImageDataset(const Tensor& images, const Tensor& labels, const ImageOptions& options) {
  if (images.dtype() != DType::U8 || (images.dim() != 3 && images.dim() != 4))
    throw ShapeError("ImageDataset", fmt::format("expected images u8[N, H, W] or u8[N, C, H, W], got {}{}",
                                                 name_of(images.dtype()), to_string(images.shape())));
  if (!is_integral(labels.dtype()))
    throw DTypeError("ImageDataset", fmt::format("expected integer labels, got {}", name_of(labels.dtype())));
  if (labels.shape() != Shape{images.size(0)})
    throw ShapeError("ImageDataset", fmt::format("expected one label for each of {} images, got labels {}",
                                                 images.size(0), to_string(labels.shape())));
  image_shape_ = images.shape();
  image_shape_.erase(0);
  if (image_shape_.rank() == 2) image_shape_.insert(0, 1);
  pixels_ = images.to_vector<uint8_t>();
  labels_ = labels.to_vector<int64_t>();
  const auto [least, most] = std::minmax_element(labels_.begin(), labels_.end());
  if (!labels_.empty() && *least < 0)
    throw ValueError("ImageDataset", fmt::format("expected labels of at least 0, got {}", *least));
  classes_ = labels_.empty() ? 0 : *most + 1;

  make_tables(options);
}
ImageDataset::ImageDataset(const ImageDataset& images, const ImageOptions& options) : ImageDataset(images) {
  tables_.clear();
  make_tables(options);
}
ImageDataset::~ImageDataset() = default;

void ImageDataset::make_tables(const ImageOptions& options) {
  for (int64_t channel = 0; channel < image_shape_[0]; ++channel) {
    const auto mean = float(value_for(options.mean, channel, image_shape_[0], "mean"));
    const auto deviation = float(value_for(options.std, channel, image_shape_[0], "std"));
    std::array<float, 256>& table = tables_.emplace_back();
    for (int byte = 0; byte < 256; ++byte) table[size_t(byte)] = (float(byte) / 255.0f - mean) / deviation;
  }
}

ImageOptions ImageDataset::statistics() const {
  ImageOptions all{{}, {}};
  const auto channels = size_t(image_shape_[0]), plane = size_t(image_shape_[1] * image_shape_[2]);
  for (size_t channel = 0; channel < channels; ++channel) {
    std::array<int64_t, 256> counts{};
    for (size_t image = 0; image < labels_.size(); ++image)
      for (size_t i = 0; i < plane; ++i) ++counts[pixels_[(image * channels + channel) * plane + i]];
    int64_t count = 0, sum = 0, squares = 0;
    for (int64_t byte = 0; byte < 256; ++byte) {
      const int64_t n = counts[size_t(byte)];
      count += n, sum += n * byte, squares += n * byte * byte;
    }
    const double n = double(std::max<int64_t>(count, 1)), mean = double(sum) / n;
    // One byte alone, whatever rounding would say.
    const bool flat = std::count(counts.begin(), counts.end(), count) > 0;
    all.mean.push_back(mean / 255);
    all.std.push_back(flat ? 1 : std::sqrt(double(squares) / n - mean * mean) / 255);
  }
  return all;
}

int64_t ImageDataset::size() const { return int64_t(labels_.size()); }

void ImageDataset::convert(int64_t index, float* destination) const {
  check_index(index, size(), "ImageDataset");
  const auto plane = size_t(image_shape_[1] * image_shape_[2]);
  const uint8_t* source = pixels_.data() + size_t(index) * tables_.size() * plane;
  for (const auto& table : tables_) {
    for (size_t i = 0; i < plane; ++i) destination[i] = table[source[i]];
    source += plane;
    destination += plane;
  }
}

Sample ImageDataset::get(int64_t index) const {
  std::vector<float> image(size_t(stoker::numel(image_shape_)));
  convert(index, image.data());
  return {from_host(image.data(), image_shape_, {kF32, cpu()}), from_host(&labels_[size_t(index)], {}, {kI64, cpu()})};
}

std::optional<Sample> ImageDataset::get_batch(std::span<const int64_t> indices, Device device) const {
  const auto count = int64_t(indices.size()), image = stoker::numel(image_shape_);
  const auto images = std::make_unique_for_overwrite<float[]>(size_t(count * image));
  const auto labels = std::make_unique_for_overwrite<int64_t[]>(size_t(count));
  for (int64_t i = 0; i < count; ++i) {
    convert(indices[size_t(i)], images.get() + i * image);
    labels[size_t(i)] = labels_[size_t(indices[size_t(i)])];
  }
  Shape shape = image_shape_;
  shape.insert(0, count);
  return Sample{from_host(images.get(), shape, {kF32, device}), from_host(labels.get(), {count}, {kI64, device})};
}

// --- parts -----------------------------------------------------------------------------------------------------------

Subset::Subset(std::shared_ptr<const Dataset> dataset, std::vector<int64_t> indices)
    : dataset_(std::move(dataset)), indices_(std::move(indices)) {
  for (int64_t index : indices_) check_index(index, dataset_->size(), "Subset");
}

Sample Subset::get(int64_t index) const {
  check_index(index, size(), "Subset");
  return dataset_->get(indices_[size_t(index)]);
}

std::optional<Sample> Subset::get_batch(std::span<const int64_t> indices, Device device) const {
  std::vector<int64_t> mapped;
  for (int64_t index : indices) {
    check_index(index, size(), "Subset");
    mapped.push_back(indices_[size_t(index)]);
  }
  return dataset_->get_batch(mapped, device);
}

std::shared_ptr<const Dataset> take(std::shared_ptr<const Dataset> dataset, int64_t count) {
  std::vector<int64_t> indices(size_t(std::clamp<int64_t>(count, 0, dataset->size())));
  std::iota(indices.begin(), indices.end(), 0);
  return std::make_shared<Subset>(std::move(dataset), std::move(indices));
}

}  // namespace stoker::data
