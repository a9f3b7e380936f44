#include <stoker/nn/init.h>
#include <stoker/ops.h>

#include <cmath>
#include <numbers>

#include "graph/recorder.h"
#include "nn/expect.h"

namespace stoker::nn::init {
namespace {

Options like(const Tensor& cell) { return {cell.dtype(), cell.device()}; }

// The inverse of erf within 3e-7, for |x| < 1. M. Giles, "Approximating the erfinv function", GPU Computing Gems, 2011.
Tensor erfinv(const Tensor& x) {
  constexpr double centre[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                               -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  constexpr double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                             -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  const auto polynomial = [](const double(&coefficients)[9], const Tensor& at) {
    Tensor value = full_like(at, coefficients[0]);
    for (int i = 1; i < 9; ++i) value = value * at + coefficients[i];
    return value;
  };
  const Tensor w = -log((1.0 - x) * (1.0 + x));
  return where(w < 5.0, polynomial(centre, w - 2.5), polynomial(tail, sqrt(w) - 3.0)) * x;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double kaiming_deviation(const Tensor& cell, const KaimingOptions& options, Loc loc) {
  const auto [in, out] = fans(cell.shape(), loc);
  const int64_t fan = options.mode == FanMode::FanIn ? in : out;
  return calculate_gain(options.nonlinearity, options.a) / std::sqrt(double(fan));
}

double xavier_deviation(const Tensor& cell, double gain, Loc loc) {
  const auto [in, out] = fans(cell.shape(), loc);
  return gain * std::sqrt(2.0 / double(in + out));
}

void uniform_with_deviation(const Tensor& cell, double deviation, Loc loc) {
  const double bound = std::sqrt(3.0) * deviation;
  uniform_(cell, -bound, bound, loc);
}

// Makes the rows of a row-major matrix orthonormal by Gram and Schmidt's process, done twice for accuracy.
void orthonormalize_rows(std::vector<double>& matrix, int64_t rows, int64_t columns) {
  const auto row = [&](int64_t r) { return matrix.begin() + r * columns; };
  for (int64_t r = 0; r < rows; ++r) {
    for (int pass = 0; pass < 2; ++pass)
      for (int64_t earlier = 0; earlier < r; ++earlier) {
        double product = 0;
        for (int64_t c = 0; c < columns; ++c) product += row(r)[c] * row(earlier)[c];
        for (int64_t c = 0; c < columns; ++c) row(r)[c] -= product * row(earlier)[c];
      }
    double square = 0;
    for (int64_t c = 0; c < columns; ++c) square += row(r)[c] * row(r)[c];
    for (int64_t c = 0; c < columns; ++c) row(r)[c] /= std::sqrt(square);
  }
}

}  // namespace

void zeros_(const Tensor& cell, Loc loc) { constant_(cell, 0.0, loc); }
void ones_(const Tensor& cell, Loc loc) { constant_(cell, 1.0, loc); }
void constant_(const Tensor& cell, double value, Loc loc) {
  cell.assign(full(cell.shape(), value, like(cell), loc), loc);
}

void uniform_(const Tensor& cell, double low, double high, Loc loc) {
  expect(low <= high, "uniform_", "low of at most high", fmt::format("{} and {}", low, high), "swap them");
  cell.assign(uniform(cell.shape(), low, high, like(cell), loc), loc);
}

void normal_(const Tensor& cell, double mean, double deviation, Loc loc) {
  expect(deviation >= 0, "normal_", "a deviation of at least 0", deviation, "give its size");
  cell.assign(normal(cell.shape(), mean, deviation, like(cell), loc), loc);
}

void trunc_normal_(const Tensor& cell, double mean, double deviation, double low, double high, Loc loc) {
  expect(deviation > 0, "trunc_normal_", "a deviation above 0", deviation, "give its size");
  expect(low < high, "trunc_normal_", "low below high", fmt::format("{} and {}", low, high), "swap them");
  const graph::LocScope line(loc);
  const double from = 2 * normal_cdf((low - mean) / deviation) - 1;
  const double to = 2 * normal_cdf((high - mean) / deviation) - 1;
  const DType compute = cell.dtype() == kF64 ? kF64 : kF32;
  const Tensor u = uniform(cell.shape(), from, to, {compute, cell.device()});
  const Tensor x = erfinv(u) * (std::numbers::sqrt2 * deviation) + mean;
  cell.assign(clamp(x, low, high).to(cell.dtype()));
}

std::pair<int64_t, int64_t> fans(const Shape& shape, Loc loc) {
  if (shape.rank() < 2)
    throw ShapeError(
        "fans",
        fmt::format("expected a weight of at least two axes, got {}; initialise it with uniform_ or normal_",
                    to_string(shape)),
        loc);
  int64_t kernel = 1;
  for (int axis = 2; axis < shape.rank(); ++axis) kernel *= shape[axis];
  return {shape[1] * kernel, shape[0] * kernel};
}

void xavier_uniform_(const Tensor& cell, double gain, Loc loc) {
  uniform_with_deviation(cell, xavier_deviation(cell, gain, loc), loc);
}
void xavier_normal_(const Tensor& cell, double gain, Loc loc) {
  normal_(cell, 0, xavier_deviation(cell, gain, loc), loc);
}

double calculate_gain(Nonlinearity nonlinearity, double negative_slope) {
  switch (nonlinearity) {
    case Nonlinearity::Tanh:
      return 5.0 / 3.0;
    case Nonlinearity::ReLU:
      return std::numbers::sqrt2;
    case Nonlinearity::LeakyReLU:
      return std::sqrt(2.0 / (1.0 + negative_slope * negative_slope));
    case Nonlinearity::SELU:
      return 0.75;
    case Nonlinearity::Linear:
    case Nonlinearity::Sigmoid:
      break;
  }
  return 1.0;
}

void kaiming_uniform_(const Tensor& cell, KaimingOptions options, Loc loc) {
  uniform_with_deviation(cell, kaiming_deviation(cell, options, loc), loc);
}
void kaiming_normal_(const Tensor& cell, KaimingOptions options, Loc loc) {
  normal_(cell, 0, kaiming_deviation(cell, options, loc), loc);
}

void orthogonal_(const Tensor& cell, double gain, Loc loc) {
  if (cell.dim() < 2)
    throw ShapeError("orthogonal_",
                     fmt::format("expected at least two axes, got {}; a vector has nothing to be orthogonal to",
                                 to_string(cell.shape())),
                     loc);
  const int64_t rows = cell.size(0);
  const int64_t columns = rows ? cell.numel() / rows : 0;
  const int64_t fewer = std::min(rows, columns), more = std::max(rows, columns);
  std::vector<double> matrix = randn({fewer, more}, {kF64, cpu()}, loc).to_vector<double>(loc);
  orthonormalize_rows(matrix, fewer, more);
  for (double& element : matrix) element *= gain;
  Tensor value = from_host(matrix.data(), {fewer, more}, {kF64, cpu()}, loc);
  if (rows > columns) value = value.transpose(0, 1, loc);
  cell.assign(value.reshape(cell.shape(), loc).to(cell.dtype(), loc).to(cell.device(), loc), loc);
}

}  // namespace stoker::nn::init
