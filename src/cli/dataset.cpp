#include "cli/dataset.h"

#include <array>

namespace stoker::cli {
namespace {

constexpr std::string_view kFashionMnist = "fashion-mnist";

// Xiao, Rasul and Vollgraf 2017, table 2.
constexpr std::array kFashionClasses = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
                                        "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};

}  // namespace

std::shared_ptr<const data::ImageDataset> open_dataset(const std::string& name, std::string_view split) {
  return name == kFashionMnist ? data::fashion_mnist(split) : data::idx_folder(name, split);
}

std::string class_name(const std::string& dataset, int64_t number) {
  if (dataset == kFashionMnist && number >= 0 && number < int64_t(kFashionClasses.size()))
    return kFashionClasses[size_t(number)];
  return std::to_string(number);
}

Device parse_device(const std::string& text) { return text == "auto" ? try_gpu() : Device(text); }

}  // namespace stoker::cli
