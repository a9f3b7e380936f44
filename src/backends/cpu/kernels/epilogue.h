// What follows a matrix product or convolution in the same kernel: bias, another tensor, ReLU, in the given order. A
// NaN stays one through ReLU, which oneDNN's does not promise.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {

// How many tensors the steps take.
inline size_t extra_inputs(const graph::EpilogueList& epilogue) {
  const auto& steps = epilogue.steps;
  return steps.size() - size_t(std::count(steps.begin(), steps.end(), graph::Epilogue::Relu));
}

// Applies `steps` to y, seen as [outer, channels, inner] where the bias is per channel. `extras` are the tensors of
// Bias and Add, in order.
template <class T>
void apply_epilogue(std::span<const graph::Epilogue> steps, std::span<const T* const> extras, T* y, int64_t outer,
                    int64_t channels, int64_t inner);

}  // namespace stoker::backends::cpu
