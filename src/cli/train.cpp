#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include <stoker/models.h>

#include "cli/command.h"
#include "cli/dataset.h"
#include "cli/interrupt.h"
#include "cli/recipe.h"
#include "cli/report.h"
#include "cli/settings.h"

namespace stoker::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExamples = R"(Examples:
  A convolutional network to 92% in a few minutes, with checkpoints in runs/demo:
    stoker train --model cnn --data fashion-mnist --epochs 6 --batch-size 128 --optimizer adam --lr 0.002 --output runs/demo
  Go on after Ctrl-C, a crash or a power cut; the run ends as if it had not been interrupted:
    stoker train --output runs/demo --resume
  Train the same run for longer, or from another file:
    stoker train --resume runs/demo/best.safetensors --epochs 12 --output runs/longer
  SGD with momentum, 200 steps of warm-up and weight decay on your own images in MNIST's format:
    stoker train --data ~/digits --optimizer momentum --lr 0.05 --warmup 200 --weight-decay 5e-4
  A quick look at 2,000 images; lines for another program:
    stoker train --model mlp --limit 2000 --epochs 1 --json)";

struct TrainArguments {
  std::string model = "cnn", data = "fashion-mnist", device = "auto", optimizer = "adam", schedule = "cosine";
  int64_t epochs = 8, batch_size = 128, warmup = 0, limit = 0, save_every = 0;
  double lr = 0, weight_decay = 0, dropout = 0, mean = 0, std = 1;
  uint64_t seed = 0;
  int workers = 1;
  fs::path output, resume;
  bool json = false, quiet = false;
  CLI::Option *lr_option = nullptr, *decay_option = nullptr, *mean_option = nullptr, *std_option = nullptr,
              *resume_option = nullptr;
  Settings settings;
};

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const models::ModelEntry& entry : models::registry()) names.push_back(entry.name);
  return names;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const OptimizerRow& row : optimizers()) names.emplace_back(row.name);
  return names;
}

void declare(CLI::App& command, TrainArguments& a) {
  const auto at_least = [](double least) { return CLI::Range(least, 1e15); };
  Settings& kept = a.settings;
  command.option_defaults()->always_capture_default();
  kept.keep(command.add_option("--model", a.model, "Network")->check(CLI::IsMember(model_names())), a.model);
  kept.keep(command.add_option("--data", a.data, kDataHelp), a.data);
  kept.keep(command.add_option("--epochs", a.epochs, "How often each image is seen")->check(at_least(0)), a.epochs,
            true);
  kept.keep(command.add_option("--batch-size", a.batch_size, "Images per step")->check(at_least(1)), a.batch_size);
  kept.keep(command.add_option("--optimizer", a.optimizer, "Optimizer")->check(CLI::IsMember(optimizer_names())),
            a.optimizer);
  command.option_defaults()->always_capture_default(false);
  a.lr_option = command.add_option("--lr", a.lr, "Learning rate [adam, adamw: 0.001, momentum: 0.02, sgd: 0.1]")
                    ->check(at_least(0));
  kept.keep(a.lr_option, a.lr);
  a.decay_option =
      command.add_option("--weight-decay", a.weight_decay, "Weight decay [adamw: 0.01, others: 0]")->check(at_least(0));
  kept.keep(a.decay_option, a.weight_decay);
  a.mean_option = command.add_option("--mean", a.mean, "Pixels are (x / 255 - mean) / std [of the training images]");
  a.std_option = command.add_option("--std", a.std, "See --mean")->check(at_least(1e-6));
  kept.keep(a.mean_option, a.mean);
  kept.keep(a.std_option, a.std);
  command.option_defaults()->always_capture_default();
  kept.keep(command.add_option("--schedule", a.schedule, "Learning rate over time")->check(CLI::IsMember(kSchedules)),
            a.schedule);
  kept.keep(
      command.add_option("--warmup", a.warmup, "Steps in which the learning rate rises to --lr")->check(at_least(0)),
      a.warmup);
  kept.keep(
      command.add_option("--dropout", a.dropout, "Probability of dropout in the network")->check(CLI::Range(0.0, 1.0)),
      a.dropout);
  kept.keep(command.add_option("--seed", a.seed, "Of initial weights, order and dropout"), a.seed);
  command.option_defaults()->always_capture_default(false);
  kept.keep(
      command.add_option("--limit", a.limit, "Trains on the first N images alone")->type_name("N")->check(at_least(1)),
      a.limit);

  command.add_option("--device", a.device, "cpu, cuda:1, ..., or auto: the first GPU, else the CPU")
      ->capture_default_str();
  command.add_option("--workers", a.workers, "Threads that prepare batches; the result does not depend on them")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command.add_option("--output", a.output, "Folder for last.safetensors and best.safetensors")->type_name("DIR");
  command.add_option("--save-every", a.save_every, "Saves after every N steps, too, besides every epoch")
      ->type_name("N")
      ->check(at_least(1));
  a.resume_option =
      command
          .add_option("--resume", a.resume,
                      "Continues from FILE, or from --output's last.safetensors; the options of that run hold")
          ->type_name("[FILE]")
          ->expected(0, 1);
  command.add_flag("--json", a.json, "Prints one JSON object a line");
  command.add_flag("--quiet", a.quiet, "Prints the final accuracy alone");
}

