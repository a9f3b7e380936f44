// Datasets as the command line names them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <stoker/data.h>

namespace stoker::cli {

inline constexpr const char* kDataHelp = "`fashion-mnist`, or a folder with MNIST's four IDX files, plain or .gz";

// "train" or "test" of a dataset.
std::shared_ptr<const data::ImageDataset> open_dataset(const std::string& name, std::string_view split);
// The name of a class, or its number where the dataset has no names.
std::string class_name(const std::string& dataset, int64_t number);

// The device of an option --device: a name, or "auto".
Device parse_device(const std::string& text);

}  // namespace stoker::cli
