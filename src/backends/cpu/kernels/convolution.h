// What a 2-d convolution and its two gradients are made of, for their portable kernels and for oneDNN's.
#pragma once

#include "backends/cpu/kernel.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {

enum class ConvDirection { Forward, InputGradient, WeightGradient };

struct ConvProblem {
  ConvProblem(const StepRequest& request, ConvDirection direction);

  ConvDirection direction;
  Shape x, w, y;  // x[N,C,H,W], w[O,C/groups,kH,kW], y[N,O,oH,oW]; of the gradients too
  graph::ConvAttrs attrs;

  int64_t groups() const { return attrs.groups; }
  // Of one group: input channels, output channels, weights of one output, positions of one plane of y.
  int64_t channels() const { return w[1]; }
  int64_t filters() const { return w[0] / attrs.groups; }
  int64_t window() const { return w[1] * w[2] * w[3]; }
  int64_t positions() const { return y[2] * y[3]; }
  bool empty() const { return numel(x) == 0 || numel(w) == 0 || numel(y) == 0; }
};

// f32 alone; nullptr where oneDNN has no fast implementation, or is not there.
std::unique_ptr<Kernel> lower_onednn_convolution(const ConvProblem& problem);

// db[O] = sum of dy[N,O,positions] over everything but O.
template <class T>
void sum_channels(const T* dy, T* db, int64_t images, int64_t channels, int64_t positions);

}  // namespace stoker::backends::cpu
