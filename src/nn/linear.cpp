#include <stoker/nn/linear.h>
#include <stoker/ops.h>

#include "nn/expect.h"
#include "nn/fan_uniform.h"
#include "nn/repr.h"

namespace stoker::nn {
namespace {

LinearOptions checked(const LinearOptions& options) {
  expect_at_least(1, "Linear", "in_features", options.in_features, "set it to the extent of the input's last axis");
  expect_at_least(1, "Linear", "out_features", options.out_features, "set it to the extent that the output is to have");
  return options;
}

EmbeddingOptions checked(EmbeddingOptions options) {
  expect_at_least(1, "Embedding", "num_embeddings", options.num_embeddings,
                  "set it to the number of different indices");
  expect_at_least(1, "Embedding", "embedding_dim", options.embedding_dim, "set it to the length of a row");
  if (options.padding_idx) {
    const int64_t rows = options.num_embeddings, row = *options.padding_idx;
    expect(row >= -rows && row < rows, "Embedding", fmt::format("padding_idx in {}..{}", -rows, rows - 1), row,
           "name a row of the table");
    options.padding_idx = row < 0 ? row + rows : row;
  }
  return options;
}

DropoutOptions checked(const DropoutOptions& options) {
  expect(options.p >= 0 && options.p <= 1, "Dropout", "p in [0, 1]", options.p,
         "give the share of elements that become 0");
  return options;
}

Tensor first_table(const EmbeddingOptions& options) {
  Tensor table = randn({options.num_embeddings, options.embedding_dim});
  if (options.padding_idx) table = slice_scatter(table, zeros({1, options.embedding_dim}), 0, *options.padding_idx);
  return table;
}

}  // namespace

Linear::Linear(LinearOptions o)
    : options(checked(o)),
      weight(*this, "weight", fan_uniform({o.out_features, o.in_features}, o.in_features)),
      bias(*this, "bias", o.bias ? fan_uniform({o.out_features}, o.in_features) : Tensor()) {}
Tensor Linear::forward(const Tensor& x) { return linear(x, weight, bias); }
std::string Linear::extra_repr() const {
  return Repr()
      .always("in_features", options.in_features)
      .always("out_features", options.out_features)
      .unless(true, "bias", options.bias);
}

Embedding::Embedding(EmbeddingOptions o) : options(checked(o)), weight(*this, "weight", first_table(options)) {}
Tensor Embedding::forward(const Tensor& index) { return embedding(index, weight, options.padding_idx); }
std::string Embedding::extra_repr() const {
  Repr repr;
  repr.always("num_embeddings", options.num_embeddings).always("embedding_dim", options.embedding_dim);
  if (options.padding_idx) repr.always("padding_idx", *options.padding_idx);
  return repr;
}

Dropout::Dropout(DropoutOptions o) : options(checked(o)) {}
Tensor Dropout::forward(const Tensor& x) { return dropout(x, options.p, training()); }
std::string Dropout::extra_repr() const { return Repr().always("p", options.p); }

Tensor Flatten::forward(const Tensor& x) { return flatten(x, options.start_dim, options.end_dim); }
std::string Flatten::extra_repr() const {
  return Repr().unless(int64_t(1), "start_dim", options.start_dim).unless(int64_t(-1), "end_dim", options.end_dim);
}

Tensor Identity::forward(const Tensor& x) { return x; }

}  // namespace stoker::nn
