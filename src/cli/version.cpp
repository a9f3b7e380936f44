#include <fmt/format.h>

#include <stoker/device.h>

#include "cli/command.h"

namespace stoker::cli {

void add_version(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("version", "Prints the version and the devices of this machine");
  command->callback([&action] {
    action = [] {
      fmt::print("stoker {}\n", STOKER_VERSION);
      for (Device device : devices()) fmt::print("{}  {}\n", to_string(device), properties(device).name);
      return kSuccess;
    };
  });
}

}  // namespace stoker::cli
