// Matrix products, convolution, pooling, normalisation, losses.
#include "ops/case.h"

namespace stoker::test {
namespace {

// What a mean of 256 loses of its variance.
const Traits kFarFromZero{.ulps = 256, .gradient_ulps = 256};
const auto kNone = Reduction::None;
const auto kSum = Reduction::Sum;

const Cases kProducts{
    recorded("matmul", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.large", [](X x) { return x[0].matmul(x[1]); }),
    recorded("matmul.vectors", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.matrix_vector", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.vector_matrix", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.batch", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.batch_broadcast", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.batch_matrix", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.matrix_batch", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.batch_vector", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.vector_batch", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.transposed", [](X x) { return matmul(x[0].t(), x[1].t()); }),
    recorded("matmul.with_itself", [](X x) { return matmul(x[0], x[0]); }),
    recorded("matmul.one_element", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.nothing_summed", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.no_rows", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.no_batch", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.nan", [](X x) { return matmul(x[0], x[1]); }),
    recorded("matmul.integers", [](X x) { return matmul(x[0], x[1]).to(x[0].dtype()); }),
    recorded("linear", [](X x) { return linear(x[0], x[1], x[2]); }),
    recorded("linear.no_bias", [](X x) { return linear(x[0], x[1]); }),
    recorded("linear.batch", [](X x) { return linear(x[0], x[1], x[2]); }),
    recorded("linear.vector", [](X x) { return linear(x[0], x[1], x[2]); }),
    recorded("linear.no_rows", [](X x) { return linear(x[0], x[1], x[2]); }),
};

const Cases kConvolutions{
    recorded("conv2d", [](X x) { return conv2d(x[0], x[1], x[2]); }),
    recorded("conv2d.no_bias", [](X x) { return conv2d(x[0], x[1]); }),
    recorded("conv2d.padding",
             [](X x) {
               return conv2d(x[0], x[1], {}, {.padding = {1, 2}});
             }),
    recorded("conv2d.stride",
             [](X x) {
               return conv2d(x[0], x[1], {}, {.stride = {2, 3}});
             }),
    recorded("conv2d.dilation",
             [](X x) {
               return conv2d(x[0], x[1], x[2], {.dilation = {3, 2}});
             }),
    recorded("conv2d.everything",
             [](X x) { return conv2d(x[0], x[1], x[2], {.stride = 2, .padding = 2, .dilation = 2, .groups = 2}); }),
    recorded("conv2d.groups", [](X x) { return conv2d(x[0], x[1], {}, {.groups = 2}); }),
    recorded("conv2d.depthwise", [](X x) { return conv2d(x[0], x[1], {}, {.padding = 1, .groups = 4}); }),
    recorded("conv2d.pointwise", [](X x) { return conv2d(x[0], x[1], x[2]); }),
    recorded("conv2d.whole_image", [](X x) { return conv2d(x[0], x[1]); }),
    recorded("conv2d.padding_high",
             [](X x) {
               return conv2d(x[0], x[1], {}, {.padding = {1, 0}, .padding_high = Pair{3, 2}});
             }),
    recorded("conv2d.rest_unread", [](X x) { return conv2d(x[0], x[1], {}, {.stride = 3}); }),
    recorded("conv2d.no_images", [](X x) { return conv2d(x[0], x[1]); }),
};

const Cases kPools{
    recorded("max_pool2d", [](X x) { return max_pool2d(x[0], 2); }),
    recorded("max_pool2d.stride",
             [](X x) {
               return max_pool2d(x[0], {3, 2}, {.stride = Pair{2, 1}});
             }),
    recorded("max_pool2d.padding", [](X x) { return max_pool2d(x[0], 3, {.stride = 2, .padding = 1}); }),
    recorded("max_pool2d.dilation",
             [](X x) {
               return max_pool2d(x[0], 2, {.stride = 1, .dilation = {2, 3}});
             }),
    recorded("max_pool2d.ceil", [](X x) { return max_pool2d(x[0], 2, {.ceil_mode = true}); }),
    recorded("max_pool2d.ties", [](X x) { return max_pool2d(x[0], 2, {.stride = 1}); }, {.smooth = false}),
    recorded("max_pool2d.nan", [](X x) { return max_pool2d(x[0], 2); }),
    recorded("max_pool2d_with_indices",
             [](X x) { return max_pool2d_with_indices(x[0], 3, {.stride = 2, .padding = 1}); }),
    recorded("max_pool2d_with_indices.ties", [](X x) { return max_pool2d_with_indices(x[0], 2); }, {.smooth = false}),
    recorded("avg_pool2d", [](X x) { return avg_pool2d(x[0], 2); }),
    recorded("avg_pool2d.stride",
             [](X x) {
               return avg_pool2d(x[0], {3, 2}, {.stride = Pair{2, 1}});
             }),
    recorded("avg_pool2d.padding", [](X x) { return avg_pool2d(x[0], 3, {.stride = 2, .padding = 1}); }),
    recorded("avg_pool2d.padding_uncounted",
             [](X x) { return avg_pool2d(x[0], 3, {.stride = 2, .padding = 1, .count_include_pad = false}); }),
    recorded("avg_pool2d.ceil",
             [](X x) { return avg_pool2d(x[0], 3, {.stride = 2, .padding = 1, .ceil_mode = true}); }),
    recorded("avg_pool2d.ceil_uncounted",
             [](X x) {
               return avg_pool2d(x[0], 3, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false});
             }),
    recorded("adaptive_avg_pool2d",
             [](X x) {
               return adaptive_avg_pool2d(x[0], {3, 4});
             }),
    recorded("adaptive_avg_pool2d.global", [](X x) { return adaptive_avg_pool2d(x[0], 1); }),
    recorded("adaptive_avg_pool2d.larger",
             [](X x) {
               return adaptive_avg_pool2d(x[0], {9, 6});
             }),
    recorded("adaptive_max_pool2d",
             [](X x) {
               return adaptive_max_pool2d(x[0], {3, 4});
             }),
    recorded("adaptive_max_pool2d.global", [](X x) { return adaptive_max_pool2d(x[0], 1); }),
};

// Training with running statistics; they are results too.
template <class... Rest>
Tensors batch_norm_moves(X x, const Tensor& weight, const Tensor& bias, Rest... rest) {
  const Tensor mean = make_cell(x[1].detach()), var = make_cell(x[2].detach());
  const Tensor y = batch_norm(x[0], mean, var, weight, bias, true, rest...);
  return {y, mean, var};
}

const Cases kNorms{
    recorded("softmax", [](X x) { return softmax(x[0], -1); }),
    recorded("softmax.middle", [](X x) { return softmax(x[0], 1); }),
    recorded("softmax.first", [](X x) { return softmax(x[0], 0); }),
    recorded("softmax.large", [](X x) { return softmax(x[0], 1); }),
    recorded("softmax.infinite", [](X x) { return softmax(x[0], 1); }),
    recorded("softmax.nan", [](X x) { return softmax(x[0], 1); }),
    recorded("softmax.scalar", [](X x) { return softmax(x[0], 0); }),
    recorded("softmax.empty", [](X x) { return softmax(x[0], 1); }),
    recorded("softmax.empty_axis", [](X x) { return softmax(x[0], 1); }),
    recorded("softmax.long", [](X x) { return softmax(x[0], 1); }),
    recorded("log_softmax", [](X x) { return log_softmax(x[0], -1); }),
    recorded("log_softmax.middle", [](X x) { return log_softmax(x[0], 1); }),
    recorded("log_softmax.first", [](X x) { return log_softmax(x[0], 0); }),
    recorded("log_softmax.large", [](X x) { return log_softmax(x[0], 1); }),
    recorded("log_softmax.scalar", [](X x) { return log_softmax(x[0], 0); }),
    recorded("layer_norm", [](X x) { return layer_norm(x[0], {6}, x[1], x[2]); }),
    recorded("layer_norm.plain", [](X x) { return layer_norm(x[0], {6}); }),
    recorded("layer_norm.weight_alone", [](X x) { return layer_norm(x[0], {6}, x[1]); }),
    recorded("layer_norm.axes",
             [](X x) {
               return layer_norm(x[0], {3, 4}, x[1], x[2], 1e-3);
             }),
    recorded("layer_norm.width_1", [](X x) { return layer_norm(x[0], {1}, x[1], x[2]); }),
    recorded("layer_norm.vector", [](X x) { return layer_norm(x[0], {6}, x[1], x[2]); }),
    recorded("layer_norm.no_rows", [](X x) { return layer_norm(x[0], {6}, x[1], x[2]); }),
    recorded(
        "layer_norm.offset", [](X x) { return layer_norm(wide(x[0]) + 256, {50}).to(x[0].dtype()); }, kFarFromZero),
    recorded("batch_norm", [](X x) { return batch_norm_moves(x, x[3], x[4]); }),
    recorded("batch_norm.images", [](X x) { return batch_norm_moves(x, x[3], x[4]); }),
    recorded("batch_norm.lines", [](X x) { return batch_norm_moves(x, x[3], x[4], 0.3, 1e-3); }),
    recorded("batch_norm.plain", [](X x) { return batch_norm_moves(x, {}, {}); }),
    recorded("batch_norm.untracked", [](X x) { return batch_norm(x[0], {}, {}, x[1], x[2], true); }),
    recorded("batch_norm.evaluation", [](X x) { return batch_norm(x[0], x[1], x[2], x[3], x[4]); }),
    recorded("batch_norm.evaluation_plain", [](X x) { return batch_norm(x[0], x[1], x[2]); }),
    recorded("dropout.evaluation", [](X x) { return dropout(x[0], 0.5, false); }),
    recorded("dropout.none", [](X x) { return dropout(x[0], 0.0); }),
    recorded("dropout.all", [](X x) { return dropout(x[0], 1.0); }),
};

const Cases kLosses{
    recorded("cross_entropy", [](X x) { return cross_entropy(x[0], x[1]); }),
    recorded("cross_entropy.none", [](X x) { return cross_entropy(x[0], x[1], {.reduction = kNone}); }),
    recorded("cross_entropy.sum", [](X x) { return cross_entropy(x[0], x[1], {.reduction = kSum}); }),
    recorded("cross_entropy.ignored", [](X x) { return cross_entropy(x[0], x[1], {.ignore_index = 3}); }),
    recorded("cross_entropy.ignored_none", [](X x) { return cross_entropy(x[0], x[1], {.reduction = kNone}); }),
    recorded("cross_entropy.weight", [](X x) { return cross_entropy(x[0], x[1], {.weight = x[2]}); }),
    recorded("cross_entropy.weight_ignored",
             [](X x) { return cross_entropy(x[0], x[1], {.weight = x[2], .ignore_index = 0}); }),
    recorded("cross_entropy.smoothing", [](X x) { return cross_entropy(x[0], x[1], {.label_smoothing = 0.125}); }),
    recorded(
        "cross_entropy.smoothing_weight",
        [](X x) { return cross_entropy(x[0], x[1], {.weight = x[2], .ignore_index = 3, .label_smoothing = 0.25}); }),
    recorded("cross_entropy.images", [](X x) { return cross_entropy(x[0], x[1]); }),
    recorded("cross_entropy.one", [](X x) { return cross_entropy(x[0], x[1]); }),
    recorded("cross_entropy.large", [](X x) { return cross_entropy(x[0], x[1]); }),
    recorded("cross_entropy.probabilities", [](X x) { return cross_entropy(x[0], x[1]); }),
    recorded(
        "cross_entropy.probabilities_weight",
        [](X x) { return cross_entropy(x[0], x[1], {.weight = x[2], .reduction = kSum, .label_smoothing = 0.25}); }),
    recorded("nll_loss", [](X x) { return nll_loss(x[0], x[1]); }),
    recorded("nll_loss.none", [](X x) { return nll_loss(x[0], x[1], {.reduction = kNone}); }),
    recorded("nll_loss.weight_ignored", [](X x) { return nll_loss(x[0], x[1], {.weight = x[2], .ignore_index = 1}); }),
    recorded("nll_loss.images", [](X x) { return nll_loss(x[0], x[1], {.reduction = kSum}); }),
    recorded("mse_loss", [](X x) { return mse_loss(x[0], x[1]); }),
    recorded("mse_loss.none", [](X x) { return mse_loss(x[0], x[1], kNone); }),
    recorded("mse_loss.sum", [](X x) { return mse_loss(x[0], x[1], kSum); }),
    recorded("mse_loss.empty", [](X x) { return mse_loss(x[0], x[1]); }),
    recorded("l1_loss", [](X x) { return l1_loss(x[0], x[1]); }),
    recorded("l1_loss.sum", [](X x) { return l1_loss(x[0], x[1], kSum); }),
    recorded("smooth_l1_loss", [](X x) { return smooth_l1_loss(x[0], x[1]); }),
    recorded("smooth_l1_loss.beta", [](X x) { return smooth_l1_loss(x[0], x[1], kNone, 2.5); }),
    recorded("smooth_l1_loss.beta_zero", [](X x) { return smooth_l1_loss(x[0], x[1], kSum, 0); }),
    recorded("binary_cross_entropy_with_logits", [](X x) { return binary_cross_entropy_with_logits(x[0], x[1] / 4); }),
    recorded("binary_cross_entropy_with_logits.weight",
             [](X x) { return binary_cross_entropy_with_logits(x[0], x[1] / 4, {.weight = x[2], .reduction = kSum}); }),
    recorded(
        "binary_cross_entropy_with_logits.pos_weight",
        [](X x) { return binary_cross_entropy_with_logits(x[0], x[1] / 4, {.pos_weight = x[2], .reduction = kNone}); }),
    recorded("binary_cross_entropy_with_logits.large",
             [](X x) { return binary_cross_entropy_with_logits(x[0], x[1]); }),
};

}  // namespace
}  // namespace stoker::test
