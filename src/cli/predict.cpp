#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <stoker/io.h>
#include <stoker/models.h>
#include <stoker/ops.h>

#include "cli/command.h"
#include "cli/dataset.h"
#include "cli/report.h"

namespace stoker::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  The first images of the test set:
    stoker predict --checkpoint runs/demo/best.safetensors 0 1 2
  Your own, saved by numpy.save: u8 [H, W], [N, H, W] or [N, C, H, W], or the same in floats from 0 to 1:
    stoker predict --checkpoint runs/demo/best.safetensors boots.npy --top 1
  For another program:
    stoker predict --checkpoint runs/demo/best.safetensors 17 --json)";

struct PredictArguments {
  std::string checkpoint, data, device = "auto";
  std::vector<std::string> inputs;
  int64_t top = 3;
  bool json = false;
};

// Images that came from one argument.
struct Input {
  Tensor images;  // f32[N, C, H, W] from 0 to 1
  std::string name;
  std::optional<int64_t> label;  // known for the test set
};

std::optional<int64_t> parse_index(const std::string& text) {
  int64_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return index;
}

// u8, or floats in 0..1.
Input read_npy(const std::string& path, const Shape& image, const data::ImageOptions& options) {
  Tensor x = load_npy(path, cpu());
  if (x.dtype() != kU8 && !is_floating(x.dtype()))
    throw DTypeError("predict", fmt::format("{}: expected u8 or floats, got {}", path, name_of(x.dtype())));
  const Tensor scaled = x.dtype() == kU8 ? x.to(kF32) / 255.0 : x.to(kF32);
  Shape shape = scaled.shape();
  if (shape.rank() == 2) shape.insert(0, 1);
  if (shape.rank() == 3) shape.insert(1, 1);
  const bool fits = shape.rank() == 4 && std::equal(image.begin(), image.end(), shape.begin() + 1);
  if (!fits)
    throw ShapeError("predict",
                     fmt::format("{}: expected images of [C, H, W] = {}, as the network was trained on, got {}", path,
                                 to_string(image), to_string(x.shape())));
  return {(reshape(scaled, shape) - options.mean[0]) / options.std[0], path, std::nullopt};
}

// One line, or several, for one image.
class Printer {
 public:
  Printer(const PredictArguments& a, std::string data) : top_(a.top), json_(a.json), data_(std::move(data)) {}

  void print(const std::string& name, std::optional<int64_t> label, const std::vector<float>& probabilities) const {
    std::vector<int64_t> order(probabilities.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = int64_t(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return probabilities[size_t(a)] > probabilities[size_t(b)]; });
    order.resize(std::min(order.size(), size_t(top_)));
    if (json_)
      print_json(name, label, probabilities, order);
    else
      print_text(name, label, probabilities, order);
  }

 private:
  void print_text(const std::string& name, std::optional<int64_t> label, const std::vector<float>& probabilities,
                  const std::vector<int64_t>& order) const {
    fmt::print("{}{}\n", name, label ? fmt::format(" (is {})", class_name(data_, *label)) : "");
    for (int64_t c : order) fmt::print("  {:>7}  {}\n", percent(probabilities[size_t(c)]), class_name(data_, c));
  }

  void print_json(const std::string& name, std::optional<int64_t> label, const std::vector<float>& probabilities,
                  const std::vector<int64_t>& order) const {
    nlohmann::ordered_json out = {{"input", name}};
    if (label) out["label"] = *label;
    for (int64_t c : order)
      out["classes"].push_back(
          {{"class", c}, {"name", class_name(data_, c)}, {"probability", probabilities[size_t(c)]}});
    fmt::print("{}\n", out.dump());
  }

  int64_t top_;
  bool json_;
  std::string data_;
};

Shape image_shape(const models::CheckpointInfo& info) {
  Shape shape;
  for (const char* name : {"in_channels", "height", "width"}) {
    const auto option = info.model_options.find(name);
    if (option == info.model_options.end())
      throw FormatError("predict", fmt::format("expected the checkpoint's network to have the option {}", name));
    shape.push_back(int64_t(option->second));
  }
  return shape;
}

int run(PredictArguments& a) {
  const models::CheckpointInfo info = models::read_checkpoint(a.checkpoint);
  if (a.data.empty()) a.data = info.settings.contains("data") ? info.settings.at("data") : "fashion-mnist";
  const Shape image = image_shape(info);
  const data::ImageOptions options = image_options(info.settings);

  std::vector<Input> inputs;
  std::shared_ptr<const data::ImageDataset> test;
  for (const std::string& text : a.inputs) {
    if (const auto index = parse_index(text)) {
      if (!test) test = open_dataset(a.data, "test", options);
      const data::Sample sample = test->get(*index);
      inputs.push_back({unsqueeze(sample[0], 0), fmt::format("test image {}", *index), sample[1].item<int64_t>()});
    } else {
      inputs.push_back(read_npy(text, image, options));
    }
  }

  const Device device = parse_device(a.device);
  const std::unique_ptr<nn::Module> net = models::load_network(a.checkpoint, device);
  const Printer printer(a, a.data);
  for (const Input& input : inputs) {
    const Tensor probabilities = models::predict(*net, input.images.to(device));
    const auto classes = size_t(probabilities.size(1));
    const std::vector<float> all = probabilities.to_vector<float>();
    const int64_t count = input.images.size(0);
    for (int64_t i = 0; i < count; ++i) {
      const auto begin = all.begin() + ptrdiff_t(size_t(i) * classes);
      printer.print(count == 1 ? input.name : fmt::format("{}[{}]", input.name, i), input.label,
                    {begin, begin + ptrdiff_t(classes)});
    }
  }
  return kSuccess;
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("predict", "Names the classes of images");
  const auto a = std::make_shared<PredictArguments>();
  command->add_option("--checkpoint", a->checkpoint, "What `stoker train` saved")->required()->type_name("FILE");
  command->add_option("images", a->inputs, "Numbers of images in the test set, or .npy files")
      ->required()
      ->type_name("");
  command->add_option("--data", a->data, std::string(kDataHelp) + " [the data it was trained on]");
  command->add_option("--device", a->device, "cpu, cuda:1, ..., or auto: the first GPU, else the CPU")
      ->capture_default_str();
  command->add_option("--top", a->top, "How many classes to name")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_flag("--json", a->json, "Prints one JSON object for each image");
  command->footer(kExamples);
  command->callback([&action, a] { action = [a] { return run(*a); }; });
}

}  // namespace stoker::cli
