// The attributes of `with_gradient`: a gradient that somebody else wrote.
#pragma once

#include <functional>

#include "graph/node.h"

namespace stoker::graph {

// with_gradient (View):                       y, x1, ..., xn -> y; gradients reach x1..xn alone, as `gradient` gives
// them
struct CustomGradientAttrs {
  // dy, the inputs x1..xn, y -> one gradient for each input, empty where there is none.
  std::function<std::vector<Value>(const Value& dy, const std::vector<Value>& inputs, const Value& y)> gradient;
  auto fields() const { return std::tuple<>(); }  // the forward pass does not depend on it
};

}  // namespace stoker::graph
