#include <stoker/device.h>
#include <stoker/error.h>

#include <charconv>
#include <deque>
#include <mutex>

#include <fmt/format.h>

#include "base/device_names.h"

namespace stoker {
namespace {

thread_local Device current_default("cpu", 0);

struct Kinds {
  std::mutex mutex;
  std::deque<std::string> names{"cpu"};  // a deque keeps the views that kind() returned
};
Kinds& kinds() {
  static Kinds* k = new Kinds;  // outlives every static that holds a Device
  return *k;
}

}  // namespace

uint8_t intern_device_kind(std::string_view kind) {
  std::lock_guard lock(kinds().mutex);
  auto& names = kinds().names;
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == kind) return uint8_t(i);
  names.emplace_back(kind);
  return uint8_t(names.size() - 1);
}

Device::Device() : Device(default_device()) {}
Device::Device(std::string_view kind, int index) : kind_(intern_device_kind(kind)), index_(int16_t(index)) {}

Device::Device(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  int index = 0;
  bool good = !kind.empty() && kind.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == kind.npos;
  if (good && colon != text.npos) {
    const std::string_view digits = text.substr(colon + 1);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    good = error == std::errc() && end == digits.data() + digits.size() && index >= 0 && index < 32768;
  }
  if (!good)
    throw DeviceError("device", fmt::format("expected a name such as cpu, cpu:1, cuda:0 or opencl:0, got '{}'", text));
  kind_ = intern_device_kind(kind);
  index_ = int16_t(index);
}

std::string_view Device::kind() const {
  std::lock_guard lock(kinds().mutex);
  return kinds().names[kind_];
}

std::string to_string(Device device) { return fmt::format("{}:{}", device.kind(), device.index()); }

Device cpu(int index) { return Device("cpu", index); }
Device cuda(int index) { return Device("cuda", index); }
Device opencl(int index) { return Device("opencl", index); }

Device default_device() { return current_default; }

DeviceScope::DeviceScope(Device device) : previous_(current_default) { current_default = device; }
DeviceScope::~DeviceScope() { current_default = previous_; }

}  // namespace stoker
