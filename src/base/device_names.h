// Kinds of devices are an open set: a backend's name gets a number the first time somebody says it.
#pragma once

#include <cstdint>
#include <string_view>

namespace stoker {

uint8_t intern_device_kind(std::string_view kind);

}  // namespace stoker
