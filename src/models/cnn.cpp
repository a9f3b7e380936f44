#include <stoker/models.h>

#include <stoker/ops.h>

#include "models/registry.h"

namespace stoker::models {
namespace {

constexpr int64_t kChannels1 = 32, kChannels2 = 64, kHidden = 128;

}  // namespace

Cnn::Cnn(const CnnOptions& options)
    : conv1_(*this, "conv1",
             {.in_channels = options.in_channels, .out_channels = kChannels1, .kernel_size = 3, .padding = 1}),
      conv2_(*this, "conv2", {.in_channels = kChannels1, .out_channels = kChannels2, .kernel_size = 3, .padding = 1}),
      fc1_(*this, "fc1",
           {.in_features = kChannels2 * (options.height / 4) * (options.width / 4), .out_features = kHidden}),
      fc2_(*this, "fc2", {.in_features = kHidden, .out_features = options.num_classes}),
      dropout_(*this, "dropout", {.p = options.dropout}) {}

Tensor Cnn::forward(const Tensor& x) {
  Tensor h = max_pool2d(relu(conv1_(x)), 2);
  h = max_pool2d(relu(conv2_(h)), 2);
  h = relu(fc1_(dropout_(flatten(h, 1))));
  return fc2_(dropout_(h));
}

namespace {

const bool added = add({
    .name = "cnn",
    .description = "two blocks of 3x3 convolution, ReLU and max-pooling, then two linear layers",
    .defaults = {{"in_channels", 1}, {"height", 28}, {"width", 28}, {"num_classes", 10}, {"dropout", 0}},
    .make =
        [](const ModelOptions& options) {
          const Picker pick("cnn", options);
          return std::make_unique<Cnn>(CnnOptions{
              .in_channels = pick.count("in_channels"),
              .height = pick.count("height", 4),
              .width = pick.count("width", 4),
              .num_classes = pick.count("num_classes"),
              .dropout = options.at("dropout"),
          });
        },
});

}  // namespace
}  // namespace stoker::models
