// How layers refuse an option: `[layer] expected ..., got ...; what to do`.
#pragma once

#include <string_view>

#include <fmt/format.h>
#include <stoker/error.h>
#include <stoker/ops.h>

namespace stoker::nn {

template <class T>
void expect(bool good, std::string_view layer, std::string_view expected, const T& got, std::string_view advice) {
  if (!good) throw ValueError(layer, fmt::format("expected {}, got {}; {}", expected, got, advice));
}

inline void expect_at_least(int64_t least, std::string_view layer, std::string_view option, int64_t got,
                            std::string_view advice) {
  if (got < least) expect(false, layer, fmt::format("{} of at least {}", option, least), got, advice);
}

inline void expect_at_least(int64_t least, std::string_view layer, std::string_view option, Pair got,
                            std::string_view advice) {
  if (got.height < least || got.width < least)
    expect(false, layer, fmt::format("{} of at least {}", option, least), fmt::format("{}x{}", got.height, got.width),
           advice);
}

}  // namespace stoker::nn
