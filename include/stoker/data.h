/// \file
/// Datasets and the loader that keeps a training loop fed.
///
///     data::DataLoader loader(data::fashion_mnist("train"), {.batch_size = 128, .shuffle = true, .num_workers = 2});
///     for (auto [x, y] : loader.on(device)) ...
///
/// Threads prepare batches ahead while the device works. What a loop sees depends on the dataset, the seed and the
/// epoch alone: not on the number of workers, nor on which of them was faster.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <stoker/io.h>
#include <stoker/tensor.h>

namespace stoker::data {

// --- random numbers of the host --------------------------------------------------------------------------------------

/// A sequence of random numbers named by three numbers; Philox 4x32-10, so that sequences of different names have
/// nothing to do with each other. Fits the standard library's distributions and std::shuffle.
class Random {
 public:
  using result_type = uint64_t;
  explicit Random(uint64_t seed, uint64_t epoch = 0, uint64_t index = 0) : seed_(seed), epoch_(epoch), index_(index) {}

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return std::numeric_limits<uint64_t>::max(); }
  uint64_t operator()();

  /// Uniform in [0, 1).
  double uniform();
  /// 0 .. bound-1, each equally likely. ValueError for a bound below 1.
  int64_t below(int64_t bound);
  /// Mean 0 and deviation 1.
  double normal();

 private:
  uint64_t seed_, epoch_, index_;
  uint32_t block_ = 0;
  std::array<uint64_t, 2> ready_{};
  int left_ = 0;
};

/// For Dataset::get and what it calls: the random numbers of the sample that is being read, named by the loader's seed,
/// the epoch and the index, so that augmentation does not depend on the workers and differs from epoch to epoch.
/// Outside of a loader: a sequence of the calling thread's that begins anew in each thread.
Random& sample_random();

// --- datasets --------------------------------------------------------------------------------------------------------

/// What one index of a dataset gives, and what a batch consists of: as a rule an input and a target.
using Sample = std::vector<Tensor>;

/// Samples by number. Loaders call the const members from several threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  /// The sample of an index in 0 .. size()-1.
  virtual Sample get(int64_t index) const = 0;
  /// For datasets that can do better than get() for each index: all of them, stacked, on `device`. Without a value the
  /// loader gets and collates.
  virtual std::optional<Sample> get_batch(std::span<const int64_t> indices, Device device) const;
};

/// Tensors of equal first extent; sample i is row i of each. Their values are copied to the host's memory.
class TensorDataset final : public Dataset {
 public:
  /// Errors: ValueError without tensors, ShapeError when their first extents differ.
  explicit TensorDataset(const std::vector<Tensor>& tensors);
  ~TensorDataset() override;
  int64_t size() const override;
  Sample get(int64_t index) const override;
  std::optional<Sample> get_batch(std::span<const int64_t> indices, Device device) const override;

 private:
  struct Rows;
  std::vector<Rows> fields_;
};

/// How pixels become numbers: (x / 255 - mean) / std, with one value for all channels or one for each.
struct ImageOptions {
  std::vector<double> mean = {0.0};
  std::vector<double> std = {1.0};
};

/// Images of one size in memory, one byte a pixel and channel, with a class each. A sample is f32[C, H, W] and an i64
/// number; batches are converted and normalised while they are gathered.
class ImageDataset final : public Dataset {
 public:
  /// \param images u8[N, H, W] (one channel) or u8[N, C, H, W]
  /// \param labels integers [N], at least 0
  /// Errors: ShapeError, DTypeError, ValueError for what does not fit.
  ImageDataset(const Tensor& images, const Tensor& labels, const ImageOptions& options = {});
  /// The same images as other numbers.
  ImageDataset(const ImageDataset& images, const ImageOptions& options);
  ~ImageDataset() override;
  int64_t size() const override;
  Sample get(int64_t index) const override;
  std::optional<Sample> get_batch(std::span<const int64_t> indices, Device device) const override;

  /// [C, H, W].
  const Shape& image_shape() const { return image_shape_; }
  /// One more than the largest label.
  int64_t classes() const { return classes_; }
  /// Mean and standard deviation of x / 255 over all images, for each channel: with these, numbers have mean 0 and
  /// deviation 1. A channel without contrast has deviation 1.
  ImageOptions statistics() const;

 private:
  void make_tables(const ImageOptions& options);
  void convert(int64_t index, float* destination) const;

  std::vector<uint8_t> pixels_;
  std::vector<int64_t> labels_;
  std::vector<std::array<float, 256>> tables_;  // the number of each byte, by channel
  Shape image_shape_;
  int64_t classes_ = 0;
};

/// Some samples of another dataset, in the order of `indices`. ValueError for an index that is not there.
class Subset final : public Dataset {
 public:
  Subset(std::shared_ptr<const Dataset> dataset, std::vector<int64_t> indices);
  int64_t size() const override { return int64_t(indices_.size()); }
  Sample get(int64_t index) const override;
  std::optional<Sample> get_batch(std::span<const int64_t> indices, Device device) const override;

 private:
  std::shared_ptr<const Dataset> dataset_;
  std::vector<int64_t> indices_;
};
/// The first `count` samples, or all when there are fewer.
std::shared_ptr<const Dataset> take(std::shared_ptr<const Dataset> dataset, int64_t count);

