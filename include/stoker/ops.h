/// \file
/// Free functions on tensors, with PyTorch's names, defaults and results. Inputs of one function must be on one device
/// (DeviceError); dtypes promote as in PyTorch; shapes broadcast as in NumPy (ShapeError). Gradients exist for every
/// function of floating inputs unless its line says otherwise.
#pragma once

#include <utility>

#include <stoker/tensor.h>

namespace stoker {

// --- arithmetic: element by element, broadcasting --------------------------------------------------------------------

Tensor add(Arg a, Arg b);
Tensor sub(Arg a, Arg b);
Tensor mul(Arg a, Arg b);
/// True division: integers give f32. Use floor_divide or div_trunc for integers.
Tensor div(Arg a, Arg b);
/// Rounds toward minus infinity.
Tensor floor_divide(Arg a, Arg b);
/// Rounds toward zero.
Tensor div_trunc(Arg a, Arg b);
/// Python's %: the sign of the divisor.
Tensor remainder(Arg a, Arg b);
/// C's fmod: the sign of the dividend.
Tensor fmod(Arg a, Arg b);
Tensor pow(Arg a, Arg b);
/// NaN if either is NaN; the gradient is split evenly between equals.
Tensor maximum(Arg a, Arg b);
Tensor minimum(Arg a, Arg b);
Tensor atan2(Arg a, Arg b);

Tensor add(Arg a, Scalar b);
Tensor sub(Arg a, Scalar b);
Tensor sub(Scalar a, Arg b);
Tensor mul(Arg a, Scalar b);
Tensor div(Arg a, Scalar b);
Tensor div(Scalar a, Arg b);
Tensor floor_divide(Arg a, Scalar b);
Tensor remainder(Arg a, Scalar b);
Tensor fmod(Arg a, Scalar b);
Tensor pow(Arg a, Scalar b);
Tensor pow(Scalar a, Arg b);
Tensor maximum(Arg a, Scalar b);
Tensor minimum(Arg a, Scalar b);

inline Tensor operator+(Arg a, Arg b) { return add(a, b); }
inline Tensor operator-(Arg a, Arg b) { return sub(a, b); }
inline Tensor operator*(Arg a, Arg b) { return mul(a, b); }
inline Tensor operator/(Arg a, Arg b) { return div(a, b); }
inline Tensor operator+(Arg a, Scalar b) { return add(a, b); }
inline Tensor operator-(Arg a, Scalar b) { return sub(a, b); }
inline Tensor operator*(Arg a, Scalar b) { return mul(a, b); }
inline Tensor operator/(Arg a, Scalar b) { return div(a, b); }
inline Tensor operator+(Scalar a, Arg b) { return add(b, a); }
inline Tensor operator-(Scalar a, Arg b) { return sub(a, b); }
inline Tensor operator*(Scalar a, Arg b) { return mul(b, a); }
inline Tensor operator/(Scalar a, Arg b) { return div(a, b); }

// --- comparison and logic: results are bool, without gradient --------------------------------------------------------

Tensor eq(Arg a, Arg b);
Tensor ne(Arg a, Arg b);
Tensor lt(Arg a, Arg b);
Tensor le(Arg a, Arg b);
Tensor gt(Arg a, Arg b);
Tensor ge(Arg a, Arg b);
Tensor eq(Arg a, Scalar b);
Tensor ne(Arg a, Scalar b);
Tensor lt(Arg a, Scalar b);
Tensor le(Arg a, Scalar b);
Tensor gt(Arg a, Scalar b);
Tensor ge(Arg a, Scalar b);
inline Tensor operator==(Arg a, Arg b) { return eq(a, b); }
inline Tensor operator!=(Arg a, Arg b) { return ne(a, b); }
inline Tensor operator<(Arg a, Arg b) { return lt(a, b); }
inline Tensor operator<=(Arg a, Arg b) { return le(a, b); }
inline Tensor operator>(Arg a, Arg b) { return gt(a, b); }
inline Tensor operator>=(Arg a, Arg b) { return ge(a, b); }
inline Tensor operator==(Arg a, Scalar b) { return eq(a, b); }
inline Tensor operator!=(Arg a, Scalar b) { return ne(a, b); }
inline Tensor operator<(Arg a, Scalar b) { return lt(a, b); }
inline Tensor operator<=(Arg a, Scalar b) { return le(a, b); }
inline Tensor operator>(Arg a, Scalar b) { return gt(a, b); }
inline Tensor operator>=(Arg a, Scalar b) { return ge(a, b); }
Tensor logical_and(Arg a, Arg b);
Tensor logical_or(Arg a, Arg b);
Tensor logical_xor(Arg a, Arg b);
Tensor logical_not(Arg x);
/// Integers and bool.
Tensor bitwise_and(Arg a, Arg b);
Tensor bitwise_or(Arg a, Arg b);
Tensor bitwise_xor(Arg a, Arg b);
Tensor isnan(Arg x);
Tensor isinf(Arg x);
Tensor isfinite(Arg x);
/// condition ? a : b, all broadcast; condition is bool.
Tensor where(Arg condition, Arg a, Arg b);
Tensor where(Arg condition, Arg a, Scalar b);
Tensor where(Arg condition, Scalar a, Arg b);
Tensor masked_fill(Arg x, Arg mask, Scalar value);

// --- functions of one number: functions.inc says what each is --------------------------------------------------------

#define STOKER_FUNCTION(name, ...) Tensor name(Arg x);
#include <stoker/functions.inc>
#undef STOKER_FUNCTION
inline Tensor operator-(Arg x) { return neg(x); }

/// Bounds may be absent; NaN stays NaN.
Tensor clamp(Arg x, std::optional<Scalar> min, std::optional<Scalar> max);

Tensor leaky_relu(Arg x, double negative_slope = 0.01);
Tensor elu(Arg x, double alpha = 1.0);
/// x * Phi(x); `approximate` uses the tanh formula.
Tensor gelu(Arg x, bool approximate = false);
Tensor softplus(Arg x, double beta = 1.0, double threshold = 20.0);
Tensor hardtanh(Arg x, double min = -1.0, double max = 1.0);

// --- reductions: no axes means all -----------------------------------------------------------------------------------

/// Integers and bool give i64; halves accumulate in f32. Empty: 0.
Tensor sum(Arg x, const Dims& axes = {}, bool keepdim = false);
/// Floating dtypes only (DTypeError), as in PyTorch. Empty: NaN.
Tensor mean(Arg x, const Dims& axes = {}, bool keepdim = false);
/// Empty: 1.
Tensor prod(Arg x, const Dims& axes = {}, bool keepdim = false);
/// NaN if there is one; the gradient is split evenly between equals. Empty: ShapeError.
Tensor amax(Arg x, const Dims& axes = {}, bool keepdim = false);
Tensor amin(Arg x, const Dims& axes = {}, bool keepdim = false);
/// `correction` 1 divides by n - 1. When n <= correction the result is NaN. The gradient at deviation 0 is 0.
Tensor var(Arg x, const Dims& axes = {}, int64_t correction = 1, bool keepdim = false);
/// (After `using namespace stoker`, write stoker::std: `std` alone is the standard library too.)
Tensor std(Arg x, const Dims& axes = {}, int64_t correction = 1, bool keepdim = false);
Tensor logsumexp(Arg x, const Dims& axes, bool keepdim = false);
/// The Euclidean norm of all elements, or along axes.
Tensor norm(Arg x, const Dims& axes = {}, bool keepdim = false);
Tensor all(Arg x, const Dims& axes = {}, bool keepdim = false);
Tensor any(Arg x, const Dims& axes = {}, bool keepdim = false);
/// i64 index of the first extreme; NaN counts as the extreme. Without an axis: of the flattened tensor.
Tensor argmax(Arg x, std::optional<int64_t> axis = {}, bool keepdim = false);
Tensor argmin(Arg x, std::optional<int64_t> axis = {}, bool keepdim = false);
/// Largest along an axis, with its first index (the gradient goes there).
std::pair<Tensor, Tensor> max(Arg x, int64_t axis, bool keepdim = false);
std::pair<Tensor, Tensor> min(Arg x, int64_t axis, bool keepdim = false);
Tensor cumsum(Arg x, int64_t axis);
/// Stable; NaN counts as the greatest. Returns values and i64 indices.
std::pair<Tensor, Tensor> sort(Arg x, int64_t axis = -1, bool descending = false);
Tensor argsort(Arg x, int64_t axis = -1, bool descending = false);
/// The k largest (or smallest) in order; of equals the lower index first. Returns values and i64 indices.
std::pair<Tensor, Tensor> topk(Arg x, int64_t k, int64_t axis = -1, bool largest = true);

// --- shape -----------------------------------------------------------------------------------------------------------

/// One extent may be -1.
Tensor reshape(Arg x, const Dims& shape);
Tensor flatten(Arg x, int64_t first = 0, int64_t last = -1);
Tensor transpose(Arg x, int64_t a, int64_t b);
Tensor permute(Arg x, const Dims& axes);
Tensor squeeze(Arg x, std::optional<int64_t> axis = {});
Tensor unsqueeze(Arg x, int64_t axis);
/// -1 keeps an extent.
Tensor expand(Arg x, const Dims& shape);
Tensor broadcast_to(Arg x, const Shape& shape);
Tensor flip(Arg x, const Dims& axes);
/// Python's x[start:stop:step] along one axis; step may be negative; bounds are clamped as in Python.
Tensor slice(Arg x, int64_t axis, std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step = 1);
/// `length` elements from `start` (ShapeError when they are not there).
Tensor narrow(Arg x, int64_t axis, int64_t start, int64_t length);
/// One position along an axis, which disappears.
Tensor select(Arg x, int64_t axis, int64_t index);
/// A copy of x with x[..., start : start + value.size(axis), ...] replaced.
Tensor slice_scatter(Arg x, Arg value, int64_t axis, int64_t start = 0, int64_t step = 1);
Tensor cat(const std::vector<Tensor>& tensors, int64_t axis = 0, Loc loc = Loc::here());
Tensor stack(const std::vector<Tensor>& tensors, int64_t axis = 0, Loc loc = Loc::here());
/// Pieces of `size` (the last may be smaller).
std::vector<Tensor> split(Arg x, int64_t size, int64_t axis = 0);
std::vector<Tensor> chunk(Arg x, int64_t chunks, int64_t axis = 0);
/// PyTorch's order: {last axis low, last axis high, axis before low, high, ...}.
Tensor pad(Arg x, const std::vector<int64_t>& padding, Scalar value = 0);
Tensor tril(Arg x, int64_t diagonal = 0);
Tensor triu(Arg x, int64_t diagonal = 0);
Tensor repeat(Arg x, const Dims& times);

// --- indexing: indices are i32 or i64; one outside of -extent..extent-1 is a ValueError when the work runs -----------

Tensor gather(Arg x, int64_t axis, Arg index);
/// A copy of x with `source` written at `index`; of equal indices the last wins.
Tensor scatter(Arg x, int64_t axis, Arg index, Arg source);
Tensor scatter_add(Arg x, int64_t axis, Arg index, Arg source);
Tensor index_select(Arg x, int64_t axis, Arg index);
Tensor index_add(Arg x, int64_t axis, Arg index, Arg source);
/// i64 zeros and ones with one more axis of extent `classes`.
Tensor one_hot(Arg index, int64_t classes);
/// Rows of `weight` chosen by `index`; rows of padding_idx get no gradient.
Tensor embedding(Arg index, Arg weight, std::optional<int64_t> padding_idx = {});
/// Positions of the elements that are not zero, [count, dim], i64. Reads the tensor: waits for it. No gradient.
Tensor nonzero(Arg x);
/// The elements where mask is true, in order. Reads the mask: waits for it.
Tensor masked_select(Arg x, Arg mask);

// --- matrix products, convolution, pooling, norms --------------------------------------------------------------------

/// PyTorch's rules: 1-d operands are vectors; batch axes broadcast.
Tensor matmul(Arg a, Arg b);
/// x[..., in] times weight[out, in] transposed, plus bias[out] when given.
Tensor linear(Arg x, Arg weight, const Tensor& bias = {});

/// Two numbers, height and width; one number stands for both.
struct Pair {
  int64_t height, width;
  Pair(int64_t both) : height(both), width(both) {}
  Pair(int64_t height, int64_t width) : height(height), width(width) {}
};
struct Conv2dFunctionOptions {
  Pair stride = 1;
  Pair padding = 0;
  Pair dilation = 1;
  int64_t groups = 1;
  std::optional<Pair> padding_high = {};  ///< below and to the right, when it differs from `padding`
};
/// x[N,C,H,W], weight[O,C/groups,kH,kW], bias[O]. Floating dtypes.
Tensor conv2d(Arg x, Arg weight, const Tensor& bias = {}, Conv2dFunctionOptions options = {});

struct PoolOptions {
  std::optional<Pair> stride = {};  ///< kernel_size when absent
  Pair padding = 0;
  Pair dilation = 1;  ///< max_pool2d alone
  bool ceil_mode = false;
  bool count_include_pad = true;  ///< avg_pool2d alone
};
/// Padding never wins; NaN does; the gradient goes to the first of equals.
Tensor max_pool2d(Arg x, Pair kernel_size, PoolOptions options = {});
/// Values, and i64 positions in each H*W plane.
std::pair<Tensor, Tensor> max_pool2d_with_indices(Arg x, Pair kernel_size, PoolOptions options = {});
Tensor avg_pool2d(Arg x, Pair kernel_size, PoolOptions options = {});
Tensor adaptive_avg_pool2d(Arg x, Pair output_size);
Tensor adaptive_max_pool2d(Arg x, Pair output_size);

Tensor softmax(Arg x, int64_t axis);
Tensor log_softmax(Arg x, int64_t axis);
/// Normalises over the last weight.dim() axes.
Tensor layer_norm(Arg x, const Shape& normalized_shape, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
/// Training: normalises with the batch's statistics over every axis but 1, and moves the running ones (when given; they
/// are cells) by `momentum` towards them, the variance unbiased. Evaluation: normalises with the running ones.
/// ValueError for one value per channel in training.
Tensor batch_norm(Arg x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight = {},
                  const Tensor& bias = {}, bool training = false, double momentum = 0.1, double eps = 1e-5);
/// Zeroes with probability p and scales the rest by 1/(1-p); the identity when not training.
Tensor dropout(Arg x, double p = 0.5, bool training = true);

// --- losses ----------------------------------------------------------------------------------------------------------

enum class Reduction { None, Mean, Sum };

struct CrossEntropyOptions {
  Tensor weight = {};  ///< per class
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::Mean;
  double label_smoothing = 0.0;
};
/// logits[N,C,...]; target either i64[N,...] of classes or floating probabilities of logits' shape. Mean divides by the
/// summed weight of the targets that are not ignored; when all are ignored it is 0/0 = NaN, as in PyTorch. A class
/// outside of 0..C-1 that is not ignore_index is a ValueError when the work runs.
Tensor cross_entropy(Arg logits, Arg target, const CrossEntropyOptions& options = {});
Tensor nll_loss(Arg log_probabilities, Arg target, const CrossEntropyOptions& options = {});
Tensor mse_loss(Arg input, Arg target, Reduction reduction = Reduction::Mean);
Tensor l1_loss(Arg input, Arg target, Reduction reduction = Reduction::Mean);
Tensor smooth_l1_loss(Arg input, Arg target, Reduction reduction = Reduction::Mean, double beta = 1.0);
struct BceOptions {
  Tensor weight = {};
  Tensor pos_weight = {};
  Reduction reduction = Reduction::Mean;
};
Tensor binary_cross_entropy_with_logits(Arg input, Arg target, const BceOptions& options = {});

}  // namespace stoker
