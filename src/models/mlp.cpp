#include <stoker/models.h>

#include <stoker/ops.h>

#include "models/registry.h"

namespace stoker::models {

Mlp::Mlp(const MlpOptions& options)
    : head_(*this, "head",
            {.in_features = options.hidden_layers > 0 ? options.hidden_features : options.in_features,
             .out_features = options.num_classes}),
      dropout_(*this, "dropout", {.p = options.dropout}) {
  for (int64_t layer = 0; layer < options.hidden_layers; ++layer)
    hidden_.push_back(nn::make<nn::Linear>({.in_features = layer == 0 ? options.in_features : options.hidden_features,
                                            .out_features = options.hidden_features}));
}

Tensor Mlp::forward(const Tensor& x) {
  Tensor h = flatten(x, 1);
  for (size_t layer = 0; layer < hidden_.size(); ++layer) h = dropout_(relu(hidden_[layer](h)));
  return head_(h);
}

namespace {

const bool added = add({
    .name = "mlp",
    .description = "multi-layer perceptron: linear layers with ReLU",
    .defaults = {{"in_channels", 1},
                 {"height", 28},
                 {"width", 28},
                 {"num_classes", 10},
                 {"hidden_features", 256},
                 {"hidden_layers", 2},
                 {"dropout", 0}},
    .make =
        [](const ModelOptions& options) {
          const Picker pick("mlp", options);
          return std::make_unique<Mlp>(MlpOptions{
              .in_features = pick.count("in_channels") * pick.count("height") * pick.count("width"),
              .hidden_features = pick.count("hidden_features"),
              .hidden_layers = pick.count("hidden_layers", 0),
              .num_classes = pick.count("num_classes"),
              .dropout = options.at("dropout"),
          });
        },
});

}  // namespace
}  // namespace stoker::models
