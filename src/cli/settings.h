// The options of a run that its checkpoint keeps, so that a resumed run needs none of them again.
#pragma once

#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"

namespace stoker::cli {

class Settings {
 public:
  // Keeps `variable`, which `option` fills. An option that is `free` may be given anew when a run is resumed.
  template <class T>
  void keep(const CLI::Option* option, T& variable, bool free = false) {
    entries_.push_back({option, free, [&variable] { return fmt::format("{}", variable); },
                        [&variable](const std::string& text) { return parse(text, variable); }});
  }

  // Option names without dashes, and values.
  std::map<std::string, std::string> values() const;
  // Gives every option that the command line left out the value of an earlier run.
  // Errors: UsageError for an option that was given, is not free and differs; FormatError for a damaged value.
  void restore(const std::map<std::string, std::string>& values) const;

 private:
  struct Entry {
    const CLI::Option* option;
    bool free;
    std::function<std::string()> get;
    std::function<bool(const std::string&)> set;
    std::string name() const { return option->get_lnames().at(0); }
  };

  template <class T>
  static bool parse(const std::string& text, T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      value = text;
      return true;
    } else {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      return error == std::errc() && end == text.data() + text.size();
    }
  }

  std::vector<Entry> entries_;
};

}  // namespace stoker::cli
