#include <algorithm>
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include <stoker/error.h>

#include "cli/command.h"

namespace stoker::cli {
namespace {

// Sub-commands in the order of the help.
constexpr auto kCommands = {add_train, add_eval, add_predict, add_version};

// Whatever happens, one line.
std::string line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t at; (at = text.find('\n')) != std::string::npos;) {
    const size_t next = std::min(text.find_first_not_of(" \n", at), text.size());
    text.replace(at, next - at, "; ");
  }
  return text;
}

// The command as far as it was understood: "stoker train".
std::string chosen(const CLI::App& app) {
  const auto subcommands = app.get_subcommands();
  return subcommands.empty() ? "stoker" : "stoker " + subcommands[0]->get_name();
}

int usage_error(const CLI::App& app, const std::string& message) {
  fmt::print(stderr, "{0}: {1} ({0} --help shows the options)\n", chosen(app), line(message));
  return kUsage;
}

int run(int argc, char** argv) {
  set_warning_handler([](const std::string& message) { fmt::print(stderr, "stoker: warning: {}\n", line(message)); });
  CLI::App app{"Stoker trains and deploys neural networks.", "stoker"};
  app.set_version_flag("--version", "stoker " STOKER_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Start here:\n"
      "  stoker train --model cnn --data fashion-mnist --epochs 6 --lr 0.002 --output runs/demo\n"
      "  stoker eval --checkpoint runs/demo/best.safetensors --per-class\n"
      "  stoker predict --checkpoint runs/demo/best.safetensors 0 1 2\n"
      "`stoker COMMAND --help` explains each of them.");
  Action action;
  for (const auto add : kCommands) add(app, action);

  try {
    app.parse(argc, argv);
    return action();
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& e) {
    return usage_error(app, e.what());
  } catch (const UsageError& e) {
    return usage_error(app, e.what());
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: {}\n", chosen(app), line(e.what()));
    return kFailure;
  }
}

}  // namespace
}  // namespace stoker::cli

int main(int argc, char** argv) { return stoker::cli::run(argc, argv); }
