/// \file
/// Linear, Embedding, Dropout, and the layers that only look at shapes. N is the batch.
#pragma once

#include <optional>

#include <stoker/nn/module.h>

namespace stoker::nn {

struct LinearOptions {
  int64_t in_features = 0;
  int64_t out_features = 0;
  bool bias = true;
};

/// y = x Wᵀ + b: x[..., in_features] to y[..., out_features]. weight[out_features, in_features] and bias[out_features]
/// start uniform within 1/sqrt(in_features), as PyTorch's kaiming_uniform_(a = sqrt(5)).
class Linear : public Module {
 public:
  using Options = LinearOptions;
  explicit Linear(LinearOptions options);
  Linear(Module& parent, std::string name, LinearOptions options) : Linear(options) {
    parent.register_module(std::move(name), *this);
  }
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  const LinearOptions options;
  Parameter weight, bias;
};

struct EmbeddingOptions {
  int64_t num_embeddings = 0;
  int64_t embedding_dim = 0;
  std::optional<int64_t> padding_idx =
      {};  ///< a row that starts at 0 and gets no gradient; negative counts from the end
};

/// Rows of weight[num_embeddings, embedding_dim] by index: i32 or i64 x[...] to y[..., embedding_dim]. The weight
/// starts normal with deviation 1. An index outside of the table is a ValueError when the work runs.
class Embedding : public Module {
 public:
  using Options = EmbeddingOptions;
  explicit Embedding(EmbeddingOptions options);
  Embedding(Module& parent, std::string name, EmbeddingOptions options) : Embedding(options) {
    parent.register_module(std::move(name), *this);
  }
  Tensor forward(const Tensor& index) override;
  std::string extra_repr() const override;

  const EmbeddingOptions options;
  Parameter weight;
};

struct DropoutOptions {
  double p = 0.5;  ///< the share of elements that become 0, in [0, 1]
};

/// In training, zeroes elements with probability p and scales the rest by 1/(1-p); the identity in evaluation.
class Dropout : public Module {
 public:
  using Options = DropoutOptions;
  explicit Dropout(DropoutOptions options = {});
  Dropout(Module& parent, std::string name, DropoutOptions options = {}) : Dropout(options) {
    parent.register_module(std::move(name), *this);
  }
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  const DropoutOptions options;
};

struct FlattenOptions {
  int64_t start_dim = 1;
  int64_t end_dim = -1;
};

/// Joins the axes start_dim .. end_dim: x[N, C, H, W] to y[N, C*H*W] by default.
class Flatten : public Module {
 public:
  using Options = FlattenOptions;
  explicit Flatten(FlattenOptions options = {}) : options(options) {}
  Flatten(Module& parent, std::string name, FlattenOptions options = {}) : Flatten(options) {
    parent.register_module(std::move(name), *this);
  }
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  const FlattenOptions options;
};

/// Gives its input back.
class Identity : public Module {
 public:
  using Module::Module;
  Tensor forward(const Tensor& x) override;
};

}  // namespace stoker::nn