// The file to go on from, or an empty path; then every option has the value of that run.
fs::path resolve_resume(TrainArguments& a) {
  if (a.resume_option->count() == 0) return {};
  if (a.resume.empty()) {
    if (a.output.empty()) throw UsageError("--resume needs a FILE, or --output with a run in it");
    a.resume = a.output / "last.safetensors";
  }
  if (a.output.empty()) a.output = a.resume.has_parent_path() ? a.resume.parent_path() : fs::path(".");
  a.settings.restore(models::read_checkpoint(a.resume).settings);
  return a.resume;
}

models::ModelOptions model_options(const TrainArguments& a, const data::ImageDataset& images) {
  const Shape& shape = images.image_shape();
  return {{"in_channels", double(shape[0])},
          {"height", double(shape[1])},
          {"width", double(shape[2])},
          {"num_classes", double(images.classes())},
          {"dropout", a.dropout}};
}

struct Images {
  std::shared_ptr<const data::ImageDataset> train, test;
};

// Both sets, with mean 0 and deviation 1 in the training images unless the command line says otherwise.
Images open_images(TrainArguments& a, bool fresh) {
  const auto bytes = open_dataset(a.data, "train");
  const data::ImageOptions measured = bytes->statistics();
  if (fresh && a.mean_option->count() == 0) a.mean = measured.mean[0];
  if (fresh && a.std_option->count() == 0) a.std = measured.std[0];
  const data::ImageOptions options{{a.mean}, {a.std}};
  return {std::make_shared<data::ImageDataset>(*bytes, options), open_dataset(a.data, "test", options)};
}

int train(TrainArguments& a) {
  const std::unique_ptr<Reporter> reporter = make_reporter(a.json, a.quiet);
  const fs::path resumed = resolve_resume(a);
  const OptimizerRow& row = find_optimizer(a.optimizer);
  if (resumed.empty() && a.lr_option->count() == 0) a.lr = row.lr;
  if (resumed.empty() && a.decay_option->count() == 0) a.weight_decay = row.weight_decay;

  const Device device = parse_device(a.device);
  const auto [train_images, test_images] = open_images(a, resumed.empty());
  const std::shared_ptr<const data::Dataset> chosen = a.limit > 0 ? data::take(train_images, a.limit) : train_images;
  data::DataLoader train_loader(
      chosen, {.batch_size = a.batch_size, .shuffle = true, .num_workers = a.workers, .seed = a.seed});
  data::DataLoader test_loader(test_images, {.batch_size = 500, .num_workers = a.workers});

  manual_seed(a.seed);
  const models::ModelOptions options = model_options(a, *train_images);
  const std::unique_ptr<nn::Module> net = models::create(a.model, options);
  net->to(device);
  const std::unique_ptr<optim::Optimizer> optimizer = row.make(net->parameters(), a.lr, a.weight_decay);
  const std::unique_ptr<optim::LRScheduler> schedule =
      make_schedule(a.schedule, *optimizer, a.epochs * train_loader.batches(), a.warmup);

  const std::atomic<bool>& stop = stop_on_signals();
  models::Trainer trainer(*net, *optimizer, schedule.get(), train_loader, &test_loader,
                          {.epochs = a.epochs,
                           .device = device,
                           .output = a.output,
                           .save_every = a.save_every,
                           .report_seconds = reporter->interval(),
                           .stop = &stop,
                           .model = a.model,
                           .model_options = options,
                           .settings = a.settings.values()});
  if (!resumed.empty()) trainer.load(resumed);
  trainer.on_progress([&](const models::Progress& p) { reporter->progress(p); });
  trainer.on_epoch([&](const models::EpochReport& report) { reporter->epoch(report); });

  int64_t parameters = 0;
  for (const Tensor& parameter : net->parameters()) parameters += parameter.numel();
  reporter->start({a.model, a.data, device, parameters, chosen->size(), test_images->size(), resumed.string()});
  const models::TrainResult result = trainer.run();
  if (result.stopped) {
    reporter->stopped(a.output.empty() ? "" : (a.output / "last.safetensors").string());
    return kInterrupted;
  }
  reporter->finish(result);
  return kSuccess;
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("train", "Trains a classifier of images");
  const auto arguments = std::make_shared<TrainArguments>();
  declare(*command, *arguments);
  command->footer(kExamples);
  command->callback([&action, arguments] { action = [arguments] { return train(*arguments); }; });
}

}  // namespace stoker::cli
