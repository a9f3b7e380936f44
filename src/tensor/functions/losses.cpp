#include "tensor/functions/call.h"

namespace stoker {

using namespace detail;

namespace {

Value reduced(const Value& loss, Reduction reduction) {
  switch (reduction) {
    case Reduction::None:
      return loss;
    case Reduction::Sum:
      return graph::sum(loss, graph::all_axes(loss));
    case Reduction::Mean:
      break;
  }
  return graph::mean(loss, graph::all_axes(loss));
}

struct Pairing {
  Value input, target;
};
Pairing paired(const Call& call, Arg input, Arg target) {
  const Value x = to_floating(call(input)), y = call(target);
  const DType dtype = to_floating((Promotion() << x << y).dtype());
  return {graph::cast(x, dtype), graph::cast(y, dtype)};
}

// Class indices, with those that are ignored moved to class 0 and marked. Shapes are those of the loss.
struct Targets {
  Value safe;   // with the class axis, of extent 1
  Value valid;  // bool
  int axis;     // of the classes in the scores
};

Targets checked_targets(const Call& call, const Value& scores, const Value& target, int64_t ignore_index) {
  if (is_floating(target.dtype()) || target.dtype() == DType::Bool)
    call.dtype_error(
        fmt::format("expected class indices of i64, got {}; convert them with .to(kI64)", name_of(target.dtype())));
  const int axis = scores.rank() > 1 ? 1 : 0;
  Shape expected = scores.shape();
  if (scores.rank() > 0) expected.erase(axis);
  if (scores.rank() == 0 || !(target.shape() == expected))
    call.shape_error(fmt::format("expected scores[N, C, ...] and targets[N, ...], got {} and {}",
                                 to_string(scores.shape()), to_string(target.shape())));
  const Value index = graph::cast(target, DType::I64);
  const Value valid = graph::ne(index, call.number(ignore_index, DType::I64, index.device()));
  // Checked apart from the forward pass, which a gradient alone may leave out.
  const Value safe = graph::class_index(graph::where(valid, index, 0), scores.shape()[axis]);
  return {graph::unsqueeze(safe, axis), valid, axis};
}

// Class weights shaped to broadcast against the scores.
Value along_classes(const Call& call, const Value& weight, const Value& scores, int axis) {
  const int64_t classes = scores.shape()[axis];
  if (!(weight.shape() == Shape{classes}))
    call.shape_error(
        fmt::format("expected a weight for each of {} classes, got shape {}", classes, to_string(weight.shape())));
  Shape shape = Dims::filled(scores.rank(), 1);
  shape[axis] = classes;
  return graph::cast(graph::reshape(weight, shape), scores.dtype());
}

// The weight of each target that counts, else 0.
Value target_weights(const Call& call, const Value& scores, const Targets& t, const Value& weight) {
  if (!weight) return graph::cast(t.valid, scores.dtype());
  const Value table = graph::broadcast_to(along_classes(call, weight, scores, t.axis), scores.shape());
  return graph::where(t.valid, graph::squeeze(graph::pick(table, t.axis, t.safe), t.axis), 0);
}

// Negative scores of the targets, each times its weight; a mean divides by the weights.
Value weighted(const Call& call, const Value& picked, const Value& scores, const Targets& t, const Value& weight,
               Reduction reduction) {
  const Value weights = target_weights(call, scores, t, weight);
  const Value loss = graph::where(t.valid, -(graph::squeeze(picked, t.axis) * weights), 0);
  if (reduction != Reduction::Mean) return reduced(loss, reduction);
  return reduced(loss, Reduction::Sum) / reduced(weights, Reduction::Sum);
}

// A part of the loss spread over all classes: what label smoothing adds.
Value smooth_part(const Call& call, const Value& log_p, const Targets& t, const Value& weight, Reduction reduction) {
  const Value all = weight ? log_p * along_classes(call, weight, log_p, t.axis) : log_p;
  const Value loss = graph::where(t.valid, -graph::sum(all, {t.axis}), 0);
  if (reduction != Reduction::Mean) return reduced(loss, reduction);
  return reduced(loss, Reduction::Sum) / reduced(target_weights(call, log_p, t, weight), Reduction::Sum);
}

// log_softmax at the targets, without storing it at every class.
Value picked_log_softmax(const Value& x, const Targets& t) {
  const Value largest = graph::detach(graph::amax(x, {t.axis}, true));
  const Value total = graph::sum(graph::exp(x - largest), {t.axis}, true);
  return graph::pick(x, t.axis, t.safe) - largest - graph::log(total);
}

Value cross_entropy_of_probabilities(const Call& call, const Value& x, const Value& target, const Value& weight,
                                     const CrossEntropyOptions& options) {
  if (x.rank() == 0 || !(target.shape() == x.shape()))
    call.shape_error(fmt::format("expected probabilities of the scores' shape {}, got {}", to_string(x.shape()),
                                 to_string(target.shape())));
  const int axis = x.rank() > 1 ? 1 : 0;
  const double classes = double(x.shape()[axis]), smoothing = options.label_smoothing;
  Value p = graph::cast(target, x.dtype());
  if (smoothing > 0) p = p * (1 - smoothing) + smoothing / classes;
  if (weight) p = p * along_classes(call, weight, x, axis);
  const Value loss = -graph::sum(graph::log_softmax(x, axis) * p, {axis});
  return reduced(loss, options.reduction);
}

}  // namespace

Tensor cross_entropy(Arg logits, Arg target, const CrossEntropyOptions& options) {
  const Call call("cross_entropy", logits.loc);
  const Value given = call(logits), y = call(target), weight = call.optional(options.weight);
  call.expect_floating(given);
  const double smoothing = options.label_smoothing;
  if (!(smoothing >= 0 && smoothing <= 1))
    call.value_error(fmt::format("expected label_smoothing in 0..1, got {}", smoothing));
  const Value x = graph::widen(given);
  auto result = [&](const Value& loss) { return wrap(graph::unwiden(loss, given.dtype())); };
  if (is_floating(y.dtype())) return result(cross_entropy_of_probabilities(call, x, y, weight, options));

  const Targets t = checked_targets(call, x, y, options.ignore_index);
  const Value loss = weighted(call, picked_log_softmax(x, t), x, t, weight, options.reduction);
  if (smoothing == 0) return result(loss);
  const Value smooth = smooth_part(call, graph::log_softmax(x, t.axis), t, weight, options.reduction);
  return result(loss * (1 - smoothing) + smooth * (smoothing / double(x.shape()[t.axis])));
}

Tensor nll_loss(Arg log_probabilities, Arg target, const CrossEntropyOptions& options) {
  const Call call("nll_loss", log_probabilities.loc);
  const Value given = call(log_probabilities), weight = call.optional(options.weight);
  call.expect_floating(given);
  const Value x = graph::widen(given);
  const Targets t = checked_targets(call, x, call(target), options.ignore_index);
  const Value loss = weighted(call, graph::pick(x, t.axis, t.safe), x, t, weight, options.reduction);
  return wrap(graph::unwiden(loss, given.dtype()));
}

Tensor mse_loss(Arg input, Arg target, Reduction reduction) {
  const Call call("mse_loss", input.loc);
  const auto [x, y] = paired(call, input, target);
  return wrap(reduced(graph::square(x - y), reduction));
}

Tensor l1_loss(Arg input, Arg target, Reduction reduction) {
  const Call call("l1_loss", input.loc);
  const auto [x, y] = paired(call, input, target);
  return wrap(reduced(graph::abs(x - y), reduction));
}

Tensor smooth_l1_loss(Arg input, Arg target, Reduction reduction, double beta) {
  const Call call("smooth_l1_loss", input.loc);
  if (!(beta >= 0)) call.value_error(fmt::format("expected beta of at least 0, got {}", beta));
  const auto [x, y] = paired(call, input, target);
  const Value distance = graph::abs(x - y);
  if (beta == 0) return wrap(reduced(distance, reduction));
  const Value near = graph::square(distance) * 0.5 / beta, far = distance - 0.5 * beta;
  return wrap(reduced(graph::where(graph::lt(distance, beta), near, far), reduction));
}

// (1 - y) x - (1 + (pos_weight - 1) y) log(sigmoid(x))
Tensor binary_cross_entropy_with_logits(Arg input, Arg target, const BceOptions& options) {
  const Call call("binary_cross_entropy_with_logits", input.loc);
  const auto [x, y] = paired(call, input, target);
  if (!(x.shape() == y.shape()))
    call.shape_error(
        fmt::format("expected a target of the input's shape {}, got {}", to_string(x.shape()), to_string(y.shape())));
  const Value weight = call.optional(options.weight), positive = call.optional(options.pos_weight);
  Value log_p = graph::log_sigmoid(x);
  if (positive) log_p = log_p * ((positive - 1) * y + 1);
  Value loss = (1 - y) * x - log_p;
  if (weight) loss = loss * weight;
  return wrap(reduced(loss, options.reduction));
}

}  // namespace stoker
