/// \file
/// Convolution and pooling over images: x[N, C, H, W]. A Pair option takes one number for both axes or {height, width}.
#pragma once

#include <optional>

#include <stoker/nn/module.h>
#include <stoker/ops.h>

namespace stoker::nn {

struct Conv2dOptions {
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  Pair kernel_size = 0;
  Pair stride = 1;
  Pair padding = 0;  ///< zeros on each side
  Pair dilation = 1;
  int64_t groups = 1;  ///< divides both channel counts
  bool bias = true;
};

/// Cross-correlation with weight[out_channels, in_channels/groups, kH, kW], plus bias[out_channels]:
/// x[N, in_channels, H, W] to y[N, out_channels, oH, oW], oH = (H + 2 padding - dilation (kH - 1) - 1) / stride + 1.
/// Both start uniform within 1/sqrt(in_channels/groups * kH * kW), as PyTorch's kaiming_uniform_(a = sqrt(5)).
class Conv2d : public Module {
 public:
  using Options = Conv2dOptions;
  explicit Conv2d(Conv2dOptions options);
  Conv2d(Module& parent, std::string name, Conv2dOptions options) : Conv2d(options) {
    parent.register_module(std::move(name), *this);
  }
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  const Conv2dOptions options;
  Parameter weight, bias;
};

struct MaxPool2dOptions {
  Pair kernel_size = 0;
  std::optional<Pair> stride = {};  ///< kernel_size when absent
  Pair padding = 0;                 ///< at most half of kernel_size; never wins
  Pair dilation = 1;
  bool ceil_mode = false;  ///< keeps a last window that hangs over the edge
};

/// The largest element of each window; NaN wins.
class MaxPool2d : public Module {
 public:
  using Options = MaxPool2dOptions;
  explicit MaxPool2d(MaxPool2dOptions options);
  MaxPool2d(Module& parent, std::string name, MaxPool2dOptions options) : MaxPool2d(options) {
    parent.register_module(std::move(name), *this);
  }
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  const MaxPool2dOptions options;
};

struct AvgPool2dOptions {
  Pair kernel_size = 0;
  std::optional<Pair> stride = {};  ///< kernel_size when absent
  Pair padding = 0;                 ///< at most half of kernel_size
  bool ceil_mode = false;
  bool count_include_pad = true;  ///< whether padding counts in the divisor
};

/// The mean of each window.
class AvgPool2d : public Module {
 public:
  using Options = AvgPool2dOptions;
  explicit AvgPool2d(AvgPool2dOptions options);
  AvgPool2d(Module& parent, std::string name, AvgPool2dOptions options) : AvgPool2d(options) {
    parent.register_module(std::move(name), *this);
  }
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  const AvgPool2dOptions options;
};

struct AdaptiveAvgPool2dOptions {
  Pair output_size = 1;
};

/// Means over windows that divide the image into output_size parts; {.output_size = 1} is the global mean.
class AdaptiveAvgPool2d : public Module {
 public:
  using Options = AdaptiveAvgPool2dOptions;
  explicit AdaptiveAvgPool2d(AdaptiveAvgPool2dOptions options = {});
  AdaptiveAvgPool2d(Module& parent, std::string name, AdaptiveAvgPool2dOptions options = {})
      : AdaptiveAvgPool2d(options) {
    parent.register_module(std::move(name), *this);
  }
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  const AdaptiveAvgPool2dOptions options;
};

}  // namespace stoker::nn