/// The images and labels of a folder in MNIST's layout: {train,t10k}-images-idx3-ubyte and -labels-idx1-ubyte, plain or
/// with .gz.
/// \param split "train" or "test" (ValueError otherwise)
/// Errors: IoError when a file is missing, FormatError for one that is not what it says.
std::shared_ptr<const ImageDataset> idx_folder(const std::filesystem::path& folder, std::string_view split,
                                               const ImageOptions& options = {});
/// Fashion-MNIST: 60,000 training and 10,000 test images of 28x28 in ten classes (Xiao, Rasul and Vollgraf 2017).
/// \param root its folder; when empty, $STOKER_DATA/fashion-mnist, or /usr/share/datasets/fashion-mnist, where Debian's
///        package dataset-fashion-mnist puts it
std::shared_ptr<const ImageDataset> fashion_mnist(std::string_view split, const std::filesystem::path& root = {},
                                                  const ImageOptions& options = {});

// --- the loader ------------------------------------------------------------------------------------------------------

/// Makes a batch from samples. Called from worker threads.
using Collate = std::function<Sample(const std::vector<Sample>& samples)>;
/// Stacks the first tensors, the second ones, ... of the samples on `device`.
/// Errors: ShapeError, DTypeError when samples differ; ValueError when their numbers of tensors do, or there is none.
Sample default_collate(const std::vector<Sample>& samples, Device device = default_device());

/// PyTorch's names and defaults.
struct DataLoaderOptions {
  int64_t batch_size = 1;
  bool shuffle = false;     ///< a new order in each epoch
  int num_workers = 0;      ///< threads that prepare batches; 0: the loop's own, when it asks
  int prefetch_factor = 2;  ///< batches that are prepared ahead, for each worker
  bool drop_last = false;   ///< leaves out a last batch that is smaller
  uint64_t seed = 0;        ///< of the order and of sample_random()
  Collate collate_fn = {};  ///< default_collate when empty
};

/// What went wrong while a batch was made, where it happened, and the exception itself: rethrow_nested() throws it
/// again.
class LoaderError : public Error, public std::nested_exception {
 public:
  /// Made while the exception is handled.
  LoaderError(std::string_view message, int64_t index, int worker);
  /// The sample that was read; the batch's first sample when the batch as a whole was made.
  int64_t index() const { return index_; }
  /// The worker's number, -1 for the loop's own thread.
  int worker() const { return worker_; }

 private:
  int64_t index_;
  int worker_;
};

/// Where a loader stands: enough to continue there in another process.
struct LoaderState {
  int64_t epoch = 0;
  int64_t position = 0;  ///< batches of this epoch that were given out
};

/// One pass over the batches; made by DataLoader. Ending it early, even with batches in the making, waits for the
/// samples that are being read and for nothing else.
class BatchStream {
 public:
  virtual ~BatchStream() = default;
  /// Starts whatever the calling thread has recorded, and gives the next batch; nothing at the end of the epoch.
  /// Errors: LoaderError; the stream has then ended.
  virtual std::optional<Sample> next() = 0;
};

/// A stream as a range of batches of `Fields` tensors each, for range-for with structured bindings.
template <size_t Fields>
class BatchRange {
 public:
  class Iterator {
   public:
    using value_type = std::array<Tensor, Fields>;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(std::shared_ptr<BatchStream> stream) : stream_(std::move(stream)) { ++*this; }
    const value_type& operator*() const { return *batch_; }
    Iterator& operator++() {
      batch_.reset();
      if (std::optional<Sample> next = stream_->next()) batch_ = unpack(std::move(*next));
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !batch_; }

   private:
    static value_type unpack(Sample batch) {
      if (batch.size() != Fields)
        throw ValueError("data loader", "expected batches of " + std::to_string(Fields) + " tensors, got " +
                                            std::to_string(batch.size()) + "; ask for them with on<" +
                                            std::to_string(batch.size()) + ">(device)");
      value_type fields;
      std::move(batch.begin(), batch.end(), fields.begin());
      return fields;
    }

    std::shared_ptr<BatchStream> stream_;
    std::optional<value_type> batch_;
  };

  explicit BatchRange(std::function<std::shared_ptr<BatchStream>()> start) : start_(std::move(start)) {}
  /// Starts the pass.
  Iterator begin() const { return Iterator(start_()); }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::function<std::shared_ptr<BatchStream>()> start_;
};

class DataLoader {
 public:
  /// Errors: ValueError for an option outside of its range.
  explicit DataLoader(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options = {});

  /// One epoch on a device: `for (auto [x, y] : loader.on(device))`. Samples of three tensors: `loader.on<3>(device)`.
  /// Each pass is the next epoch; one that was left early counts as a whole one.
  template <size_t Fields = 2>
  BatchRange<Fields> on(Device device) {
    return BatchRange<Fields>([this, device] { return start(device); });
  }
  /// The same for batches of any number of tensors.
  std::shared_ptr<BatchStream> start(Device device);

  /// How many batches, and how many samples, an epoch has.
  int64_t batches() const;
  int64_t samples() const;
  const Dataset& dataset() const { return *dataset_; }
  const DataLoaderOptions& options() const { return options_; }

  /// While a pass runs: its epoch, and the batches given out including the present one. Afterwards: the next epoch.
  LoaderState state() const { return *state_; }
  /// The next pass goes on from here, with the samples that an uninterrupted one would have given.
  /// Errors: ValueError for a position outside of 0 .. batches().
  void set_state(LoaderState state);

 private:
  std::shared_ptr<const Dataset> dataset_;
  DataLoaderOptions options_;
  std::shared_ptr<LoaderState> state_;
  bool resumed_ = false;
};

}  // namespace stoker::data
