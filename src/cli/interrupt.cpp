#include "cli/interrupt.h"

#include <csignal>

namespace stoker::cli {
namespace {

std::atomic<bool> stop = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");

}  // namespace

const std::atomic<bool>& stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop = true; };
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  for (int signal : {SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  return stop;
}

}  // namespace stoker::cli
