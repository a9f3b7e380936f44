// How optimizers and schedules refuse an option: `[name] expected ..., got ...; what to do`.
#pragma once

#include <string_view>

#include <fmt/format.h>
#include <stoker/error.h>

namespace stoker::optim {

template <class T>
void expect(bool good, std::string_view name, std::string_view expected, const T& got, std::string_view advice) {
  if (!good) throw ValueError(name, fmt::format("expected {}, got {}; {}", expected, got, advice));
}

}  // namespace stoker::optim
