// Datasets as the command line names them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <stoker/data.h>

namespace stoker::cli {

inline constexpr const char* kDataHelp = "`fashion-mnist`, or a folder with MNIST's four IDX files, plain or .gz";

// "train" or "test" of a dataset.
std::shared_ptr<const data::ImageDataset> open_dataset(const std::string& name, std::string_view split,
                                                       const data::ImageOptions& options = {});
// What the images were trained with, from a checkpoint's settings.
data::ImageOptions image_options(const std::map<std::string, std::string>& settings);
// The name of a class, or its number where the dataset has no names.
std::string class_name(const std::string& dataset, int64_t number);

// The device of an option --device: a name, or "auto".
Device parse_device(const std::string& text);

}  // namespace stoker::cli
