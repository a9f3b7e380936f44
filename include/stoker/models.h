/// \file
/// Networks that are ready to train, and what trains them: a registry by name, the Trainer, and checkpoints from which
/// a run continues as if nothing had happened.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <stoker/data.h>
#include <stoker/nn.h>
#include <stoker/optim.h>

namespace stoker::models {

// --- networks --------------------------------------------------------------------------------------------------------

struct MlpOptions {
  int64_t in_features = 784;
  int64_t hidden_features = 256;
  int64_t hidden_layers = 2;
  int64_t num_classes = 10;
  double dropout = 0.0;  ///< after each hidden layer
};

/// A multi-layer perceptron: x[N, ...] is flattened to in_features, then hidden_layers times linear, ReLU and dropout,
/// then linear to logits[N, num_classes].
class Mlp final : public nn::Module {
 public:
  using Options = MlpOptions;
  explicit Mlp(const MlpOptions& options = {});
  Tensor forward(const Tensor& x) override;

 private:
  nn::ModuleList hidden_{*this, "hidden"};
  nn::Linear head_;
  nn::Dropout dropout_;
};

struct CnnOptions {
  int64_t in_channels = 1;
  int64_t height = 28, width = 28;  ///< of the images, at least 4
  int64_t num_classes = 10;
  double dropout = 0.0;  ///< before each linear layer
};

/// A small convolutional network: x[N, in_channels, height, width] through two blocks of 3x3 convolution (32, then 64
/// channels, padding 1), ReLU and 2x2 max-pooling; then linear to 128, ReLU, linear to logits[N, num_classes].
class Cnn final : public nn::Module {
 public:
  using Options = CnnOptions;
  explicit Cnn(const CnnOptions& options = {});
  Tensor forward(const Tensor& x) override;

