// The Trainer: it learns, and a run that was saved continues bit for bit.
#include <gtest/gtest.h>

#include <stoker/io.h>
#include <stoker/models.h>
#include <stoker/ops.h>

#include <cmath>
#include <limits>

#include "data_room/files.h"

namespace stoker::models {
namespace {

using test::bytes_of;
using test::TemporaryFolder;

constexpr int64_t kSamples = 1000, kFeatures = 16, kClasses = 4, kBatch = 8;

// Points around one centre for each class.
std::shared_ptr<const data::Dataset> points(int64_t count, float scale = 1) {
  data::Random random(7);
  std::vector<float> x;
  std::vector<int64_t> y;
  for (int64_t i = 0; i < count; ++i) {
    y.push_back(i % kClasses);
    for (int64_t f = 0; f < kFeatures; ++f)
      x.push_back(scale * float(0.7 * random.normal() + (f % kClasses == y.back())));
  }
  return std::make_shared<data::TensorDataset>(std::vector{tensor(x, Shape{count, kFeatures}), tensor(y)});
}

// Everything that a run consists of, built anew as in another process.
struct TrainingRun {
  explicit TrainingRun(TrainerOptions options, float scale = 1, double lr = 1e-3)
      : train(points(kSamples, scale), {.batch_size = kBatch, .shuffle = true, .num_workers = 2, .seed = 0}),
        test(points(100), {.batch_size = 50}) {
    manual_seed(3);
    model_options = {{"in_channels", 1},        {"height", 1},           {"width", kFeatures},
                     {"num_classes", kClasses}, {"hidden_features", 32}, {"dropout", 0.3}};
    net = create("mlp", model_options);
    optimizer = std::make_unique<optim::Adam>(net->parameters(), optim::AdamOptions{.lr = lr});
    schedule = std::make_unique<optim::CosineAnnealingLR>(
        *optimizer, optim::CosineAnnealingLROptions{.T_max = 3 * kSamples / kBatch});
    options.stop = &stop;
    options.model = "mlp";
    options.model_options = model_options;
    trainer = std::make_unique<Trainer>(*net, *optimizer, schedule.get(), train, &test, std::move(options));
    trainer->on_epoch([this](const EpochReport& report) { epochs.push_back(report); });
  }

  // Runs until `step` of `epoch` (from 1) is done.
  TrainResult run_until(int64_t epoch, int64_t step) {
    trainer->on_progress([=, this](const Progress& p) {
      if (p.epoch == epoch && p.step == step) stop = true;
    });
    return trainer->run();
  }

  std::map<std::string, std::string> parameter_bytes() const {
    std::map<std::string, std::string> bytes;
    for (const auto& [name, tensor] : net->state_dict()) bytes[name] = bytes_of(tensor);
    return bytes;
  }

