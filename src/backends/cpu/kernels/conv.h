// conv2d and its gradients, for their portable kernels and for oneDNN's.
#pragma once

#include "backends/cpu/kernel.h"
#include "graph/ops/attributes.h"

namespace stoker::backends::cpu {

enum class ConvKind : uint8_t { Forward, InputGradient, WeightGradient };

// The shapes of all three tensors, whichever of them is wanted: x[images, groups*channels, height, width],
// w[groups*outputs, channels, kernel height, kernel width], y[images, groups*outputs, height, width].
struct Convolution {
  Convolution(ConvKind kind, const StepRequest& request);

  ConvKind kind;
  graph::ConvAttrs attrs;
  Shape x, w, y;

  int64_t images() const { return x[0]; }
  int64_t groups() const { return attrs.groups; }
  int64_t channels() const { return w[1]; }
  int64_t outputs() const { return w[0] / attrs.groups; }
  int64_t taps() const { return w[2] * w[3]; }
  int64_t input_plane() const { return x[2] * x[3]; }
  int64_t output_plane() const { return y[2] * y[3]; }
};

// What follows the convolution, over y in place, from the epilogue's step `first` on.
void finish_convolution(const Convolution& problem, const Launch& launch, size_t first);

// f32 and f64.
std::unique_ptr<Kernel> lower_portable_conv(ConvKind kind, const StepRequest& request);
// f32; nullptr where oneDNN is missing or has nothing faster.
std::unique_ptr<Kernel> lower_onednn_conv(ConvKind kind, const StepRequest& request);

}  // namespace stoker::backends::cpu
