// Models room: networks, and the loop that trains them. Below it stand nn, optim and data; the command stands above.
//
// A network is one file, with one call of add() at its end.
#pragma once

#include <stoker/models.h>

namespace stoker::models {

// Takes whole numbers out of a network's options.
class Picker {
 public:
  Picker(std::string_view model, const ModelOptions& options) : model_(model), options_(options) {}
  // ValueError unless the option is a whole number of at least `least`.
  int64_t count(const std::string& name, int64_t least = 1) const;

 private:
  std::string_view model_;
  const ModelOptions& options_;
};

}  // namespace stoker::models
