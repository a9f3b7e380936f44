#include "graph/ops/rows.h"

namespace stoker::graph {

using namespace rows;

namespace {

bool is_small_integer(DType d) { return d == DType::I8 || d == DType::U8; }

std::vector<TensorType> matmul_type(const InferContext& c) {
  const TensorType &a = c.in(0), &b = c.in(1);
  const int rank = a.shape.rank();
  if (a.dtype != b.dtype && !(is_small_integer(a.dtype) && is_small_integer(b.dtype)))
    c.dtype_error(fmt::format("expected operands of one dtype, got {} and {}; convert one with .to(dtype)",
                              name_of(a.dtype), name_of(b.dtype)));
  if (a.dtype == DType::Bool) c.dtype_error("expected numbers, got bool; convert it with .to(dtype)");
  if (rank < 2 || b.shape.rank() != rank || a.shape[rank - 1] != b.shape[rank - 2])
    c.shape_error(fmt::format("expected shapes [..., M, K] and [..., K, N], got {} and {}", to_string(a.shape),
                              to_string(b.shape)));
  Shape shape = a.shape;
  for (int i = 0; i < rank - 2; ++i) {
    if (a.shape[i] != b.shape[i] && a.shape[i] != 1 && b.shape[i] != 1)
      c.shape_error(
          fmt::format("expected batch axes that broadcast, got {} and {}", to_string(a.shape), to_string(b.shape)));
    if (a.shape[i] == 1) shape[i] = b.shape[i];
  }
  shape[rank - 1] = b.shape[rank - 1];
  return {c.like(0, shape, is_small_integer(a.dtype) ? DType::I32 : a.dtype)};
}

std::vector<Value> matmul_gradient(Grad c) {
  return {c.needs(0) ? sum_to(matmul(c.dy(), transpose(c.in(1), -2, -1)), c.in(0).shape()) : Value(),
          c.needs(1) ? sum_to(matmul(transpose(c.in(0), -2, -1), c.dy()), c.in(1).shape()) : Value()};
}

double matmul_flops(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return 2.0 * double(out[0].elements()) * double(in[0].shape.back());
}

}  // namespace

void register_matmul() {
  define({.name = "matmul",
          .doc = "matrix product; batch axes broadcast; f32 accumulation of halves, i32 of 8-bit integers",
          .arity = -1,
          .infer = matmul_type,
          .gradient = matmul_gradient,
          .saves = Saves::each_others(),
          .flops = matmul_flops,
          .strided_inputs = true});
}

}  // namespace stoker::graph
