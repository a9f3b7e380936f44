// Operations on Values, as gradients, composed forms and the tensor functions write them. Trivial cases (a cast to the
// same dtype, a reshape to the same shape, a sum over no axes) record nothing.
#pragma once

#include <utility>
#include <vector>

#include "graph/node.h"
#include "graph/ops/attributes.h"
#include "graph/recorder.h"

namespace stoker::graph {

// --- numbers and filled values ---------------------------------------------------------------------------------------

// A host number in x's dtype and on its device.
Value number_like(double value, const Value& x);
// One value in every element.
Value full(Value number, const TensorType& type);
Value full(double value, const TensorType& type);
Value zeros(const TensorType& type);
Value zeros_like(const Value& x);
Value ones(const TensorType& type);
// start + step * (position along the last axis); the numbers have the type's dtype.
Value iota(Value start, Value step, const TensorType& type);
// 0, 1, ... along `axis` of i64, shaped to broadcast against a tensor of `rank` axes.
Value positions(int64_t extent, int axis, int rank, Device device);
Value random(Distribution distribution, Value key, Value counter, const TensorType& type);

// --- element by element ----------------------------------------------------------------------------------------------
// Operands broadcast; different dtypes are promoted. A C++ number takes the other operand's dtype.

Value cast(const Value& x, DType dtype);
// A half as f32, anything else as it is: for what must be accumulated in f32.
Value widen(const Value& x);
// Undoes that: a result of f32 arithmetic in its own dtype, rounded where it is stored.
Value unwiden(const Value& x, DType dtype);

#define STOKER_BINARY(name)                                                          \
  Value name(const Value& a, const Value& b);                                        \
  inline Value name(const Value& a, double b) { return name(a, number_like(b, a)); } \
  inline Value name(double a, const Value& b) { return name(number_like(a, b), b); }
STOKER_BINARY(add)
STOKER_BINARY(sub)
STOKER_BINARY(mul)
STOKER_BINARY(div)  // integers: toward zero
STOKER_BINARY(floor_divide)
STOKER_BINARY(remainder)  // Python's
STOKER_BINARY(fmod)       // C's
STOKER_BINARY(pow)
STOKER_BINARY(maximum)
STOKER_BINARY(minimum)
STOKER_BINARY(atan2)
STOKER_BINARY(eq)
STOKER_BINARY(ne)
STOKER_BINARY(lt)
STOKER_BINARY(le)
STOKER_BINARY(gt)
STOKER_BINARY(ge)
STOKER_BINARY(bitwise_and)
STOKER_BINARY(bitwise_or)
STOKER_BINARY(bitwise_xor)
// x bounded from one side; the gradient passes at the bound.
STOKER_BINARY(clamp_min)
STOKER_BINARY(clamp_max)
STOKER_BINARY(leaky_relu)  // x, negative slope
STOKER_BINARY(elu)         // x, alpha
#undef STOKER_BINARY
Value div_trunc(const Value& a, const Value& b);
Value softplus(const Value& x, const Value& beta, const Value& threshold);
Value hardtanh(const Value& x, const Value& low, const Value& high);
Value where(const Value& condition, const Value& a, const Value& b);
inline Value where(const Value& condition, const Value& a, double b) { return where(condition, a, number_like(b, a)); }
inline Value where(const Value& condition, double a, const Value& b) { return where(condition, number_like(a, b), b); }

#define STOKER_FUNCTION(name, ...) Value name(const Value& x);
#include <stoker/functions.inc>
#undef STOKER_FUNCTION
Value isnan(const Value& x);
Value isinf(const Value& x);
Value isfinite(const Value& x);
Value gelu(const Value& x);
Value gelu_tanh(const Value& x);
// sqrt whose gradient at 0 is 0: deviations and norms.
Value root(const Value& x);

inline Value operator+(const Value& a, const Value& b) { return add(a, b); }
inline Value operator-(const Value& a, const Value& b) { return sub(a, b); }
inline Value operator*(const Value& a, const Value& b) { return mul(a, b); }
inline Value operator/(const Value& a, const Value& b) { return div(a, b); }
inline Value operator+(const Value& a, double b) { return add(a, b); }
inline Value operator-(const Value& a, double b) { return sub(a, b); }
inline Value operator*(const Value& a, double b) { return mul(a, b); }
inline Value operator/(const Value& a, double b) { return div(a, b); }
inline Value operator+(double a, const Value& b) { return add(a, b); }
inline Value operator-(double a, const Value& b) { return sub(a, b); }
inline Value operator*(double a, const Value& b) { return mul(a, b); }
inline Value operator/(double a, const Value& b) { return div(a, b); }
inline Value operator-(const Value& x) { return neg(x); }

// --- reductions: axes are sorted and not negative; none means no reduction -------------------------------------------

Dims all_axes(const Value& x);
Value sum(const Value& x, const Dims& axes, bool keepdim = false);
Value prod(const Value& x, const Dims& axes, bool keepdim = false);
Value amax(const Value& x, const Dims& axes, bool keepdim = false);
Value amin(const Value& x, const Dims& axes, bool keepdim = false);
// Halves are summed and divided in f32.
Value mean(const Value& x, const Dims& axes, bool keepdim = false);
// The sum of squared distances to the mean, divided by n - correction; NaN where that is not positive.
Value variance(const Value& x, const Dims& axes, int64_t correction, bool keepdim = false);
// Undoes a broadcast: sums x down to `shape`.
Value sum_to(const Value& x, const Shape& shape);
// A reduction's result with its axes of extent 1 put back, whatever keepdim was.
Value restore_axes(const Value& y, const Shape& unreduced, const Dims& axes);
Value argmax(const Value& x, int axis, bool keepdim = false);
Value argmin(const Value& x, int axis, bool keepdim = false);
Value cumsum(const Value& x, ScanAttrs attrs);
Value cumprod(const Value& x, ScanAttrs attrs);
std::pair<Value, Value> sort(const Value& x, SortAttrs attrs);
std::pair<Value, Value> topk(const Value& x, TopkAttrs attrs);
Value softmax(const Value& x, int axis);
Value log_softmax(const Value& x, int axis);

// --- shape -----------------------------------------------------------------------------------------------------------

Value reshape(const Value& x, const Shape& shape);
Value broadcast_to(const Value& x, const Shape& shape);
Value permute(const Value& x, const Dims& axes);
Value transpose(const Value& x, int a, int b);
Value unsqueeze(const Value& x, int axis);
Value squeeze(const Value& x, int axis);
// starts: one i64 number per axis.
Value slice(const Value& x, const std::vector<Value>& starts, const Dims& extents, const Dims& steps);
Value slice(const Value& x, const Dims& starts, const Dims& extents, const Dims& steps);
Value narrow(const Value& x, int axis, int64_t start, int64_t length);
Value update_slice(const Value& x, const Value& v, const std::vector<Value>& starts, const Dims& steps);
Value update_slice(const Value& x, const Value& v, const Dims& starts, const Dims& steps);
Value concat(const std::vector<Value>& parts, int axis);
Value pad(const Value& x, const Dims& low, const Dims& high, const Value& value);

// --- indexing --------------------------------------------------------------------------------------------------------

Value gather(const Value& x, int axis, const Value& index);
Value scatter(const Value& x, int axis, const Value& index, const Value& source);
Value scatter_add(const Value& x, int axis, const Value& index, const Value& source);
Value take(const Value& x, int axis, const Value& index, bool from_end = true);
Value index_add(const Value& x, int axis, const Value& index, const Value& source, bool from_end = true);
// One element per line along `axis`: index has extent 1 there. Indices below 0 are errors.
Value pick(const Value& x, int axis, const Value& index);
// The index itself, checked: ValueError when the work runs where one is not in 0..classes-1.
Value class_index(const Value& index, int64_t classes);

// --- products, convolution, pooling, norms ---------------------------------------------------------------------------

Value matmul(const Value& a, const Value& b);
Value conv2d(const Value& x, const Value& weight, ConvAttrs attrs);
Value conv2d_input_gradient(const Value& dy, const Value& weight, ConvAttrs attrs, const Shape& input);
Value conv2d_weight_gradient(const Value& x, const Value& dy, ConvAttrs attrs, const Shape& weight);
std::pair<Value, Value> max_pool2d(const Value& x, const PoolAttrs& attrs);
Value avg_pool2d(const Value& x, const PoolAttrs& attrs);
std::pair<Value, Value> adaptive_max_pool2d(const Value& x, const AdaptivePoolAttrs& attrs);
Value adaptive_avg_pool2d(const Value& x, const AdaptivePoolAttrs& attrs);
struct Normalized {
  Value y, mean, rstd;
};
Normalized batch_norm(const Value& x, const Value& weight, const Value& bias, double eps);
Normalized layer_norm(const Value& x, const Value& weight, const Value& bias, double eps);

// --- others ----------------------------------------------------------------------------------------------------------

Value transfer(const Value& x, Device device);
// The same value; `detach` lets no gradient through.
Value alias(const Value& x);
Value detach(const Value& x);

}  // namespace stoker::graph
