#include <stoker/nn/conv.h>

#include "nn/expect.h"
#include "nn/fan_uniform.h"
#include "nn/repr.h"

namespace stoker::nn {
namespace {

constexpr const char* kWindow = "set it to the extent of the window";

Conv2dOptions checked(const Conv2dOptions& o) {
  expect_at_least(1, "Conv2d", "in_channels", o.in_channels, "set it to the extent of the input's axis 1");
  expect_at_least(1, "Conv2d", "out_channels", o.out_channels, "set it to the channels that the output is to have");
  expect_at_least(1, "Conv2d", "kernel_size", o.kernel_size, kWindow);
  expect_at_least(1, "Conv2d", "stride", o.stride, "use 1 to visit every place");
  expect_at_least(0, "Conv2d", "padding", o.padding, "use 0 for none");
  expect_at_least(1, "Conv2d", "dilation", o.dilation, "use 1 for neighbours");
  expect_at_least(1, "Conv2d", "groups", o.groups, "use 1 to connect all channels");
  expect(o.in_channels % o.groups == 0 && o.out_channels % o.groups == 0, "Conv2d",
         fmt::format("in_channels and out_channels that {} groups divide", o.groups),
         fmt::format("{} and {}", o.in_channels, o.out_channels), "choose groups that divide both");
  return o;
}

void check_window(std::string_view layer, Pair kernel_size, const std::optional<Pair>& stride, Pair padding) {
  expect_at_least(1, layer, "kernel_size", kernel_size, kWindow);
  if (stride) expect_at_least(1, layer, "stride", *stride, "leave it out for windows side by side");
  expect_at_least(0, layer, "padding", padding, "use 0 for none");
  expect(2 * padding.height <= kernel_size.height && 2 * padding.width <= kernel_size.width, layer,
         "padding of at most half of kernel_size", fmt::format("{}x{}", padding.height, padding.width),
         "more would make windows of padding alone");
}

MaxPool2dOptions checked(const MaxPool2dOptions& o) {
  check_window("MaxPool2d", o.kernel_size, o.stride, o.padding);
  expect_at_least(1, "MaxPool2d", "dilation", o.dilation, "use 1 for neighbours");
  return o;
}

AvgPool2dOptions checked(const AvgPool2dOptions& o) {
  check_window("AvgPool2d", o.kernel_size, o.stride, o.padding);
  return o;
}

AdaptiveAvgPool2dOptions checked(const AdaptiveAvgPool2dOptions& o) {
  expect_at_least(1, "AdaptiveAvgPool2d", "output_size", o.output_size, "use 1 for the global mean");
  return o;
}

int64_t fan_in(const Conv2dOptions& o) { return o.in_channels / o.groups * o.kernel_size.height * o.kernel_size.width; }

Shape weight_shape(const Conv2dOptions& o) {
  return {o.out_channels, o.in_channels / o.groups, o.kernel_size.height, o.kernel_size.width};
}

}  // namespace

Conv2d::Conv2d(Conv2dOptions o)
    : options(checked(o)),
      weight(*this, "weight", fan_uniform(weight_shape(o), fan_in(o))),
      bias(*this, "bias", o.bias ? fan_uniform({o.out_channels}, fan_in(o)) : Tensor()) {}
Tensor Conv2d::forward(const Tensor& x) {
  return conv2d(
      x, weight, bias,
      {.stride = options.stride, .padding = options.padding, .dilation = options.dilation, .groups = options.groups});
}
std::string Conv2d::extra_repr() const {
  return Repr()
      .always("in_channels", options.in_channels)
      .always("out_channels", options.out_channels)
      .always("kernel_size", options.kernel_size)
      .unless(Pair(1), "stride", options.stride)
      .unless(Pair(0), "padding", options.padding)
      .unless(Pair(1), "dilation", options.dilation)
      .unless(int64_t(1), "groups", options.groups)
      .unless(true, "bias", options.bias);
}

MaxPool2d::MaxPool2d(MaxPool2dOptions o) : options(checked(o)) {}
Tensor MaxPool2d::forward(const Tensor& x) {
  return max_pool2d(x, options.kernel_size,
                    {.stride = options.stride,
                     .padding = options.padding,
                     .dilation = options.dilation,
                     .ceil_mode = options.ceil_mode});
}
std::string MaxPool2d::extra_repr() const {
  return Repr()
      .always("kernel_size", options.kernel_size)
      .unless(options.kernel_size, "stride", options.stride.value_or(options.kernel_size))
      .unless(Pair(0), "padding", options.padding)
      .unless(Pair(1), "dilation", options.dilation)
      .unless(false, "ceil_mode", options.ceil_mode);
}

AvgPool2d::AvgPool2d(AvgPool2dOptions o) : options(checked(o)) {}
Tensor AvgPool2d::forward(const Tensor& x) {
  return avg_pool2d(x, options.kernel_size,
                    {.stride = options.stride,
                     .padding = options.padding,
                     .ceil_mode = options.ceil_mode,
                     .count_include_pad = options.count_include_pad});
}
std::string AvgPool2d::extra_repr() const {
  return Repr()
      .always("kernel_size", options.kernel_size)
      .unless(options.kernel_size, "stride", options.stride.value_or(options.kernel_size))
      .unless(Pair(0), "padding", options.padding)
      .unless(false, "ceil_mode", options.ceil_mode)
      .unless(true, "count_include_pad", options.count_include_pad);
}

AdaptiveAvgPool2d::AdaptiveAvgPool2d(AdaptiveAvgPool2dOptions o) : options(checked(o)) {}
Tensor AdaptiveAvgPool2d::forward(const Tensor& x) { return adaptive_avg_pool2d(x, options.output_size); }
std::string AdaptiveAvgPool2d::extra_repr() const { return Repr().always("output_size", options.output_size); }

}  // namespace stoker::nn