 private:
  nn::Conv2d conv1_, conv2_;
  nn::Linear fc1_, fc2_;
  nn::Dropout dropout_;
};

/// Options of a network by name.
using ModelOptions = std::map<std::string, double>;

/// One row of the registry.
struct ModelEntry {
  std::string name;
  std::string description;
  ModelOptions defaults;                                                         ///< every option that there is
  std::function<std::unique_ptr<nn::Module>(const ModelOptions& options)> make;  ///< gets a value for each of them
};
/// Adds a network: `const bool added = models::add({"lenet", "LeNet-5", {{"num_classes", 10}}, make_lenet});`
/// ValueError when the name is taken.
bool add(ModelEntry entry);
/// Every network, by name.
std::vector<ModelEntry> registry();
/// A network by its name; options that are left out have their defaults.
/// Errors: ValueError for an unknown name or option, with a list of those there are.
std::unique_ptr<nn::Module> create(std::string_view name, const ModelOptions& options = {});

// --- evaluation ------------------------------------------------------------------------------------------------------

/// How a classifier did on a set.
struct Evaluation {
  double loss = 0;      ///< mean cross entropy
  double accuracy = 0;  ///< share of samples whose largest logit is the target's
  int64_t samples = 0;
  std::vector<int64_t> class_samples, class_correct;  ///< by target
};
/// Runs `net` in evaluation mode over one epoch of `loader`. Nothing is read from the device before the end.
Evaluation evaluate(nn::Module& net, data::DataLoader& loader, Device device);
/// Class probabilities f32[N, classes] of a batch x, in evaluation mode.
Tensor predict(nn::Module& net, const Tensor& x);

// --- checkpoints -----------------------------------------------------------------------------------------------------

/// What a checkpoint says besides its tensors.
struct CheckpointInfo {
  std::string model;  ///< the registry's name
  ModelOptions model_options;
  std::map<std::string, std::string> settings;  ///< whatever the program wanted to find again
  data::LoaderState position;                   ///< where the training data stand
  int64_t epochs = 0;                           ///< how many the run was to have
  double best_accuracy = 0;                     ///< of the test set, 0 before the first epoch's end
};
/// Errors: IoError, FormatError for a file that is no checkpoint, VersionError for one of another version.
CheckpointInfo read_checkpoint(const std::filesystem::path& path);
/// The network of a checkpoint, in evaluation mode.
std::unique_ptr<nn::Module> load_network(const std::filesystem::path& path, Device device = default_device());

// --- training --------------------------------------------------------------------------------------------------------

struct TrainerOptions {
  int64_t epochs = 1;
  Device device = default_device();
  std::filesystem::path output = {};        ///< where last.safetensors and best.safetensors go; empty: nowhere
  int64_t save_every = 0;                   ///< steps between saves within an epoch; 0: at the ends of epochs alone
  double report_seconds = 0;                ///< between calls of on_progress, which wait for the device; 0: none
  const std::atomic<bool>* stop = nullptr;  ///< once true, the step is finished, the run saved and ended
  std::string model = {};                   ///< this and the following are kept in checkpoints
  ModelOptions model_options = {};
  std::map<std::string, std::string> settings = {};
};

/// Where a run stands in the middle of an epoch.
struct Progress {
  int64_t epoch = 0, epochs = 0;  ///< counted from 1
  int64_t step = 0, steps = 0;    ///< of this epoch
  double loss = 0, accuracy = 0;  ///< mean over this epoch's samples so far
  double learning_rate = 0;
  double images_per_second = 0;  ///< while training, in this epoch
  double seconds_left = 0;       ///< of the whole run, at the pace so far
};

struct EpochReport {
  Progress train;  ///< at the epoch's end
  std::optional<Evaluation> test;
  double seconds = 0;
  bool best = false;  ///< the highest test accuracy so far
};

struct TrainResult {
  std::optional<Evaluation> test;  ///< after the last whole epoch; absent without one, or without a test set
  double best_accuracy = 0;
  bool stopped = false;
  double seconds = 0;
};

/// Trains a classifier with cross entropy. Loss and accuracy are added up on the device and read once per report.
///
/// A run that was loaded continues bit for bit: parameters, optimizer, schedule, random numbers, the order of the
/// samples and the sums of the epoch are those of a run that was never interrupted, in the middle of an epoch too.
class Trainer {
 public:
  /// `schedule`, which may be absent, is stepped after every optimizer step. All must outlive the trainer, and `test`
  /// may be absent. Errors: ValueError for an option outside of its range.
  Trainer(nn::Module& net, optim::Optimizer& optimizer, optim::LRScheduler* schedule, data::DataLoader& train,
          data::DataLoader* test, TrainerOptions options);

  void on_progress(std::function<void(const Progress&)> call) { on_progress_ = std::move(call); }
  void on_epoch(std::function<void(const EpochReport&)> call) { on_epoch_ = std::move(call); }

  /// Trains up to options.epochs, or until stopped. Errors: ValueError when the loss is no longer finite; the
  /// checkpoints are then those from before.
  TrainResult run();

  /// Writes the whole state to one safetensors file.
  void save(const std::filesystem::path& path) const;
  /// Continues from a file that save() wrote. Errors: as read_checkpoint(), and ValueError for a run of another
  /// network, optimizer, schedule, or number of batches.
  void load(const std::filesystem::path& path);

 private:
  using Clock = std::chrono::steady_clock;

  bool train_epoch();
  void step(const Tensor& x, const Tensor& y);
  Tensor forward_backward(const Tensor& x, const Tensor& y);
  EpochReport finish_epoch();
  void reset_sums();
  void save_last() const;
  bool stop_requested() const { return options_.stop && options_.stop->load(); }
  Progress progress() const;

  nn::Module& net_;
  optim::Optimizer& optimizer_;
  optim::LRScheduler* schedule_;
  data::DataLoader& train_;
  data::DataLoader* test_;
  TrainerOptions options_;
  std::function<void(const Progress&)> on_progress_;
  std::function<void(const EpochReport&)> on_epoch_;

  Tensor loss_sum_, correct_;  // over this epoch's samples
  double best_accuracy_ = 0;
  int64_t run_samples_ = 0, epoch_samples_ = 0;  // trained by this process, in all and in this epoch
  Clock::time_point run_begin_, epoch_begin_;
};

}  // namespace stoker::models
