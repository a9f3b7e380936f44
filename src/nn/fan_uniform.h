// How PyTorch's layers start: kaiming_uniform_(a = sqrt(5)) for weights comes to the same bound as it gives their
// biases.
#pragma once

#include <cmath>

#include <stoker/tensor.h>

namespace stoker::nn {

inline Tensor fan_uniform(const Shape& shape, int64_t fan_in) {
  const double bound = 1 / std::sqrt(double(fan_in));
  return uniform(shape, -bound, bound);
}

}  // namespace stoker::nn
