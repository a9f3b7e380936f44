#include "graph/ops/rows.h"

namespace stoker::graph {

void register_random() {
  Op row{.name = "random", .doc = "Philox 4x32-10 from a key and a counter: bits, uniform or normal", .arity = 2};
  row.infer = [](const InferContext& c) {
    const auto& a = c.get<RandomAttrs>();
    const bool bits = a.distribution == int(Distribution::Bits);
    if (bits ? a.dtype != DType::I32 : !is_floating(a.dtype))
      c.dtype_error(fmt::format("expected {}, got {}", bits ? "i32 for bits" : "a floating dtype", name_of(a.dtype)));
    return std::vector{TensorType{a.dtype, a.shape, a.device}};
  };
  define(std::move(row));
}

}  // namespace stoker::graph
