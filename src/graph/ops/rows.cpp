#include "graph/ops/rows.h"

namespace stoker::graph::rows {
namespace {

bool accepts(Takes takes, DType d) {
  switch (takes) {
    case Takes::Any:
      return true;
    case Takes::Floating:
      return is_floating(d);
    case Takes::Numbers:
      return d != DType::Bool;
    case Takes::Bits:
      break;
  }
  return !is_floating(d);
}

std::string_view describe(Takes takes) {
  switch (takes) {
    case Takes::Any:
      return "any dtype";
    case Takes::Floating:
      return "a floating dtype";
    case Takes::Numbers:
      return "a dtype of numbers";
    case Takes::Bits:
      break;
  }
  return "bool or an integer dtype";
}

}  // namespace

void expect(const InferContext& c, Takes takes, int first) {
  const DType dtype = c.in(first).dtype;
  if (!accepts(takes, dtype))
    c.dtype_error(fmt::format("expected {}, got {}; convert it with .to(dtype)", describe(takes), name_of(dtype)));
  for (size_t i = size_t(first) + 1; i < c.inputs.size(); ++i)
    if (c.inputs[i].dtype != dtype)
      c.dtype_error(fmt::format("expected inputs of one dtype, got {} and {}; convert one with .to(dtype)",
                                name_of(dtype), name_of(c.inputs[i].dtype)));
}

void expect_rank(const InferContext& c, int i, int rank, std::string_view layout) {
  if (c.in(i).shape.rank() != rank)
    c.shape_error(fmt::format("expected {}, got shape {}", layout, to_string(c.in(i).shape)));
}

std::vector<TensorType> same_type(const InferContext& c) { return {c.in(0)}; }

double no_flops(std::span<const TensorType>, std::span<const TensorType>, const Attrs&) { return 0; }

FlopsFn flops_per_input(double per_element) {
  return [per_element](std::span<const TensorType> in, std::span<const TensorType>, const Attrs&) {
    return per_element * double(in[0].elements());
  };
}

}  // namespace stoker::graph::rows
