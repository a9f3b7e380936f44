// The text between the parentheses of a printed layer: `in_features=8, out_features=4`. What has its default value is
// left out, so that a printed layer reads like the options that made it.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <stoker/ops.h>

namespace stoker::nn {

class Repr {
 public:
  template <class T>
  Repr& always(std::string_view name, const T& value) {
    text_ += fmt::format("{}{}={}", text_.empty() ? "" : ", ", name, print(value));
    return *this;
  }
  template <class T>
  Repr& unless(const T& usual, std::string_view name, const T& value) {
    return print(value) == print(usual) ? *this : always(name, value);
  }
  operator std::string() const { return text_; }

 private:
  static std::string print(int64_t value) { return fmt::format("{}", value); }
  static std::string print(double value) { return fmt::format("{}", value); }
  static std::string print(bool value) { return value ? "true" : "false"; }
  static std::string print(const Shape& value) { return to_string(value); }
  static std::string print(Pair value) {
    return value.height == value.width ? fmt::format("{}", value.height)
                                       : fmt::format("{{{}, {}}}", value.height, value.width);
  }

  std::string text_;
};

}  // namespace stoker::nn