  data::DataLoader train, test;
  ModelOptions model_options;
  std::unique_ptr<nn::Module> net;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::unique_ptr<optim::LRScheduler> schedule;
  std::atomic<bool> stop = false;
  std::unique_ptr<Trainer> trainer;
  std::vector<EpochReport> epochs;
};

void expect_same_end(const TrainingRun& a, const TrainingRun& b) {
  EXPECT_TRUE(a.parameter_bytes() == b.parameter_bytes());
  EXPECT_EQ(a.epochs.back().train.loss, b.epochs.back().train.loss);
  EXPECT_EQ(a.epochs.back().train.accuracy, b.epochs.back().train.accuracy);
  EXPECT_EQ(a.epochs.back().test->loss, b.epochs.back().test->loss);
  EXPECT_EQ(a.optimizer->lr(), b.optimizer->lr());
}

TEST(Trainer, Learns) {
  TrainingRun run({.epochs = 3});
  const TrainResult result = run.trainer->run();
  EXPECT_EQ(run.epochs.size(), 3u);
  EXPECT_LT(run.epochs[2].train.loss, run.epochs[0].train.loss);
  EXPECT_GT(result.test->accuracy, 0.8);
  EXPECT_EQ(result.test->accuracy, run.epochs[2].test->accuracy);
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(run.epochs[1].train.epoch, 2);
  EXPECT_EQ(run.epochs[1].train.step, 125);
}

TEST(Trainer, TheSameSeedGivesTheSameRun) {
  TrainingRun a({.epochs = 1});
  a.trainer->run();
  TrainingRun b({.epochs = 1});
  b.trainer->run();
  expect_same_end(a, b);
}

// BR-061: 125 steps an epoch, saved after step 200 = 75 of the second epoch.
TEST(Trainer, ContinuesInTheMiddleOfAnEpochBitForBit) {
  const TemporaryFolder folder;
  TrainingRun whole({.epochs = 3});
  whole.trainer->run();

  TrainingRun first({.epochs = 3, .output = folder.path(), .report_seconds = 1e-9});
  const TrainResult stopped = first.run_until(2, 75);
  EXPECT_TRUE(stopped.stopped);
  const CheckpointInfo info = read_checkpoint(folder / "last.safetensors");
  EXPECT_EQ(info.position.epoch, 1);
  EXPECT_EQ(info.position.position, 76);  // the step that was under way is finished
  EXPECT_EQ(info.epochs, 3);
  EXPECT_EQ(info.best_accuracy, first.epochs[0].test->accuracy);

  TrainingRun second({.epochs = 3, .output = folder.path()});
  manual_seed(99);
  second.trainer->load(folder / "last.safetensors");
  const TrainResult result = second.trainer->run();
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(second.epochs.size(), 2u);
  EXPECT_EQ(second.epochs[0].train.loss, whole.epochs[1].train.loss);
  expect_same_end(whole, second);
}

// BR-061
TEST(Trainer, ContinuesAtTheEndOfAnEpochBitForBit) {
  const TemporaryFolder folder;
  TrainingRun whole({.epochs = 3});
  whole.trainer->run();
  TrainingRun first({.epochs = 2, .output = folder.path()});
  first.trainer->run();
  TrainingRun second({.epochs = 3});
  second.trainer->load(folder / "last.safetensors");
  second.trainer->run();
  EXPECT_EQ(second.epochs.size(), 1u);
  EXPECT_EQ(second.epochs[0].train.epoch, 3);
  expect_same_end(whole, second);
}

TEST(Trainer, ContinuesAfterTheLastStepOfAnEpochBitForBit) {
  const TemporaryFolder folder;
  TrainingRun whole({.epochs = 2});
  whole.trainer->run();
  TrainingRun first({.epochs = 2, .output = folder.path(), .report_seconds = 1e-9});
  EXPECT_TRUE(first.run_until(1, 124).stopped);
  EXPECT_EQ(read_checkpoint(folder / "last.safetensors").position.position, 125);
  TrainingRun second({.epochs = 2});
  second.trainer->load(folder / "last.safetensors");
  second.trainer->run();
  EXPECT_EQ(second.epochs[0].train.loss, whole.epochs[0].train.loss);
  expect_same_end(whole, second);
}

TEST(Trainer, SavesWithinTheEpochWhenAskedTo) {
  const TemporaryFolder folder;
  TrainingRun run({.epochs = 1, .output = folder.path(), .save_every = 50, .report_seconds = 1e-9});
  std::vector<int64_t> saved;
  run.trainer->on_progress([&](const Progress&) {
    if (std::filesystem::exists(folder / "last.safetensors"))
      saved.push_back(read_checkpoint(folder / "last.safetensors").position.position);
  });
  run.trainer->run();
  EXPECT_EQ(saved.front(), 50);
  EXPECT_EQ(saved.back(), 100);
  EXPECT_EQ(read_checkpoint(folder / "last.safetensors").position.epoch, 1);
}

TEST(Trainer, KeepsTheBestCheckpoint) {
  const TemporaryFolder folder;
  TrainingRun run({.epochs = 3, .output = folder.path()});
  const TrainResult result = run.trainer->run();
  const auto net = load_network(folder / "best.safetensors");
  EXPECT_FALSE(net->training());
  EXPECT_EQ(evaluate(*net, run.test, cpu()).accuracy, result.best_accuracy);
}

TEST(Trainer, RefusesTheStateOfAnotherRun) {
  const TemporaryFolder folder;
  TrainingRun run({.epochs = 1, .output = folder.path()});
  run.trainer->run();
  const auto net = create("mlp", run.model_options);
  optim::Adam adam(net->parameters());
  data::DataLoader other(points(100), {.batch_size = kBatch});
  EXPECT_THROW(Trainer(*net, adam, nullptr, run.train, nullptr, {}).load(folder / "last.safetensors"), ValueError);
  EXPECT_THROW(Trainer(*net, adam, nullptr, other, nullptr, {}).load(folder / "last.safetensors"), ValueError);
  data::DataLoader none(points(0), {.batch_size = kBatch});
  EXPECT_THROW(Trainer(*net, adam, nullptr, none, nullptr, {}), ValueError);
}

TEST(Trainer, ALossThatIsNotFiniteEndsTheRunAndSparesTheCheckpoints) {
  const TemporaryFolder folder;
  TrainingRun run({.epochs = 3, .output = folder.path()}, std::numeric_limits<float>::infinity());
  EXPECT_THROW(run.trainer->run(), ValueError);
  EXPECT_FALSE(std::filesystem::exists(folder / "last.safetensors"));
}

TEST(Checkpoint, OtherFilesAreRefused) {
  const TemporaryFolder folder;
  stoker::save({{"x", zeros({2})}}, folder / "tensors");
  EXPECT_THROW(read_checkpoint(folder / "tensors"), FormatError);
  stoker::save({}, folder / "future", {{"stoker.checkpoint", "2"}});
  EXPECT_THROW(read_checkpoint(folder / "future"), VersionError);
  stoker::save({}, folder / "damaged", {{"stoker.checkpoint", "1"}, {"stoker.state", "{\"model\": 3"}});
  EXPECT_THROW(read_checkpoint(folder / "damaged"), FormatError);
  stoker::save({}, folder / "partial", {{"stoker.checkpoint", "1"}, {"stoker.state", "{\"model\": \"mlp\"}"}});
  EXPECT_THROW(read_checkpoint(folder / "partial"), FormatError);
  EXPECT_THROW(read_checkpoint(folder / "absent"), IoError);
}

}  // namespace
}  // namespace stoker::models
