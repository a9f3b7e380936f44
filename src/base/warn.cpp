#include "base/warn.h"

#include <mutex>

#include <stoker/error.h>

namespace stoker {
namespace {
std::mutex& mutex() {
  static auto* m = new std::mutex;
  return *m;
}
WarningHandler& handler() {
  static auto* h = new WarningHandler;
  return *h;
}
}  // namespace

void set_warning_handler(WarningHandler h) {
  std::lock_guard lock(mutex());
  handler() = std::move(h);
}

void warn(const std::string& message) {
  WarningHandler h;
  {
    std::lock_guard lock(mutex());
    h = handler();
  }
  if (h) h(message);
}

}  // namespace stoker
