// Tensors set beside each other or into a larger one.
#include "graph/ops/rows.h"

namespace stoker::graph {

using namespace rows;

namespace {

std::vector<TensorType> concat_type(const InferContext& c) {
  expect(c, Takes::Any);
  const int axis = c.get<IndexAttrs>().axis;
  Shape shape = c.in(0).shape;
  shape[axis] = 0;
  for (const TensorType& part : c.inputs) {
    Shape expected = c.in(0).shape;
    if (part.shape.rank() == expected.rank()) expected[axis] = part.shape[axis];
    if (!(part.shape == expected))
      c.shape_error(fmt::format("expected shapes that are equal but on axis {}, got {} and {}", axis,
                                to_string(c.in(0).shape), to_string(part.shape)));
    shape[axis] += part.shape[axis];
  }
  return {c.like(0, shape)};
}

std::vector<Value> concat_gradient(Grad c) {
  const int axis = c.get<IndexAttrs>().axis;
  std::vector<Value> out;
  int64_t start = 0;
  for (size_t i = 0; i < c.node.inputs().size(); ++i) {
    const int64_t length = c.in(int(i)).shape()[axis];
    out.push_back(c.needs(int(i)) ? narrow(c.dy(), axis, start, length) : Value());
    start += length;
  }
  return out;
}

std::vector<TensorType> pad_type(const InferContext& c) {
  const auto& a = c.get<PadAttrs>();
  Shape shape = c.in(0).shape;
  for (int i = 0; i < shape.rank(); ++i) shape[i] += a.low[i] + a.high[i];
  return {c.like(0, shape)};
}

}  // namespace

void register_joins() {
  define({.name = "concat",
          .doc = "inputs one after the other along an axis",
          .arity = -1,
          .infer = concat_type,
          .gradient = concat_gradient,
          .flops = no_flops});
  define({.name = "pad",
          .doc = "a number around x",
          .arity = 2,
          .infer = pad_type,
          .gradient =
              [](Grad c) {
                const Value& x = c.in(0);
                return std::vector{slice(c.dy(), c.get<PadAttrs>().low, x.shape(), Dims::filled(x.rank(), 1)), Value()};
              },
          .flops = no_flops});
}

}  // namespace stoker::graph
