#include "models/registry.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace stoker::models {
namespace {

using Entries = std::map<std::string, ModelEntry, std::less<>>;

Entries& entries() {
  static auto* const all = new Entries;  // filled before main(), used until the end
  return *all;
}

template <class Map>
std::string names(const Map& map) {
  std::vector<std::string_view> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace

bool add(ModelEntry entry) {
  const std::string name = entry.name;
  if (!entries().emplace(name, std::move(entry)).second)
    throw ValueError("models", fmt::format("expected a new name, got '{}', which is taken", name));
  return true;
}

std::vector<ModelEntry> registry() {
  std::vector<ModelEntry> all;
  for (const auto& [name, entry] : entries()) all.push_back(entry);
  return all;
}

std::unique_ptr<nn::Module> create(std::string_view name, const ModelOptions& options) {
  const auto entry = entries().find(name);
  if (entry == entries().end())
    throw ValueError("models", fmt::format("expected a network of {}; got '{}'", names(entries()), name));
  ModelOptions all = entry->second.defaults;
  for (const auto& [key, value] : options) {
    if (!all.contains(key))
      throw ValueError("models", fmt::format("{} has the options {}; got '{}'", name, names(all), key));
    all[key] = value;
  }
  return entry->second.make(all);
}

int64_t Picker::count(const std::string& name, int64_t least) const {
  constexpr double kMost = 1e9;  // products of a few stay within 63 bits
  const double value = options_.at(name);
  if (!(value >= double(least) && value <= kMost) || value != std::floor(value))
    throw ValueError("models", fmt::format("{}: expected {} to be a whole number of at least {}, got {}", model_, name,
                                           least, value));
  return int64_t(value);
}

}  // namespace stoker::models
