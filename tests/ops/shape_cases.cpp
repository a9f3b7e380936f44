// Other looks at a tensor, tensors set beside each other, tensors by index, tensors made from numbers.
#include "ops/case.h"

namespace stoker::test {
namespace {

const Cases kViews{
    recorded("reshape",
             [](X x) {
               return reshape(x[0], {4, 3});
             }),
    recorded("reshape.minus_one",
             [](X x) {
               return x[0].reshape({2, -1, 3});
             }),
    recorded("reshape.transposed", [](X x) { return reshape(transpose(x[0], 0, 1), {-1}); }),
    recorded("reshape.to_scalar", [](X x) { return x[0].view({}); }),
    recorded("reshape.empty",
             [](X x) {
               return reshape(x[0], {3, 0, 5});
             }),
    recorded("flatten", [](X x) { return flatten(x[0]); }),
    recorded("flatten.some", [](X x) { return x[0].flatten(1, -2); }),
    recorded("flatten.scalar", [](X x) { return flatten(x[0]); }),
    recorded("transpose", [](X x) { return x[0].t(); }),
    recorded("transpose.negative", [](X x) { return x[0].transpose(-1, 1); }),
    recorded("transpose.same", [](X x) { return transpose(x[0], 1, 1); }),
    recorded("permute",
             [](X x) {
               return permute(x[0], {2, 0, 1});
             }),
    recorded("permute.negative",
             [](X x) {
               return x[0].permute({-1, 0, -2});
             }),
    recorded("permute.rank5",
             [](X x) {
               return permute(x[0], {4, 1, 3, 0, 2});
             }),
    recorded("permute.twice",
             [](X x) {
               return permute(permute(x[0], {1, 2, 0}), {1, 2, 0});
             }),
    recorded("squeeze", [](X x) { return squeeze(x[0]); }),
    recorded("squeeze.axis", [](X x) { return x[0].squeeze(-2); }),
    recorded("squeeze.not_one", [](X x) { return squeeze(x[0], 1); }),
    recorded("unsqueeze", [](X x) { return unsqueeze(x[0], 1); }),
    recorded("unsqueeze.last", [](X x) { return x[0].unsqueeze(-1); }),
    recorded("unsqueeze.scalar", [](X x) { return unsqueeze(x[0], 0); }),
    recorded("expand",
             [](X x) {
               return expand(x[0], {2, 3, 4});
             }),
    recorded("expand.minus_one",
             [](X x) {
               return x[0].expand({5, -1, 4});
             }),
    recorded("expand.scalar",
             [](X x) {
               return expand(x[0], {2, 3});
             }),
    recorded("expand.to_nothing",
             [](X x) {
               return expand(x[0], {0, 3});
             }),
    recorded("broadcast_to",
             [](X x) {
               return broadcast_to(x[0], {2, 3, 4});
             }),
    recorded("flip", [](X x) { return flip(x[0], {0}); }),
    recorded("flip.axes",
             [](X x) {
               return flip(x[0], {0, -1});
             }),
    recorded("flip.empty", [](X x) { return flip(x[0], {0}); }),
    recorded("slice", [](X x) { return slice(x[0], 0, 1, 4); }),
    recorded("slice.step", [](X x) { return slice(x[0], 1, 1, {}, 2); }),
    recorded("slice.negative_bounds", [](X x) { return slice(x[0], 0, -4, -1); }),
    recorded("slice.clamped", [](X x) { return slice(x[0], 0, 2, 100); }),
    recorded("slice.nothing", [](X x) { return slice(x[0], 0, 4, 2); }),
    recorded("slice.reversed", [](X x) { return slice(x[0], 0, {}, {}, -1); }),
    recorded("slice.reversed_step", [](X x) { return slice(x[0], 1, 9, 0, -3); }),
    recorded("slice.of_slice", [](X x) { return slice(slice(x[0], 0, 8, {}, -2), 0, 1, {}, 2); }),
    recorded("slice.of_transposed", [](X x) { return slice(transpose(x[0], 0, 1), 0, 1, 4, 2); }),
    recorded("narrow", [](X x) { return narrow(x[0], 1, 2, 3); }),
    recorded("narrow.from_end", [](X x) { return narrow(x[0], 0, -2, 2); }),
    recorded("narrow.nothing", [](X x) { return narrow(x[0], 0, 3, 0); }),
    recorded("select", [](X x) { return select(x[0], 1, 2); }),
    recorded("select.negative", [](X x) { return select(x[0], -1, -1); }),
    recorded("select.to_scalar", [](X x) { return select(x[0], 0, 1); }),
    recorded("index",
             [](X x) {
               return x[0].index({1, Slice{1, 4, 2}, All{}});
             }),
    recorded("index.last",
             [](X x) {
               return x[0].index({Slice{{}, {}, -1}, -1});
             }),
    recorded("index_put_",
             [](X x) {
               return Tensor(x[0].clone()).index_put_({1, Slice{0, 4, 2}}, x[1]);
             }),
    recorded("index_put_.broadcast",
             [](X x) {
               return Tensor(x[0].clone()).index_put_({All{}, 2}, x[1]);
             }),
    recorded("clone", [](X x) { return x[0].clone(); }),
};

const Cases kJoins{
    recorded("slice_scatter", [](X x) { return slice_scatter(x[0], x[1], 0, 1); }),
    recorded("slice_scatter.step", [](X x) { return slice_scatter(x[0], x[1], -1, -6, 2); }),
    recorded("slice_scatter.nothing", [](X x) { return slice_scatter(x[0], x[1], 0, 2); }),
    recorded("cat", [](X x) { return cat(x); }),
    recorded("cat.last", [](X x) { return cat(x, -1); }),
    recorded("cat.middle", [](X x) { return cat(x, 1); }),
    recorded("cat.nothing", [](X x) { return cat(x, 1); }),
    recorded("cat.with_itself",
             [](X x) {
               return cat({x[0], x[0]}, 1);
             }),
    recorded("cat.integers", [](X x) { return cat(x); }),
    recorded("stack", [](X x) { return stack(x); }),
    recorded("stack.last", [](X x) { return stack(x, -1); }),
    recorded("stack.scalars", [](X x) { return stack(x); }),
    recorded("split", [](X x) { return split(x[0], 2); }),
    recorded("split.last", [](X x) { return split(x[0], 3, -1); }),
    recorded("chunk", [](X x) { return chunk(x[0], 3); }),
    recorded("chunk.fewer", [](X x) { return chunk(x[0], 4, 1); }),
    recorded("pad",
             [](X x) {
               return pad(x[0], {1, 2});
             }),
    recorded("pad.axes",
             [](X x) {
               return pad(x[0], {0, 1, 2, 0}, -1.5);
             }),
    recorded("pad.cut",
             [](X x) {
               return pad(x[0], {-1, 2, 1, -2});
             }),
    recorded("pad.integers",
             [](X x) {
               return pad(x[0], {1, 1}, 7);
             }),
    recorded("pad.empty",
             [](X x) {
               return pad(x[0], {1, 1}, 0.5);
             }),
    recorded("tril", [](X x) { return tril(x[0]); }),
    recorded("tril.diagonal", [](X x) { return tril(x[0], 1); }),
    recorded("tril.far", [](X x) { return tril(x[0], -5); }),
    recorded("triu", [](X x) { return triu(x[0]); }),
    recorded("triu.diagonal", [](X x) { return triu(x[0], -1); }),
    recorded("triu.infinite", [](X x) { return triu(x[0]); }),
    recorded("repeat",
             [](X x) {
               return repeat(x[0], {2, 3});
             }),
    recorded("repeat.more_axes",
             [](X x) {
               return repeat(x[0], {3, 1, 2});
             }),
    recorded("repeat.nothing",
             [](X x) {
               return repeat(x[0], {0, 2});
             }),
};

const Cases kIndexing{
    recorded("gather", [](X x) { return gather(x[0], 0, x[1]); }),
    recorded("gather.last", [](X x) { return gather(x[0], -1, x[1].to(kI32)); }),
    recorded("gather.fewer_lines", [](X x) { return gather(x[0], 1, x[1]); }),
    recorded("gather.negative", [](X x) { return gather(x[0], 0, x[1]); }),
    recorded("gather.nothing", [](X x) { return gather(x[0], 0, x[1]); }),
    recorded("gather.integers", [](X x) { return gather(x[0], 1, x[1]); }),
    recorded("scatter", [](X x) { return scatter(x[0], 0, x[1], x[2]); }),
    recorded("scatter.last", [](X x) { return scatter(x[0], -1, x[1].to(kI32), x[2]); }),
    recorded("scatter.integers", [](X x) { return scatter(x[0], 1, x[1], x[2]); }),
    recorded("scatter_add", [](X x) { return scatter_add(x[0], 0, x[1], x[2]); }),
    recorded("scatter_add.last", [](X x) { return scatter_add(x[0], 1, x[1].to(kI32), x[2]); }),
    recorded("index_select", [](X x) { return index_select(x[0], 0, x[1]); }),
    recorded("index_select.last", [](X x) { return index_select(x[0], -1, x[1].to(kI32)); }),
    recorded("index_select.negative", [](X x) { return index_select(x[0], 1, x[1]); }),
    recorded("index_select.nothing", [](X x) { return index_select(x[0], 0, x[1]); }),
    recorded("index_add", [](X x) { return index_add(x[0], 0, x[1], x[2]); }),
    recorded("index_add.last", [](X x) { return index_add(x[0], 2, x[1].to(kI32), x[2]); }),
    recorded("one_hot", [](X x) { return one_hot(x[0], 4); }),
    recorded("one_hot.nothing", [](X x) { return one_hot(x[0], 4); }),
    recorded("embedding", [](X x) { return embedding(x[0], x[1]); }),
    recorded("embedding.padding", [](X x) { return embedding(x[0], x[1], 2); }, {.smooth = false}),
    recorded("embedding.one", [](X x) { return embedding(x[0], x[1]); }),
    recorded("nonzero", [](X x) { return nonzero(x[0]); }),
    recorded("nonzero.integers", [](X x) { return nonzero(x[0]); }),
    recorded("nonzero.nothing", [](X x) { return nonzero(x[0]); }),
    recorded("masked_select", [](X x) { return masked_select(x[0], x[1]); }),
    recorded("masked_select.broadcast", [](X x) { return masked_select(x[0], x[1]); }),
};

const Cases kCreation{
    recorded("zeros",
             [](X) {
               return zeros({2, 3}, dtype_under_test());
             }),
    recorded("zeros.empty",
             [](X) {
               return zeros({2, 0}, dtype_under_test());
             }),
    recorded("ones", [](X) { return ones({}, dtype_under_test()); }),
    recorded("full",
             [](X) {
               return full({2, 3}, -1.25, dtype_under_test());
             }),
    recorded("full.i64", [](X) { return full({2}, (int64_t(1) << 53) - 1, kI64); }),
    recorded("full.bool", [](X) { return full({2}, true, kBool); }),
    recorded("zeros_like", [](X x) { return zeros_like(x[0]); }),
    recorded("ones_like", [](X x) { return ones_like(x[0]); }),
    recorded("full_like", [](X x) { return full_like(x[0], 7); }),
    recorded("arange", [](X) { return arange(5); }),
    recorded("arange.step", [](X) { return arange(2, 11, 3); }),
    recorded("arange.down", [](X) { return arange(5, -4, -2); }),
    recorded("arange.floats", [](X) { return arange(-1, 1, 0.25, dtype_under_test()); }),
    recorded("arange.nothing", [](X) { return arange(3, 3); }),
    recorded("linspace", [](X) { return linspace(-1, 2, 7, dtype_under_test()); }),
    recorded("linspace.one", [](X) { return linspace(3, 5, 1, dtype_under_test()); }),
    recorded("linspace.down", [](X) { return linspace(1, 0, 4, dtype_under_test()); }),
    recorded("eye", [](X) { return eye(3, dtype_under_test()); }),
    recorded("scalar_tensor", [](X) { return scalar_tensor(2.5, dtype_under_test()); }),
    recorded("scalar_tensor.i64", [](X) { return scalar_tensor(-7); }),
};

}  // namespace
}  // namespace stoker::test
