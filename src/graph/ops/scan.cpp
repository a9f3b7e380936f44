// Operations along one axis that keep its order or make one: running sums and products, sorting.
#include <cmath>

#include "graph/ops/rows.h"

namespace stoker::graph {

using namespace rows;

namespace {

std::vector<TensorType> scan_type(const InferContext& c) {
  const DType dtype = c.in(0).dtype;
  return {c.like(0, c.in(0).shape, is_floating(dtype) ? dtype : DType::I64)};
}

std::vector<Value> cumsum_gradient(Grad c) {
  ScanAttrs a = c.get<ScanAttrs>();
  a.reverse = !a.reverse;
  return {cumsum(c.dy(), a)};
}

// dx[k] sums, over the outputs i that x[k] is part of, dy[i] times the product of the other factors of output i. Takes
// n * n memory: exact where factors are zero, and needed only for second derivatives of a product.
std::vector<Value> cumprod_gradient(Grad c) {
  ScanAttrs a = c.get<ScanAttrs>();
  const Value& x = c.in(0);
  const int k = a.axis, j = a.axis + 1, rank = x.rank() + 1;
  const int64_t n = x.shape()[k];
  const Value row = positions(n, k, rank, x.device()), column = positions(n, j, rank, x.device());
  const Value others = where(eq(row, column), 1, unsqueeze(x, k));
  a.axis = j;
  const Value products = cumprod(others, a);
  const Value part =
      a.reverse ? (a.exclusive ? gt(row, column) : ge(row, column)) : (a.exclusive ? lt(row, column) : le(row, column));
  return {sum(where(part, products * unsqueeze(c.dy(), k), 0), {j})};
}

double sort_flops(std::span<const TensorType> in, std::span<const TensorType>, const Attrs&) {
  const double n = double(in[0].elements());
  return n > 1 ? n * std::log2(n) : 0;
}

// The gradient of values that were taken from an axis by index.
Value put_back(Grad c, int axis) { return scatter(zeros(c.in(0).type()), axis, c.out(1), c.dy(0)); }

}  // namespace

void register_scans() {
  define({.name = "cumsum",
          .doc = "running sum along an axis; integers in i64",
          .infer = scan_type,
          .gradient = cumsum_gradient});
  define({.name = "cumprod",
          .doc = "running product along an axis; integers in i64",
          .infer = scan_type,
          .gradient = cumprod_gradient,
          .saves = Saves::in({0})});

  Op sort{.name = "sort", .doc = "values and indices in order along an axis; stable"};
  sort.infer = [](const InferContext& c) { return std::vector{c.in(0), c.like(0, c.in(0).shape, DType::I64)}; };
  sort.gradient = [](Grad c) { return std::vector{put_back(c, c.get<SortAttrs>().axis)}; };
  sort.saves = Saves::out({1});
  sort.flops = sort_flops;
  define(std::move(sort));

  Op topk{.name = "topk", .doc = "the k largest or smallest along an axis, and their indices"};
  topk.infer = [](const InferContext& c) {
    const auto& a = c.get<TopkAttrs>();
    Shape shape = c.in(0).shape;
    if (a.k < 0 || a.k > shape[a.axis])
      c.shape_error(fmt::format("expected k in 0..{} for axis {} of shape {}, got {}", shape[a.axis], a.axis,
                                to_string(shape), a.k));
    shape[a.axis] = a.k;
    return std::vector{c.like(0, shape), c.like(0, shape, DType::I64)};
  };
  topk.gradient = [](Grad c) { return std::vector{put_back(c, c.get<TopkAttrs>().axis)}; };
  topk.saves = Saves::out({1});
  topk.flops = sort_flops;
  define(std::move(topk));
}

}  // namespace stoker::graph
