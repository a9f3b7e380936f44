// Cli room: the command `stoker`. Each sub-command is one file that declares its options, its help and what it does,
// and one line in main.cpp. The room stands on the public API.
#pragma once

#include <functional>
#include <stdexcept>

#include <CLI/CLI.hpp>

namespace stoker::cli {

// What a sub-command's code gives back to the shell.
inline constexpr int kSuccess = 0, kFailure = 1, kUsage = 2, kInterrupted = 130;

// Options that make no sense together: reported like an unknown option.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Runs a sub-command whose options were read; gives its exit code.
using Action = std::function<int()>;

// Each adds its sub-command to `app`; when the user chooses it, `action` is set.
void add_train(CLI::App& app, Action& action);
void add_eval(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_version(CLI::App& app, Action& action);

}  // namespace stoker::cli
