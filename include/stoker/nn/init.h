/// \file
/// Initialisers: each gives a cell a new value drawn from the default generator (see manual_seed). Only the shape,
/// dtype and device of the cell are looked at; nothing waits but orthogonal_.
///
/// fan_in and fan_out of a weight [out, in, kernel...]: in and out, each times the product of the kernel's extents.
#pragma once

#include <utility>

#include <stoker/tensor.h>

namespace stoker::nn::init {

void zeros_(const Tensor& cell, Loc loc = Loc::here());
void ones_(const Tensor& cell, Loc loc = Loc::here());
void constant_(const Tensor& cell, double value, Loc loc = Loc::here());
/// Uniform in [low, high).
void uniform_(const Tensor& cell, double low = 0.0, double high = 1.0, Loc loc = Loc::here());
void normal_(const Tensor& cell, double mean = 0.0, double deviation = 1.0, Loc loc = Loc::here());
/// Normal, restricted to [low, high] (absolute numbers, not multiples of the deviation).
void trunc_normal_(const Tensor& cell, double mean = 0.0, double deviation = 1.0, double low = -2.0, double high = 2.0,
                   Loc loc = Loc::here());

/// {fan_in, fan_out}; ShapeError below two axes.
std::pair<int64_t, int64_t> fans(const Shape& shape, Loc loc = Loc::here());

/// Glorot and Bengio 2010: deviation gain * sqrt(2 / (fan_in + fan_out)).
void xavier_uniform_(const Tensor& cell, double gain = 1.0, Loc loc = Loc::here());
void xavier_normal_(const Tensor& cell, double gain = 1.0, Loc loc = Loc::here());

enum class FanMode { FanIn, FanOut };
enum class Nonlinearity { Linear, Sigmoid, Tanh, ReLU, LeakyReLU, SELU };
/// PyTorch's table: 1, 1, 5/3, sqrt(2), sqrt(2 / (1 + negative_slope²)), 3/4.
double calculate_gain(Nonlinearity nonlinearity, double negative_slope = 0.01);

struct KaimingOptions {
  double a = 0.0;  ///< the negative slope of LeakyReLU
  FanMode mode = FanMode::FanIn;
  Nonlinearity nonlinearity = Nonlinearity::LeakyReLU;
};
/// He et al. 2015: deviation gain / sqrt(fan).
void kaiming_uniform_(const Tensor& cell, KaimingOptions options = {}, Loc loc = Loc::here());
void kaiming_normal_(const Tensor& cell, KaimingOptions options = {}, Loc loc = Loc::here());

/// Saxe et al. 2013: of the cell seen as a matrix [size(0), rest], rows (or columns, where they are fewer) orthogonal
/// and of length `gain`, uniform among all such matrices. Computed on the host in f64.
void orthogonal_(const Tensor& cell, double gain = 1.0, Loc loc = Loc::here());

}  // namespace stoker::nn::init
