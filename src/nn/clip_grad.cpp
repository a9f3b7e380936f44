#include <stoker/nn/clip_grad.h>
#include <stoker/ops.h>

#include <cmath>

#include "graph/recorder.h"
#include "nn/expect.h"
#include "tensor/update.h"

namespace stoker::nn {
namespace {

std::vector<Tensor> with_gradient(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> found;
  for (const Tensor& p : parameters)
    if (detail::has_gradient(p)) found.push_back(p);
  return found;
}

// Halves are squared and summed in f32: 300² does not fit f16.
Tensor norm_of(const Tensor& gradient, double norm_type) {
  const Tensor g = is_half(gradient.dtype()) ? gradient.to(kF32) : gradient;
  if (norm_type == 2) return norm(g);
  if (norm_type == 1) return sum(abs(g));
  if (std::isinf(norm_type)) return g.numel() ? amax(abs(g)) : zeros({}, {g.dtype(), g.device()});
  return pow(sum(pow(abs(g), norm_type)), 1 / norm_type);
}

}  // namespace

Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type, Loc loc) {
  expect(max_norm >= 0, "clip_grad_norm_", "max_norm of at least 0", max_norm, "give the largest norm that may stay");
  expect(norm_type > 0, "clip_grad_norm_", "norm_type above 0", norm_type, "use 2 for the Euclidean norm");
  const graph::LocScope line(loc);
  const NoGrad no_recipe;
  const std::vector<Tensor> clipped = with_gradient(parameters);
  if (clipped.empty()) return zeros({});

  const Device home = clipped[0].device();
  DType widest = kF32;
  std::vector<Tensor> norms;
  for (const Tensor& p : clipped) {
    norms.push_back(norm_of(p.grad(), norm_type).to(home));
    widest = promote_types(widest, norms.back().dtype());
  }
  for (Tensor& n : norms) n = n.to(widest);
  const Tensor total = norm_of(stack(norms), norm_type);
  const Tensor scale = minimum(max_norm / (total + 1e-6), 1.0);
  for (const Tensor& p : clipped) {
    const Tensor g = p.grad();
    p.set_grad((g * scale.to(g.device())).to(g.dtype()));
  }
  return total;
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value, Loc loc) {
  expect(clip_value >= 0, "clip_grad_value_", "clip_value of at least 0", clip_value,
         "give the largest size of an element");
  const graph::LocScope line(loc);
  const NoGrad no_recipe;
  for (const Tensor& p : with_gradient(parameters)) p.set_grad(clamp(p.grad(), -clip_value, clip_value));
}

}  // namespace stoker::nn
