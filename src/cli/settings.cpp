#include "cli/settings.h"

#include <stoker/error.h>

namespace stoker::cli {

std::map<std::string, std::string> Settings::values() const {
  std::map<std::string, std::string> values;
  for (const Entry& entry : entries_) values.emplace(entry.name(), entry.get());
  return values;
}

void Settings::restore(const std::map<std::string, std::string>& values) const {
  for (const Entry& entry : entries_) {
    const auto saved = values.find(entry.name());
    if (saved == values.end())
      throw FormatError(
          "resume", fmt::format("expected the checkpoint to keep --{}; was it saved by `stoker train`?", entry.name()));
    const bool given = entry.option->count() > 0;
    if (given && !entry.free && entry.get() != saved->second)
      throw UsageError(
          fmt::format("--{} {} differs from the run that is resumed, which has {}; leave it out, or start a new run",
                      entry.name(), entry.get(), saved->second));
    if (!given && !entry.set(saved->second))
      throw FormatError("resume",
                        fmt::format("the checkpoint's value '{}' for --{} is damaged", saved->second, entry.name()));
  }
}

}  // namespace stoker::cli
