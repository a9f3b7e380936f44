#include "graph/build.h"

#include <algorithm>
#include <limits>

#include "graph/gradient.h"
#include "graph/op.h"

namespace stoker::graph {
namespace {

// The row of a name, looked up once for each place that uses it.
#define STOKER_ROW(name)             \
  ([]() -> const Op& {               \
    static const Op& row = op(name); \
    return row;                      \
  }())

void unify(Value& a, Value& b) {
  if (a.dtype() == b.dtype()) return;
  const DType dtype = promote_types(a.dtype(), b.dtype());
  a = cast(a, dtype);
  b = cast(b, dtype);
}

Value binary(const Op& row, Value a, Value b) {
  unify(a, b);
  return record1(row, {a, b});
}

std::vector<Value> with_starts(std::vector<Value> inputs, const std::vector<Value>& starts) {
  inputs.insert(inputs.end(), starts.begin(), starts.end());
  return inputs;
}

std::vector<Value> start_numbers(const Dims& starts, Device device) {
  std::vector<Value> numbers;
  for (int64_t start : starts) numbers.push_back(integer(start, device));
  return numbers;
}

Value reduction(const Op& row, const Value& x, const Dims& axes, bool keepdim) {
  return record1(row, {x}, ReduceAttrs{axes, keepdim});
}

std::pair<Value, Value> both(const Ref<Node>& node) { return {Value(node, 0), Value(node, 1)}; }

}  // namespace

// --- numbers and filled values ---------------------------------------------------------------------------------------

Value number_like(double value, const Value& x) { return number(value, x.dtype(), x.device()); }
Value full(Value number, const TensorType& type) {
  return record1(STOKER_ROW("full"), {std::move(number)}, MakeAttrs{type.dtype, type.shape, type.device});
}
Value full(double value, const TensorType& type) { return full(number(value, type.dtype, type.device), type); }
Value zeros(const TensorType& type) { return full(0, type); }
Value zeros_like(const Value& x) { return zeros(x.type()); }
Value ones(const TensorType& type) { return full(1, type); }
Value iota(Value start, Value step, const TensorType& type) {
  return record1(STOKER_ROW("iota"), {std::move(start), std::move(step)},
                 MakeAttrs{type.dtype, type.shape, type.device});
}
Value positions(int64_t extent, int axis, int rank, Device device) {
  const Value zero = number(0, DType::I64, device), one = number(1, DType::I64, device);
  Shape shape = Dims::filled(rank, 1);
  shape[axis] = extent;
  return reshape(iota(zero, one, {DType::I64, {extent}, device}), shape);
}
Value random(Distribution distribution, Value key, Value counter, const TensorType& type) {
  return record1(STOKER_ROW("random"), {std::move(key), std::move(counter)},
                 RandomAttrs{int(distribution), type.dtype, type.shape, type.device});
}

// --- element by element ----------------------------------------------------------------------------------------------

Value cast(const Value& x, DType dtype) {
  return x.dtype() == dtype ? x : record1(STOKER_ROW("cast"), {x}, CastAttrs{dtype});
}
Value widen(const Value& x) { return is_half(x.dtype()) ? cast(x, DType::F32) : x; }
Value unwiden(const Value& x, DType dtype) {
  return x.dtype() == dtype ? x : record1(STOKER_ROW("cast"), {x}, CastAttrs{dtype, false});
}

// bool adds and multiplies as logic.
Value add(const Value& a, const Value& b) {
  const bool logical = a.dtype() == DType::Bool && b.dtype() == DType::Bool;
  return logical ? bitwise_or(a, b) : binary(STOKER_ROW("add"), a, b);
}
Value mul(const Value& a, const Value& b) {
  const bool logical = a.dtype() == DType::Bool && b.dtype() == DType::Bool;
  return logical ? bitwise_and(a, b) : binary(STOKER_ROW("mul"), a, b);
}
#define STOKER_BINARY(name) \
  Value name(const Value& a, const Value& b) { return binary(STOKER_ROW(#name), a, b); }
STOKER_BINARY(sub)
STOKER_BINARY(div)
STOKER_BINARY(floor_divide)
STOKER_BINARY(remainder)
STOKER_BINARY(fmod)
STOKER_BINARY(pow)
STOKER_BINARY(maximum)
STOKER_BINARY(minimum)
STOKER_BINARY(atan2)
STOKER_BINARY(eq)
STOKER_BINARY(ne)
STOKER_BINARY(lt)
STOKER_BINARY(le)
STOKER_BINARY(bitwise_and)
STOKER_BINARY(bitwise_or)
STOKER_BINARY(bitwise_xor)
STOKER_BINARY(clamp_min)
STOKER_BINARY(clamp_max)
STOKER_BINARY(leaky_relu)
STOKER_BINARY(elu)
#undef STOKER_BINARY
Value gt(const Value& a, const Value& b) { return lt(b, a); }
Value ge(const Value& a, const Value& b) { return le(b, a); }
Value div_trunc(const Value& a, const Value& b) {
  const Value q = div(a, b);
  return is_floating(q.dtype()) ? trunc(q) : q;
}
Value softplus(const Value& x, const Value& beta, const Value& threshold) {
  return record1(STOKER_ROW("softplus"), {x, beta, threshold});
}
Value hardtanh(const Value& x, const Value& low, const Value& high) {
  return record1(STOKER_ROW("hardtanh"), {x, low, high});
}
Value where(const Value& condition, const Value& a, const Value& b) {
  Value x = a, y = b;
  unify(x, y);
  return record1(STOKER_ROW("where"), {condition, x, y});
}

#define STOKER_FUNCTION(name, ...) \
  Value name(const Value& x) { return record1(STOKER_ROW(#name), {x}); }
#include <stoker/functions.inc>
STOKER_FUNCTION(isnan)
STOKER_FUNCTION(isinf)
STOKER_FUNCTION(isfinite)
STOKER_FUNCTION(gelu)
STOKER_FUNCTION(gelu_tanh)
STOKER_FUNCTION(alias)
STOKER_FUNCTION(detach)
#undef STOKER_FUNCTION
Value root(const Value& x) {
  const Value zero = eq(x, 0);
  return where(zero, 0, sqrt(where(zero, 1, x)));
}

// --- reductions ------------------------------------------------------------------------------------------------------

Dims all_axes(const Value& x) {
  Dims axes;
  for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  return axes;
}
Value sum(const Value& x, const Dims& axes, bool keepdim) {
  const bool widens = !is_floating(x.dtype());
  if (axes.empty()) return widens ? cast(x, DType::I64) : x;
  return reduction(STOKER_ROW("sum"), x, axes, keepdim);
}
Value prod(const Value& x, const Dims& axes, bool keepdim) {
  const bool widens = !is_floating(x.dtype());
  if (axes.empty()) return widens ? cast(x, DType::I64) : x;
  return reduction(STOKER_ROW("prod"), x, axes, keepdim);
}
Value amax(const Value& x, const Dims& axes, bool keepdim) {
  return axes.empty() ? x : reduction(STOKER_ROW("max"), x, axes, keepdim);
}
Value amin(const Value& x, const Dims& axes, bool keepdim) {
  return axes.empty() ? x : reduction(STOKER_ROW("min"), x, axes, keepdim);
}

namespace {
double count_along(const Value& x, const Dims& axes) {
  double n = 1;
  for (int64_t axis : axes) n *= double(x.shape()[int(axis)]);
  return n;
}
}  // namespace

Value mean(const Value& x, const Dims& axes, bool keepdim) {
  return unwiden(sum(widen(x), axes, keepdim) / count_along(x, axes), x.dtype());
}
Value variance(const Value& x, const Dims& axes, int64_t correction, bool keepdim) {
  const Value wide = widen(x);
  const double freedom = count_along(x, axes) - double(correction);
  const Value squares = sum(square(wide - mean(wide, axes, true)), axes, keepdim);
  return unwiden(squares / (freedom > 0 ? freedom : std::numeric_limits<double>::quiet_NaN()), x.dtype());
}
Value sum_to(const Value& x, const Shape& shape) {
  const int extra = x.rank() - shape.rank();
  Dims axes;
  for (int i = 0; i < x.rank(); ++i)
    if (i < extra || (shape[i - extra] == 1 && x.shape()[i] != 1)) axes.push_back(i);
  return reshape(axes.empty() ? x : sum(x, axes, true), shape);
}
Value restore_axes(const Value& y, const Shape& unreduced, const Dims& axes) {
  Shape shape = unreduced;
  for (int64_t axis : axes) shape[int(axis)] = 1;
  return reshape(y, shape);
}
Value argmax(const Value& x, int axis, bool keepdim) {
  return record1(STOKER_ROW("argmax"), {x}, ArgReduceAttrs{axis, keepdim});
}
Value argmin(const Value& x, int axis, bool keepdim) {
  return record1(STOKER_ROW("argmin"), {x}, ArgReduceAttrs{axis, keepdim});
}
Value cumsum(const Value& x, ScanAttrs attrs) { return record1(STOKER_ROW("cumsum"), {x}, attrs); }
Value cumprod(const Value& x, ScanAttrs attrs) { return record1(STOKER_ROW("cumprod"), {x}, attrs); }
std::pair<Value, Value> sort(const Value& x, SortAttrs attrs) { return both(record(STOKER_ROW("sort"), {x}, attrs)); }
std::pair<Value, Value> topk(const Value& x, TopkAttrs attrs) { return both(record(STOKER_ROW("topk"), {x}, attrs)); }
Value softmax(const Value& x, int axis) { return record1(STOKER_ROW("softmax"), {x}, AxisAttrs{axis}); }
Value log_softmax(const Value& x, int axis) { return record1(STOKER_ROW("log_softmax"), {x}, AxisAttrs{axis}); }

// --- shape -----------------------------------------------------------------------------------------------------------

Value reshape(const Value& x, const Shape& shape) {
  return x.shape() == shape ? x : record1(STOKER_ROW("reshape"), {x}, ShapeAttrs{shape});
}
Value broadcast_to(const Value& x, const Shape& shape) {
  return x.shape() == shape ? x : record1(STOKER_ROW("broadcast_to"), {x}, ShapeAttrs{shape});
}
Value permute(const Value& x, const Dims& axes) {
  return std::is_sorted(axes.begin(), axes.end()) ? x : record1(STOKER_ROW("permute"), {x}, PermuteAttrs{axes});
}
Value transpose(const Value& x, int a, int b) {
  Dims axes = all_axes(x);
  std::swap(axes[a < 0 ? a + x.rank() : a], axes[b < 0 ? b + x.rank() : b]);
  return permute(x, axes);
}
Value unsqueeze(const Value& x, int axis) {
  Shape shape = x.shape();
  shape.insert(axis, 1);
  return reshape(x, shape);
}
Value squeeze(const Value& x, int axis) {
  Shape shape = x.shape();
  shape.erase(axis);
  return reshape(x, shape);
}
Value slice(const Value& x, const std::vector<Value>& starts, const Dims& extents, const Dims& steps) {
  return record1(STOKER_ROW("slice"), with_starts({x}, starts), SliceAttrs{extents, steps});
}
Value slice(const Value& x, const Dims& starts, const Dims& extents, const Dims& steps) {
  const bool whole = extents == x.shape() && std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s == 1; });
  return whole ? x : slice(x, start_numbers(starts, x.device()), extents, steps);
}
Value narrow(const Value& x, int axis, int64_t start, int64_t length) {
  Dims starts = Dims::filled(x.rank(), 0), extents = x.shape();
  starts[axis] = start;
  extents[axis] = length;
  return slice(x, starts, extents, Dims::filled(x.rank(), 1));
}
Value update_slice(const Value& x, const Value& v, const std::vector<Value>& starts, const Dims& steps) {
  return record1(STOKER_ROW("update_slice"), with_starts({x, cast(v, x.dtype())}, starts),
                 SliceAttrs{v.shape(), steps});
}
Value update_slice(const Value& x, const Value& v, const Dims& starts, const Dims& steps) {
  return update_slice(x, v, start_numbers(starts, x.device()), steps);
}
Value concat(const std::vector<Value>& parts, int axis) {
  return parts.size() == 1 ? parts[0] : record1(STOKER_ROW("concat"), parts, IndexAttrs{axis});
}
Value pad(const Value& x, const Dims& low, const Dims& high, const Value& value) {
  return record1(STOKER_ROW("pad"), {x, value}, PadAttrs{low, high});
}

// --- indexing --------------------------------------------------------------------------------------------------------

Value gather(const Value& x, int axis, const Value& index) {
  return record1(STOKER_ROW("gather"), {x, index}, IndexAttrs{axis});
}
Value scatter(const Value& x, int axis, const Value& index, const Value& source) {
  return record1(STOKER_ROW("scatter"), {x, index, source}, IndexAttrs{axis});
}
Value scatter_add(const Value& x, int axis, const Value& index, const Value& source) {
  return record1(STOKER_ROW("scatter_add"), {x, index, source}, IndexAttrs{axis});
}
Value take(const Value& x, int axis, const Value& index, bool from_end) {
  return record1(STOKER_ROW("take"), {x, index}, IndexAttrs{axis, from_end});
}
Value index_add(const Value& x, int axis, const Value& index, const Value& source, bool from_end) {
  return record1(STOKER_ROW("index_add"), {x, index, source}, IndexAttrs{axis, from_end});
}
Value class_index(const Value& index, int64_t classes) {
  return record1(STOKER_ROW("class_index"), {index}, ClassIndexAttrs{classes});
}
Value pick(const Value& x, int axis, const Value& index) {
  return record1(STOKER_ROW("pick"), {x, index}, IndexAttrs{axis, false});
}

// --- products, convolution, pooling, norms ---------------------------------------------------------------------------

Value matmul(const Value& a, const Value& b) { return record1(STOKER_ROW("matmul"), {a, b}, MatmulAttrs{}); }
Value conv2d(const Value& x, const Value& weight, ConvAttrs attrs) {
  attrs.target = {};
  return record1(STOKER_ROW("conv2d"), {x, weight}, attrs);
}
Value conv2d_input_gradient(const Value& dy, const Value& weight, ConvAttrs attrs, const Shape& input) {
  attrs.target = input;
  return record1(STOKER_ROW("conv2d_input_gradient"), {dy, weight}, attrs);
}
Value conv2d_weight_gradient(const Value& x, const Value& dy, ConvAttrs attrs, const Shape& weight) {
  attrs.target = weight;
  return record1(STOKER_ROW("conv2d_weight_gradient"), {x, dy}, attrs);
}
std::pair<Value, Value> max_pool2d(const Value& x, const PoolAttrs& attrs) {
  return both(record(STOKER_ROW("max_pool2d"), {x}, attrs));
}
Value avg_pool2d(const Value& x, const PoolAttrs& attrs) { return record1(STOKER_ROW("avg_pool2d"), {x}, attrs); }
std::pair<Value, Value> adaptive_max_pool2d(const Value& x, const AdaptivePoolAttrs& attrs) {
  return both(record(STOKER_ROW("adaptive_max_pool2d"), {x}, attrs));
}
Value adaptive_avg_pool2d(const Value& x, const AdaptivePoolAttrs& attrs) {
  return record1(STOKER_ROW("adaptive_avg_pool2d"), {x}, attrs);
}
Normalized batch_norm(const Value& x, const Value& weight, const Value& bias, double eps) {
  const Ref<Node> node = record(STOKER_ROW("batch_norm"), {x, weight, bias}, NormAttrs{eps});
  return {Value(node, 0), Value(node, 1), Value(node, 2)};
}
Normalized layer_norm(const Value& x, const Value& weight, const Value& bias, double eps) {
  const Ref<Node> node = record(STOKER_ROW("layer_norm"), {x, weight, bias}, NormAttrs{eps});
  return {Value(node, 0), Value(node, 1), Value(node, 2)};
}

Value transfer(const Value& x, Device device) {
  return x.device() == device ? x : record1(STOKER_ROW("transfer"), {x}, TransferAttrs{device});
}

}  // namespace stoker::graph
