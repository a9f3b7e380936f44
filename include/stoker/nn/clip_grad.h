/// \file
/// Gradient clipping, between backward() and step(). Parameters without a gradient are left out. Nothing is read and
/// nothing waits: clipping is recorded like any other operation and becomes a part of the step.
#pragma once

#include <vector>

#include <stoker/tensor.h>

namespace stoker::nn {

/// Scales all gradients by min(1, max_norm / (norm + 1e-6)), where norm is that of all of them taken as one vector.
/// \param norm_type 1, 2 or another positive number p for (sum |g|^p)^(1/p); infinity for the largest |g|
/// \returns the norm before clipping, 0-d, f32 (f64 if a gradient is): read it when the step has started
/// Errors: ValueError for a negative max_norm or a norm_type that is not positive.
Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2.0,
                       Loc loc = Loc::here());

/// Clamps every element of every gradient to [-clip_value, clip_value]. Errors: ValueError for a negative clip_value.
void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value, Loc loc = Loc::here());

}  // namespace stoker::nn
