#include "cli/dataset.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace stoker::cli {
namespace {

constexpr std::string_view kFashionMnist = "fashion-mnist";

// Xiao, Rasul and Vollgraf 2017, table 2.
constexpr std::array kFashionClasses = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                        "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};

}  // namespace

std::shared_ptr<const data::ImageDataset> open_dataset(const std::string& name, std::string_view split,
                                                       const data::ImageOptions& options) {
  return name == kFashionMnist ? data::fashion_mnist(split, {}, options) : data::idx_folder(name, split, options);
}

data::ImageOptions image_options(const std::map<std::string, std::string>& settings) {
  const auto number = [&](const std::string& name, double absent) {
    const auto saved = settings.find(name);
    if (saved == settings.end()) return absent;
    double value = 0;
    const char* last = saved->second.data() + saved->second.size();
    if (const auto [end, error] = std::from_chars(saved->second.data(), last, value);
        error != std::errc() || end != last)
      throw FormatError("checkpoint", fmt::format("the value '{}' for --{} is damaged", saved->second, name));
    return value;
  };
  return {{number("mean", 0)}, {number("std", 1)}};
}

std::string class_name(const std::string& dataset, int64_t number) {
  if (dataset == kFashionMnist && number >= 0 && number < int64_t(kFashionClasses.size()))
    return kFashionClasses[size_t(number)];
  return std::to_string(number);
}

Device parse_device(const std::string& text) { return text == "auto" ? try_gpu() : Device(text); }

}  // namespace stoker::cli
