#include "models/checkpoint.h"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "data/safetensors.h"

namespace stoker::models {
namespace {

using nlohmann::json;

constexpr const char* kOperation = "checkpoint";
constexpr const char* kVersionKey = "stoker.checkpoint";
constexpr const char* kStateKey = "stoker.state";
constexpr const char* kVersion = "1";

// The parts of a checkpoint with the prefixes of their tensors.
template <class C>
auto parts_of(C& checkpoint) {
  return std::array{std::pair{std::string("network."), &checkpoint.network},
                    std::pair{std::string("optimizer."), &checkpoint.optimizer},
                    std::pair{std::string("schedule."), &checkpoint.schedule},
                    std::pair{std::string("sums."), &checkpoint.sums}};
}

// Everything but the tensors.
Checkpoint parse(const Metadata& metadata, const std::filesystem::path& path) {
  const auto version = metadata.find(kVersionKey);
  if (version == metadata.end())
    throw FormatError(
        kOperation,
        fmt::format("{}, offset 8: expected a checkpoint, which has the metadata {}; these are tensors alone",
                    path.string(), kVersionKey));
  if (version->second != kVersion)
    throw VersionError(
        kOperation, fmt::format("{}: expected a checkpoint of version {}, got version {}; use the Stoker that wrote it",
                                path.string(), kVersion, version->second));
  try {
    const json state = json::parse(metadata.at(kStateKey));
    Checkpoint checkpoint;
    checkpoint.info = {.model = state.at("model"),
                       .model_options = state.at("model_options"),
                       .settings = state.at("settings"),
                       .position = {.epoch = state.at("epoch"), .position = state.at("position")},
                       .epochs = state.at("epochs"),
                       .best_accuracy = state.at("best_accuracy")};
    checkpoint.batches = state.at("batches");
    checkpoint.random = {.seed = state.at("random_seed"), .counter = state.at("random_counter")};
    return checkpoint;
  } catch (const std::exception& e) {
    throw FormatError(kOperation,
                      fmt::format("{}, offset 8: the metadata {} is damaged: {}", path.string(), kStateKey, e.what()));
  }
}

}  // namespace

void write_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& path) {
  const CheckpointInfo& info = checkpoint.info;
  const json state = {{"model", info.model},
                      {"model_options", info.model_options},
                      {"settings", info.settings},
                      {"epoch", info.position.epoch},
                      {"position", info.position.position},
                      {"epochs", info.epochs},
                      {"best_accuracy", info.best_accuracy},
                      {"batches", checkpoint.batches},
                      {"random_seed", checkpoint.random.seed},
                      {"random_counter", checkpoint.random.counter}};
  StateDict tensors;
  for (const auto& [prefix, part] : parts_of(checkpoint))
    for (const auto& [name, tensor] : *part) tensors.emplace(prefix + name, tensor);
  stoker::save(tensors, path, {{kVersionKey, kVersion}, {kStateKey, state.dump()}});
}

Checkpoint load_checkpoint(const std::filesystem::path& path) {
  const MappedFile file(path, kOperation);
  const data::SafeTensors content = data::parse_safetensors(file.bytes(), path.string(), kOperation);
  Checkpoint checkpoint = parse(content.metadata, path);
  for (const auto& [name, array] : content.tensors) {
    bool known = false;
    for (const auto& [prefix, part] : parts_of(checkpoint))
      if (name.starts_with(prefix)) known = part->emplace(name.substr(prefix.size()), array.to_tensor(cpu())).second;
    if (!known)
      throw FormatError(kOperation,
                        fmt::format("{}, offset 8: expected tensors of network, optimizer, schedule and sums, got '{}'",
                                    path.string(), name));
  }
  return checkpoint;
}

CheckpointInfo read_checkpoint(const std::filesystem::path& path) {
  const MappedFile file(path, kOperation);
  return parse(data::parse_safetensors(file.bytes(), path.string(), kOperation).metadata, path).info;
}

std::unique_ptr<nn::Module> load_network(const std::filesystem::path& path, Device device) {
  const Checkpoint checkpoint = load_checkpoint(path);
  std::unique_ptr<nn::Module> net = create(checkpoint.info.model, checkpoint.info.model_options);
  net->to(device);
  net->load_state_dict(checkpoint.network);
  net->eval();
  return net;
}

}  // namespace stoker::models
