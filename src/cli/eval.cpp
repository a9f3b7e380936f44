#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <stoker/models.h>

#include "cli/command.h"
#include "cli/dataset.h"
#include "cli/report.h"

namespace stoker::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  stoker eval --checkpoint runs/demo/best.safetensors
  stoker eval --checkpoint runs/demo/best.safetensors --per-class
  stoker eval --checkpoint runs/demo/best.safetensors --data ~/digits --json)";

struct EvalArguments {
  std::string checkpoint, data, device = "auto";
  int64_t batch_size = 500;
  int workers = 1;
  bool per_class = false, json = false;
};

double share(int64_t correct, int64_t samples) { return samples == 0 ? 0 : double(correct) / double(samples); }

void print_json(const models::Evaluation& evaluation, const std::string& data) {
  nlohmann::ordered_json out = {
      {"test_accuracy", evaluation.accuracy}, {"test_loss", evaluation.loss}, {"images", evaluation.samples}};
  for (size_t c = 0; c < evaluation.class_samples.size(); ++c)
    out["classes"].push_back({{"class", c},
                              {"name", class_name(data, int64_t(c))},
                              {"images", evaluation.class_samples[c]},
                              {"correct", evaluation.class_correct[c]}});
  fmt::print("{}\n", out.dump());
}

void print_table(const models::Evaluation& evaluation, const std::string& data) {
  fmt::print("{:<14}{:>8}{:>9}{:>10}\n", "class", "images", "correct", "accuracy");
  for (size_t c = 0; c < evaluation.class_samples.size(); ++c) {
    const int64_t samples = evaluation.class_samples[c], correct = evaluation.class_correct[c];
    fmt::print("{:<14}{:>8}{:>9}{:>10}\n", class_name(data, int64_t(c)), samples, correct,
               percent(share(correct, samples)));
  }
}

int run(EvalArguments& a) {
  const models::CheckpointInfo info = models::read_checkpoint(a.checkpoint);
  if (a.data.empty()) a.data = info.settings.contains("data") ? info.settings.at("data") : "fashion-mnist";
  const Device device = parse_device(a.device);
  const std::unique_ptr<nn::Module> net = models::load_network(a.checkpoint, device);
  data::DataLoader loader(open_dataset(a.data, "test", image_options(info.settings)),
                          {.batch_size = a.batch_size, .num_workers = a.workers});
  const models::Evaluation evaluation = models::evaluate(*net, loader, device);
  if (a.json) {
    print_json(evaluation, a.data);
    return kSuccess;
  }
  if (a.per_class) print_table(evaluation, a.data);
  fmt::print("test accuracy: {}\n", percent(evaluation.accuracy));
  return kSuccess;
}

}  // namespace

void add_eval(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("eval", "Measures a trained network on a test set");
  const auto a = std::make_shared<EvalArguments>();
  command->add_option("--checkpoint", a->checkpoint, "What `stoker train` saved")->required()->type_name("FILE");
  command->add_option("--data", a->data, std::string(kDataHelp) + " [the data it was trained on]");
  command->add_option("--device", a->device, "cpu, cuda:1, ..., or auto: the first GPU, else the CPU")
      ->capture_default_str();
  command->add_option("--batch-size", a->batch_size, "Images at a time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--workers", a->workers, "Threads that prepare batches")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_flag("--per-class", a->per_class, "Prints a table of the classes, too");
  command->add_flag("--json", a->json, "Prints one JSON object");
  command->footer(kExamples);
  command->callback([&action, a] { action = [a] { return run(*a); }; });
}

}  // namespace stoker::cli
