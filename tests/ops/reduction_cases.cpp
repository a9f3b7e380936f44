// Reductions, and functions that order elements along an axis.
#include "ops/case.h"

namespace stoker::test {
namespace {

const Traits kTied{.smooth = false};

const Cases kSums{
    recorded("sum", [](X x) { return sum(x[0]); }),
    recorded("sum.axis", [](X x) { return sum(x[0], {1}); }),
    recorded("sum.axes_keepdim",
             [](X x) {
               return sum(x[0], {0, -1}, true);
             }),
    recorded("sum.scalar", [](X x) { return sum(x[0]); }),
    recorded("sum.one_element", [](X x) { return sum(x[0], {-1}); }),
    recorded("sum.rank5",
             [](X x) {
               return x[0].sum({1, 3});
             }),
    recorded("sum.long", [](X x) { return sum(x[0], {1}); }),
    recorded("sum.long_first", [](X x) { return sum(x[0], {0}); }),
    recorded("sum.transposed", [](X x) { return sum(transpose(x[0], 0, 2), {0}); }),
    recorded("sum.empty", [](X x) { return sum(x[0]); }),
    recorded("sum.empty_axis", [](X x) { return sum(x[0], {0}); }),
    recorded("sum.empty_kept", [](X x) { return sum(x[0], {1}); }),
    recorded("sum.infinite", [](X x) { return sum(x[0], {1}); }),
    recorded("sum.integers", [](X x) { return sum(x[0], {1}); }),
    recorded("sum.integers_scalar", [](X x) { return sum(x[0]); }),
    recorded("sum.bool", [](X x) { return sum(x[0]); }),
    recorded("mean", [](X x) { return mean(x[0]); }),
    recorded("mean.axis", [](X x) { return x[0].mean({-2}); }),
    recorded("mean.axes_keepdim",
             [](X x) {
               return mean(x[0], {0, 2}, true);
             }),
    recorded("mean.scalar", [](X x) { return mean(x[0]); }),
    recorded("mean.empty", [](X x) { return mean(x[0]); }),
    recorded("mean.empty_kept", [](X x) { return mean(x[0], {-1}); }),
    recorded("mean.empty_axis", [](X x) { return mean(x[0], {1}); }),
    recorded("prod", [](X x) { return prod(x[0]); }),
    recorded("prod.axis", [](X x) { return prod(x[0], {1}); }),
    recorded("prod.axes_keepdim",
             [](X x) {
               return prod(x[0], {0, 2}, true);
             }),
    recorded("prod.one_zero", [](X x) { return prod(x[0], {1}); }),
    recorded("prod.two_zeros", [](X x) { return prod(x[0], {1}); }),
    recorded("prod.scalar", [](X x) { return prod(x[0]); }),
    recorded("prod.empty", [](X x) { return prod(x[0]); }),
    recorded("prod.empty_axis", [](X x) { return prod(x[0], {1}); }),
    recorded("prod.integers", [](X x) { return prod(x[0], {0}); }),
    recorded("var", [](X x) { return var(x[0]); }),
    recorded("var.axis", [](X x) { return var(x[0], {1}); }),
    recorded("var.biased_keepdim",
             [](X x) {
               return var(x[0], {0, 2}, 0, true);
             }),
    recorded("var.correction_2", [](X x) { return var(x[0], {1}, 2); }),
    recorded("var.offset", [](X x) { return var(wide(x[0]) + 1024, {1}).to(x[0].dtype()); },
             {.ulps = 256, .gradient_ulps = 256}),
    recorded("std", [](X x) { return std(x[0]); }),
    recorded("std.axis", [](X x) { return std(x[0], {-1}); }),
    recorded("std.biased_keepdim",
             [](X x) {
               return std(x[0], {0, 1}, 0, true);
             }),
    recorded("logsumexp",
             [](X x) {
               return logsumexp(x[0], {0, 1, 2});
             }),
    recorded("logsumexp.axis", [](X x) { return logsumexp(x[0], {1}); }),
    recorded("logsumexp.axes_keepdim",
             [](X x) {
               return logsumexp(x[0], {0, -1}, true);
             }),
    recorded("logsumexp.large", [](X x) { return logsumexp(x[0], {1}); }),
    recorded("logsumexp.infinite", [](X x) { return logsumexp(x[0], {1}); }, {.gradient = false}),
    recorded("logsumexp.scalar", [](X x) { return logsumexp(x[0], {0}); }),
    recorded("norm", [](X x) { return norm(x[0]); }),
    recorded("norm.axis", [](X x) { return norm(x[0], {1}); }),
    recorded("norm.axes_keepdim",
             [](X x) {
               return norm(x[0], {0, 2}, true);
             }),
    recorded(
        "norm.zero", [](X x) { return norm(x[0], {1}); }, kTied),
    recorded("norm.scalar", [](X x) { return norm(x[0]); }),
    recorded("norm.empty", [](X x) { return norm(x[0], {0}); }),
    recorded("all", [](X x) { return all(x[0]); }),
    recorded("all.axis", [](X x) { return all(x[0], {1}); }),
    recorded("all.floats", [](X x) { return all(x[0], {0}, true); }),
    recorded("all.empty", [](X x) { return all(x[0], {1}); }),
    recorded("any", [](X x) { return any(x[0]); }),
    recorded("any.axis", [](X x) { return any(x[0], {0}); }),
    recorded("any.integers", [](X x) { return any(x[0], {1}, true); }),
    recorded("any.empty", [](X x) { return any(x[0]); }),
};

const Cases kExtremes{
    recorded("amax", [](X x) { return amax(x[0]); }),
    recorded("amax.axis", [](X x) { return amax(x[0], {1}); }),
    recorded("amax.axes_keepdim",
             [](X x) {
               return amax(x[0], {0, 2}, true);
             }),
    recorded(
        "amax.ties", [](X x) { return amax(x[0], {1}); }, kTied),
    recorded("amax.nan", [](X x) { return amax(x[0], {1}); }),
    recorded("amax.scalar", [](X x) { return amax(x[0]); }),
    recorded("amax.integers", [](X x) { return amax(x[0], {1}); }),
    recorded("amin", [](X x) { return amin(x[0]); }),
    recorded("amin.axis", [](X x) { return amin(x[0], {0}); }),
    recorded(
        "amin.ties", [](X x) { return amin(x[0], {0}); }, kTied),
    recorded("amin.nan", [](X x) { return amin(x[0], {1}); }),
    recorded("amin.integers", [](X x) { return amin(x[0], {1}); }),
    recorded("argmax", [](X x) { return argmax(x[0]); }),
    recorded("argmax.axis", [](X x) { return x[0].argmax(1); }),
    recorded("argmax.keepdim", [](X x) { return argmax(x[0], -1, true); }),
    recorded("argmax.ties", [](X x) { return argmax(x[0], 1); }),
    recorded("argmax.nan", [](X x) { return argmax(x[0], 1); }),
    recorded("argmax.integers", [](X x) { return argmax(x[0], 0); }),
    recorded("argmax.scalar", [](X x) { return argmax(x[0], 0); }),
    recorded("argmax.long", [](X x) { return argmax(x[0], 1); }),
    recorded("argmin", [](X x) { return argmin(x[0]); }),
    recorded("argmin.axis", [](X x) { return argmin(x[0], 0); }),
    recorded("argmin.ties", [](X x) { return argmin(x[0], 1); }),
    recorded("argmin.nan", [](X x) { return argmin(x[0], 1); }),
    recorded("argmin.integers", [](X x) { return argmin(x[0], 1); }),
    recorded("max", [](X x) { return max(x[0], 1); }),
    recorded("max.keepdim", [](X x) { return max(x[0], -1, true); }),
    recorded(
        "max.ties", [](X x) { return max(x[0], 1); }, kTied),
    recorded("max.nan", [](X x) { return max(x[0], 1); }),
    recorded("max.integers", [](X x) { return max(x[0], 0); }),
    recorded("max.scalar", [](X x) { return max(x[0], 0); }),
    recorded("min", [](X x) { return min(x[0], 0); }),
    recorded("min.keepdim", [](X x) { return min(x[0], 1, true); }),
    recorded(
        "min.ties", [](X x) { return min(x[0], 0); }, kTied),
    recorded("min.integers", [](X x) { return min(x[0], 1); }),
};

const Cases kOrders{
    recorded("cumsum", [](X x) { return cumsum(x[0], 1); }),
    recorded("cumsum.first", [](X x) { return cumsum(x[0], 0); }),
    recorded("cumsum.last", [](X x) { return cumsum(x[0], -1); }),
    recorded("cumsum.rank5", [](X x) { return cumsum(x[0], 3); }),
    recorded("cumsum.scalar", [](X x) { return cumsum(x[0], 0); }),
    recorded("cumsum.empty", [](X x) { return cumsum(x[0], 0); }),
    recorded("cumsum.nan", [](X x) { return cumsum(x[0], 0); }),
    recorded("cumsum.integers", [](X x) { return cumsum(x[0], 1); }),
    recorded("sort", [](X x) { return sort(x[0]); }),
    recorded("sort.first", [](X x) { return sort(x[0], 0); }),
    recorded("sort.descending", [](X x) { return sort(x[0], 1, true); }),
    recorded(
        "sort.ties", [](X x) { return sort(x[0], 0); }, kTied),
    recorded(
        "sort.ties_descending", [](X x) { return sort(x[0], 0, true); }, kTied),
    recorded("sort.nan", [](X x) { return sort(x[0], 0); }),
    recorded("sort.nan_descending", [](X x) { return sort(x[0], 0, true); }),
    recorded("sort.integers", [](X x) { return sort(x[0], 1); }),
    recorded("sort.scalar", [](X x) { return sort(x[0], 0); }),
    recorded("sort.empty", [](X x) { return sort(x[0], 1); }),
    recorded("argsort", [](X x) { return argsort(x[0], 1); }),
    recorded("argsort.descending", [](X x) { return argsort(x[0], 0, true); }),
    recorded("topk", [](X x) { return topk(x[0], 3); }),
    recorded("topk.first", [](X x) { return topk(x[0], 2, 0); }),
    recorded("topk.smallest", [](X x) { return topk(x[0], 3, 1, false); }),
    recorded(
        "topk.ties", [](X x) { return topk(x[0], 3, 0); }, kTied),
    recorded(
        "topk.ties_smallest", [](X x) { return topk(x[0], 3, 0, false); }, kTied),
    recorded("topk.nan", [](X x) { return topk(x[0], 2, 0); }),
    recorded("topk.nan_smallest", [](X x) { return topk(x[0], 2, 0, false); }),
    recorded("topk.all", [](X x) { return topk(x[0], 4); }),
    recorded("topk.none", [](X x) { return topk(x[0], 0); }),
    recorded("topk.integers", [](X x) { return topk(x[0], 5, 1); }),
};

}  // namespace
}  // namespace stoker::test
