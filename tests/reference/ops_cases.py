#!/usr/bin/python3
"""Records what PyTorch gives in float64 for the operation tests: one line for each case.

Writes tests/data/ops_cases.npz; the line of the same name in tests/ops/*_cases.cpp says how Stoker is called. A case has
x<i> (inputs), y<i> (outputs), g<i> (the gradients of the floating outputs, chosen here) and d<i> (the gradients of the
floating inputs that have one). Floating numbers are multiples of 1/64 below 4, which every floating dtype holds exactly,
so that one recording serves all of them. float64 stands for the floating dtype under test, int32 for the integer dtype.
"""

import zlib
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

arrays = {}
nan, inf = float("nan"), float("inf")


class Pool:
    """Numbers of one case, as different from one another as they can be."""

    def __init__(self, name):
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        self.left = []

    def draw(self, count):
        out = []
        while len(out) < count:
            if len(self.left) == 0:
                numerators = np.concatenate([np.arange(-255, 0), np.arange(1, 256)])
                self.left = list(self.random.permutation(numerators) / 64)
            out.append(self.left.pop())
        return np.array(out)


# --- inputs: each is a function of the case's pool ---------------------------------------------------------------------


def real(*shape):
    return lambda pool: torch.from_numpy(pool.draw(int(np.prod(shape))).reshape(shape))


def positive(*shape):
    return lambda pool: real(*shape)(pool).abs()


def given(values):
    return lambda pool: torch.tensor(values, dtype=torch.float64)


def whole(*shape, low=0, high=10):
    return lambda pool: torch.from_numpy(pool.random.integers(low, high, shape).astype(np.int32))


def whole_of(values):
    return lambda pool: torch.tensor(values, dtype=torch.int32)


def index(*shape, below):
    return lambda pool: torch.from_numpy(pool.random.integers(0, below, shape))


def index_of(values):
    return lambda pool: torch.tensor(values, dtype=torch.int64)


def mask(*shape):
    return lambda pool: torch.from_numpy(pool.random.integers(0, 2, shape) > 0)


def mask_of(values):
    return lambda pool: torch.tensor(values, dtype=torch.bool)


def case(name, f, *inputs):
    pool = Pool(name)
    x = [make(pool) for make in inputs]
    for i, t in enumerate(x):
        arrays[f"{name}/x{i}"] = t.numpy().copy()
        if t.dtype == torch.float64:
            t.requires_grad_()
    y = f(*x)
    y = list(y) if isinstance(y, (tuple, list)) else [y]
    total = 0
    for i, t in enumerate(y):
        arrays[f"{name}/y{i}"] = t.detach().numpy()
        if t.requires_grad:
            g = real(*t.shape)(pool)
            arrays[f"{name}/g{i}"] = g.numpy()
            total = total + (t * g).sum()
    if torch.is_tensor(total):
        total.backward()
    arrays.update({f"{name}/d{i}": t.grad.numpy() for i, t in enumerate(x) if t.grad is not None})


def stable_logsumexp(x):
    """With a gradient that is as exact as the value."""
    largest = x.detach().amax(1, keepdim=True)
    return (x - largest).logsumexp(1) + largest.squeeze(1)


# --- selection -----------------------------------------------------------------------------------------------------------

case("where", torch.where, mask(3, 4), real(3, 4), real(3, 4))
case("where.broadcast", torch.where, mask(3, 1), real(4), real(2, 1, 1))
case("where.number", lambda c, a: torch.where(c, a, torch.tensor(-1.5).double()), mask(3, 4), real(3, 4))
case("where.number_first", lambda c, b: torch.where(c, torch.tensor(2.0).double(), b), mask(3, 4), real(3, 4))
case("where.nan_not_chosen", torch.where, mask_of([True, False]), given([1, nan]), given([inf, 2]))
case("where.integers", torch.where, mask(3, 4), whole(3, 4), whole(4))
case("where.empty", torch.where, mask(0, 1), real(3), real(1, 3))
case("masked_fill", lambda x, m: x.masked_fill(m, -2.5), real(3, 4), mask(3, 4))
case("masked_fill.broadcast", lambda x, m: x.masked_fill(m, -inf), real(2, 3, 4), mask(3, 1))

# --- kinks: what a gradient is where there are two ------------------------------------------------------------------------

steps = given([-3, -1, -0.5, -0.0, 0, 0.5, 1, 3])
case("maximum.ties", torch.maximum, given([1, 2, nan, 0, -inf]), given([1, 3, 1, -0.0, -inf]))
case("minimum.ties", torch.minimum, given([1, 2, nan, 0, -inf]), given([1, 3, 1, -0.0, -inf]))
case("abs.kink", torch.abs, steps)
case("sign.kink", torch.sign, steps)
case("relu.kink", F.relu, steps)
case("leaky_relu.kink", lambda x: F.leaky_relu(x, 0.25), steps)
case("elu.kink", lambda x: F.elu(x, 1.5), steps)
case("clamp.kink", lambda x: torch.clamp(x, -1, 0.5), steps)
case("hardtanh.kink", lambda x: F.hardtanh(x, -1, 0.5), steps)
case("hardsigmoid.kink", F.hardsigmoid, given([-3, 3]))  # elsewhere its slope is a float32
case("softplus.kink", lambda x: F.softplus(x, 2, 2), steps)
case("round.kink", torch.round, given([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]))
case("pow.kink", torch.pow, given([0, 0, 0, -2, -2, 2]), given([0, 1, 2, 2, 3, 0]))
case("pow.number_zero", lambda x: torch.pow(x, 0), steps)
case("pow.number_base_zero", lambda x: torch.pow(0, x), given([0, 1, 2.5]))
case("sqrt.zero", torch.sqrt, given([0, 1]))

# --- reductions ------------------------------------------------------------------------------------------------------------

case("sum", lambda x: x.sum(), real(3, 4, 5))
case("sum.axis", lambda x: x.sum(1), real(3, 4, 5))
case("sum.axes_keepdim", lambda x: x.sum((0, -1), keepdim=True), real(3, 4, 5))
case("sum.scalar", lambda x: x.sum(), real())
case("sum.one_element", lambda x: x.sum(-1), real(1, 1))
case("sum.rank5", lambda x: x.sum((1, 3)), real(2, 3, 1, 4, 3))
case("sum.long", lambda x: x.sum(1), real(2, 1031))
case("sum.long_first", lambda x: x.sum(0), real(1031, 2))
case("sum.transposed", lambda x: x.transpose(0, 2).sum(0), real(3, 4, 5))
case("sum.empty", lambda x: x.sum(), real(0, 3))
case("sum.empty_axis", lambda x: x.sum(0), real(0, 3))
case("sum.empty_kept", lambda x: x.sum(1), real(0, 3))
case("sum.infinite", lambda x: x.sum(1), given([[1, nan, 2], [inf, 1, 2], [inf, -inf, 1]]))
case("sum.integers", lambda x: x.sum(1), whole(3, 4))
case("sum.integers_scalar", lambda x: x.sum(), whole())
case("sum.bool", lambda x: x.sum((0, 1)), mask(3, 40))
case("mean", lambda x: x.mean(), real(3, 4, 5))
case("mean.axis", lambda x: x.mean(-2), real(3, 4, 5))
case("mean.axes_keepdim", lambda x: x.mean((0, 2), keepdim=True), real(3, 4, 5))
case("mean.scalar", lambda x: x.mean(), real())
case("mean.empty", lambda x: x.mean(), real(0))
case("mean.empty_kept", lambda x: x.mean(-1), real(2, 0, 4))
case("mean.empty_axis", lambda x: x.mean(1), real(2, 0, 4))
case("prod", lambda x: x.prod(), real(2, 5))
case("prod.axis", lambda x: x.prod(1), real(3, 4, 2))
case("prod.axes_keepdim", lambda x: x.prod(2, keepdim=True).prod(0, keepdim=True), real(2, 3, 4))
case("prod.one_zero", lambda x: x.prod(1), given([[2, 0, 3], [1, 2, -3]]))
case("prod.two_zeros", lambda x: x.prod(1), given([[0, 2, 0], [0, 0, 0]]))
case("prod.scalar", lambda x: x.prod(), real())
case("prod.empty", lambda x: x.prod(), real(0))
case("prod.empty_axis", lambda x: x.prod(1), real(2, 0))
case("prod.integers", lambda x: x.prod(0), whole(3, 4, low=1, high=5))
case("amax", lambda x: x.amax(), real(3, 4, 5))
case("amax.axis", lambda x: x.amax(1), real(3, 4, 5))
case("amax.axes_keepdim", lambda x: x.amax((0, 2), keepdim=True), real(3, 4, 5))
case("amax.ties", lambda x: x.amax(1), given([[1, 3, 3, 2], [5, 5, 5, 5]]))
case("amax.nan", lambda x: x.amax(1), given([[1, nan, 3], [-inf, -inf, -inf], [inf, 1, 2]]))
case("amax.scalar", lambda x: x.amax(), real())
case("amax.integers", lambda x: x.amax(1), whole(3, 40))
case("amin", lambda x: x.amin(), real(3, 4, 5))
case("amin.axis", lambda x: x.amin(0), real(3, 4, 5))
case("amin.ties", lambda x: x.amin(0), given([[1, 3], [1, 4], [2, 3]]))
case("amin.nan", lambda x: x.amin(1), given([[1, nan, 3], [inf, inf, inf], [-inf, 1, 2]]))
case("amin.integers", lambda x: x.amin(1), whole(3, 40, low=2))
case("var", lambda x: x.var(), real(3, 4, 5))
case("var.axis", lambda x: torch.var(x, 1), real(3, 4, 5))
case("var.biased_keepdim", lambda x: torch.var(x, (0, 2), unbiased=False, keepdim=True), real(3, 4, 5))
case("var.correction_2", lambda x: torch.var(x, (1,), correction=2, keepdim=False), real(3, 5))
case("var.offset", lambda x: torch.var(x + 1024, 1), real(3, 50))
case("std", lambda x: x.std(), real(3, 4, 5))
case("std.axis", lambda x: torch.std(x, -1), real(3, 4, 5))
case("std.biased_keepdim", lambda x: torch.std(x, (0, 1), unbiased=False, keepdim=True), real(3, 4, 5))
case("logsumexp", lambda x: x.logsumexp((0, 1, 2)), real(3, 4, 5))
case("logsumexp.axis", lambda x: x.logsumexp(1), real(3, 4, 5))
case("logsumexp.axes_keepdim", lambda x: x.logsumexp((0, -1), keepdim=True), real(3, 4, 5))
case("logsumexp.large", stable_logsumexp, given([[1024, 1024], [-1024, -1032], [1024, -1024]]))
case("logsumexp.infinite", lambda x: x.logsumexp(1), given([[-inf, -inf], [inf, 1], [-inf, 1], [nan, 1]]))
case("logsumexp.scalar", lambda x: x.logsumexp(0), real())
case("norm", lambda x: x.norm(), real(3, 4, 5))
case("norm.axis", lambda x: x.norm(dim=1), real(3, 4, 5))
case("norm.axes_keepdim", lambda x: x.norm(dim=(0, 2), keepdim=True), real(3, 4, 5))
case("norm.zero", lambda x: x.norm(dim=1), given([[0, 0], [3, 4]]))
case("norm.scalar", lambda x: x.norm(), given(-2.5))
case("norm.empty", lambda x: x.norm(dim=0), real(0, 3))
case("all", lambda x: x.all(), mask(3, 4))
case("all.axis", lambda x: x.all(1), mask_of([[True, True], [True, False], [False, False]]))
case("all.floats", lambda x: (x != 0).all(0, keepdim=True), given([[1, 0, nan], [2, 3, -0.5]]))
case("all.empty", lambda x: x.all(1), mask(2, 0))
case("any", lambda x: x.any(), mask(3, 4))
case("any.axis", lambda x: x.any(0), mask_of([[True, False, False], [True, False, True]]))
case("any.integers", lambda x: (x != 0).any(1, keepdim=True), whole_of([[0, 0], [0, 3]]))
case("any.empty", lambda x: x.any(), mask(0))
case("argmax", lambda x: x.argmax(), real(3, 4, 5))
case("argmax.axis", lambda x: x.argmax(1), real(3, 4, 5))
case("argmax.keepdim", lambda x: x.argmax(-1, keepdim=True), real(3, 4, 5))
case("argmax.ties", lambda x: x.argmax(1), given([[2, 3, 0, 3, 3], [1, 3, 1, 3, 1], [0, 0, 0, 0, 0]]))
case("argmax.nan", lambda x: x.argmax(1), given([[1, nan, inf, nan], [-inf, -inf, -inf, -inf], [nan, 1, 2, 3]]))
case("argmax.integers", lambda x: x.argmax(0), whole(3, 40))
case("argmax.scalar", lambda x: x.argmax(0), real())
case("argmax.long", lambda x: x.argmax(1), real(2, 1031))
case("argmin", lambda x: x.argmin(), real(3, 4, 5))
case("argmin.axis", lambda x: x.argmin(0), real(3, 4, 5))
case("argmin.ties", lambda x: x.argmin(1), given([[2, 0, 0, 3], [1, 1, 1, 1]]))
case("argmin.nan", lambda x: x.argmin(1), given([[1, nan, -inf, nan], [inf, inf, inf, inf]]))
case("argmin.integers", lambda x: x.argmin(1), whole(3, 40))
case("max", lambda x: x.max(1), real(3, 4, 5))
case("max.keepdim", lambda x: x.max(-1, keepdim=True), real(3, 4, 5))
case("max.ties", lambda x: x.max(1), given([[1, 3, 3], [2, 2, 2]]))
case("max.nan", lambda x: x.max(1), given([[1, nan, 3], [-inf, -inf, -inf]]))
case("max.integers", lambda x: x.max(0), whole(3, 4))
case("max.scalar", lambda x: x.max(0), real())
case("min", lambda x: x.min(0), real(3, 4, 5))
case("min.keepdim", lambda x: x.min(1, keepdim=True), real(3, 4, 5))
case("min.ties", lambda x: x.min(0), given([[1, 3], [1, 2], [4, 2]]))
case("min.integers", lambda x: x.min(1), whole(3, 40))
case("cumsum", lambda x: x.cumsum(1), real(3, 4, 5))
case("cumsum.first", lambda x: x.cumsum(0), real(3, 4, 5))
case("cumsum.last", lambda x: x.cumsum(-1), real(2, 1031))
case("cumsum.rank5", lambda x: x.cumsum(3), real(2, 1, 3, 4, 2))
case("cumsum.scalar", lambda x: x.cumsum(0), real())
case("cumsum.empty", lambda x: x.cumsum(0), real(0, 2))
case("cumsum.nan", lambda x: x.cumsum(0), given([1, nan, 2, inf]))
case("cumsum.integers", lambda x: x.cumsum(1), whole(3, 40))
case("sort", lambda x: x.sort(), real(3, 4, 5))
case("sort.first", lambda x: x.sort(0), real(7, 3))
case("sort.descending", lambda x: x.sort(1, descending=True), real(3, 7))
case("sort.ties", lambda x: torch.sort(x, dim=0, stable=True), given([3, 1, 3, 1, 2, 1]))
case("sort.ties_descending", lambda x: torch.sort(x, dim=0, stable=True, descending=True), given([3, 1, 3, 1, 2, 1]))
case("sort.nan", lambda x: torch.sort(x, dim=0, stable=True), given([nan, 1, inf, -inf, nan, 0]))
case("sort.nan_descending", lambda x: torch.sort(x, dim=0, stable=True, descending=True), given([nan, 1, inf, -inf, nan, 0]))
case("sort.integers", lambda x: torch.sort(x, dim=1, stable=True), whole(3, 40))
case("sort.scalar", lambda x: x.sort(0), real())
case("sort.empty", lambda x: x.sort(1), real(3, 0))
case("argsort", lambda x: x.sort(1)[1], real(3, 7))
case("argsort.descending", lambda x: x.sort(0, descending=True)[1], real(7, 3))
first = lambda x, k, axis, largest: [t.narrow(axis, 0, k) for t in torch.sort(x, dim=axis, stable=True, descending=largest)]
case("topk", lambda x: x.topk(3), real(4, 7))
case("topk.first", lambda x: x.topk(2, 0), real(5, 3))
case("topk.smallest", lambda x: x.topk(3, 1, largest=False), real(4, 7))
case("topk.ties", lambda x: first(x, 3, 0, True), given([1, 2, 5, 4, 5, 5]))
case("topk.ties_smallest", lambda x: first(x, 3, 0, False), given([4, 1, 2, 1, 1]))
case("topk.nan", lambda x: first(x, 2, 0, True), given([1, nan, 3, 2]))
case("topk.nan_smallest", lambda x: first(x, 2, 0, False), given([1, nan, 3, 2]))
case("topk.all", lambda x: first(x, 4, 1, True), real(2, 4))
case("topk.none", lambda x: x.topk(0), real(2, 4))
case("topk.integers", lambda x: first(x, 5, 1, True), whole(3, 40))

# --- shape -----------------------------------------------------------------------------------------------------------------

# Python's own rule for start:stop:step, which PyTorch lacks for negative steps.
part = lambda x, axis, *bounds: x.index_select(axis, torch.tensor(range(x.size(axis))[slice(*bounds)], dtype=torch.int64))
case("reshape", lambda x: x.reshape(4, 3), real(2, 6))
case("reshape.minus_one", lambda x: x.reshape(2, -1, 3), real(3, 4))
case("reshape.transposed", lambda x: x.transpose(0, 1).reshape(-1), real(3, 4))
case("reshape.to_scalar", lambda x: x.reshape(()), real(1, 1))
case("reshape.empty", lambda x: x.reshape(3, 0, 5), real(0, 2))
case("flatten", lambda x: x.flatten(), real(2, 3, 4))
case("flatten.some", lambda x: x.flatten(1, -2), real(2, 3, 4, 2))
case("flatten.scalar", lambda x: x.flatten(), real())
case("transpose", lambda x: x.transpose(0, 1), real(3, 4))
case("transpose.negative", lambda x: x.transpose(-1, 1), real(2, 3, 4, 2))
case("transpose.same", lambda x: x.transpose(1, 1), real(3, 4))
case("permute", lambda x: x.permute(2, 0, 1), real(2, 3, 4))
case("permute.negative", lambda x: x.permute(-1, 0, -2), real(2, 3, 4))
case("permute.rank5", lambda x: x.permute(4, 1, 3, 0, 2), real(2, 3, 1, 2, 3))
case("permute.twice", lambda x: x.permute(1, 2, 0).permute(1, 2, 0), real(2, 3, 4))
case("squeeze", lambda x: x.squeeze(), real(1, 3, 1, 4))
case("squeeze.axis", lambda x: x.squeeze(-2), real(1, 3, 1, 4))
case("squeeze.not_one", lambda x: x.squeeze(1), real(1, 3))
case("unsqueeze", lambda x: x.unsqueeze(1), real(3, 4))
case("unsqueeze.last", lambda x: x.unsqueeze(-1), real(3, 4))
case("unsqueeze.scalar", lambda x: x.unsqueeze(0), real())
case("expand", lambda x: x.expand(2, 3, 4), real(3, 1))
case("expand.minus_one", lambda x: x.expand(5, -1, 4), real(3, 1))
case("expand.scalar", lambda x: x.expand(2, 3), real())
case("expand.to_nothing", lambda x: x.expand(0, 3), real(1, 3))
case("broadcast_to", lambda x: x.broadcast_to((2, 3, 4)), real(1, 3, 1))
case("flip", lambda x: x.flip(0), real(5, 3))
case("flip.axes", lambda x: x.flip(0, -1), real(2, 3, 4))
case("flip.empty", lambda x: x.flip(0), real(0, 3))
case("slice", lambda x: x[1:4], real(6, 3))
case("slice.step", lambda x: x[:, 1::2], real(3, 7))
case("slice.negative_bounds", lambda x: x[-4:-1], real(6, 3))
case("slice.clamped", lambda x: x[2:100], real(6, 3))
case("slice.nothing", lambda x: x[4:2], real(6, 3))
case("slice.reversed", lambda x: part(x, 0, None, None, -1), real(6, 3))
case("slice.reversed_step", lambda x: part(x, 1, 9, 0, -3), real(2, 10))
case("slice.of_slice", lambda x: part(part(x, 0, 8, None, -2), 0, 1, None, 2), real(10, 2))
case("slice.of_transposed", lambda x: x.transpose(0, 1)[1:4:2], real(3, 5))
case("narrow", lambda x: x.narrow(1, 2, 3), real(3, 6))
case("narrow.from_end", lambda x: x.narrow(0, 4, 2), real(6, 3))
case("narrow.nothing", lambda x: x.narrow(0, 3, 0), real(3, 2))
case("select", lambda x: x.select(1, 2), real(3, 4, 2))
case("select.negative", lambda x: x.select(-1, -1), real(3, 4))
case("select.to_scalar", lambda x: x.select(0, 1), real(3))
case("slice_scatter", lambda x, v: torch.slice_scatter(x, v, 0, 1, 4, 1), real(6, 3), real(3, 3))
case("slice_scatter.step", lambda x, v: torch.slice_scatter(x, v, 1, 1, 6, 2), real(2, 7), real(2, 3))
case("slice_scatter.nothing", lambda x, v: torch.slice_scatter(x, v, 0, 2, 2, 1), real(3, 2), real(0, 2))
case("cat", lambda *x: torch.cat(x), real(2, 3), real(1, 3), real(4, 3))
case("cat.last", lambda *x: torch.cat(x, -1), real(2, 3), real(2, 1))
case("cat.middle", lambda *x: torch.cat(x, 1), real(2, 1, 3), real(2, 2, 3))
case("cat.nothing", lambda *x: torch.cat(x, 1), real(2, 3), real(2, 0))
case("cat.with_itself", lambda x: torch.cat([x, x], 1), real(2, 3))
case("cat.integers", lambda *x: torch.cat(x), whole(2, 3), whole(1, 3))
case("stack", lambda *x: torch.stack(x), real(2, 3), real(2, 3))
case("stack.last", lambda *x: torch.stack(x, -1), real(2, 3), real(2, 3), real(2, 3))
case("stack.scalars", lambda *x: torch.stack(x), real(), real())
case("split", lambda x: x.split(2), real(5, 3))
case("split.last", lambda x: x.split(3, -1), real(2, 6))
case("chunk", lambda x: x.chunk(3), real(7, 2))
case("chunk.fewer", lambda x: x.chunk(4, 1), real(2, 6))
case("pad", lambda x: F.pad(x, (1, 2)), real(3, 4))
case("pad.axes", lambda x: F.pad(x, (0, 1, 2, 0), value=-1.5), real(2, 3, 4))
case("pad.cut", lambda x: F.pad(x, (-1, 2, 1, -2)), real(4, 5))
case("pad.integers", lambda x: F.pad(x, (1, 1), value=7), whole(2, 3))
case("pad.empty", lambda x: F.pad(x, (1, 1), value=0.5), real(2, 0))
case("tril", lambda x: x.tril(), real(4, 4))
case("tril.diagonal", lambda x: x.tril(1), real(2, 3, 5))
case("tril.far", lambda x: x.tril(-5), real(3, 3))
case("triu", lambda x: x.triu(), real(4, 4))
case("triu.diagonal", lambda x: x.triu(-1), real(2, 5, 3))
case("triu.infinite", lambda x: x.triu(), given([[1, inf], [nan, 2]]))
case("repeat", lambda x: x.repeat(2, 3), real(2, 2))
case("repeat.more_axes", lambda x: x.repeat(3, 1, 2), real(2, 2))
case("repeat.nothing", lambda x: x.repeat(0, 2), real(2, 2))
case("index", lambda x: x[1, 1:4:2, :], real(3, 5, 2))
case("index.last", lambda x: part(x[:, -1], 0, None, None, -1), real(3, 5, 2))


def put(x, v, *at):
    y = x.clone()
    y[at] = v
    return y


case("index_put_", lambda x, v: put(x, v, 1, slice(0, 4, 2)), real(3, 5), real(2))
case("index_put_.broadcast", lambda x, v: put(x, v, slice(None), 2), real(3, 5), real())
case("clone", lambda x: x.clone(), real(3, 4))

# --- indexing ----------------------------------------------------------------------------------------------------------------

case("gather", lambda x, i: x.gather(0, i), real(4, 3), index(2, 3, below=4))
case("gather.last", lambda x, i: x.gather(-1, i), real(3, 5), index(3, 7, below=5))
case("gather.fewer_lines", lambda x, i: x.gather(1, i), real(4, 5, 3), index(2, 3, 2, below=5))
case("gather.negative", lambda x, i: x.gather(0, i % 4), real(4, 3), index_of([[-1, -4, 0], [3, -2, -1]]))
case("gather.nothing", lambda x, i: x.gather(0, i), real(4, 3), index(0, 3, below=4))
case("gather.integers", lambda x, i: x.gather(1, i), whole(3, 4), index(3, 2, below=4))
case("scatter", lambda x, i, s: x.scatter(0, i, s), real(5, 2), index_of([[0, 3], [4, 1], [2, 0]]), real(3, 2))
case("scatter.last", lambda x, i, s: x.scatter(1, i, s), real(2, 5), index_of([[4, 0], [1, 2]]), real(2, 2))
case("scatter.integers", lambda x, i, s: x.scatter(1, i, s), whole(2, 5), index_of([[4, 0], [1, 2]]), whole(2, 2))
case("scatter_add", lambda x, i, s: x.scatter_add(0, i, s), real(4, 2), index_of([[0, 3], [0, 1], [2, 1], [0, 1]]), real(4, 2))
case("scatter_add.last", lambda x, i, s: x.scatter_add(1, i, s), real(3, 4), index(3, 9, below=4), real(3, 9))
case("index_select", lambda x, i: x.index_select(0, i), real(4, 3), index_of([2, 0, 2]))
case("index_select.last", lambda x, i: x.index_select(-1, i), real(2, 3, 4), index_of([3, 3, 1, 0, 2]))
case("index_select.negative", lambda x, i: x.index_select(1, i % 3), real(2, 3), index_of([-1, 0, -3]))
case("index_select.nothing", lambda x, i: x.index_select(0, i), real(4, 3), index(0, below=4))
case("index_add", lambda x, i, s: x.index_add(0, i, s), real(4, 3), index_of([2, 0, 2]), real(3, 3))
case("index_add.last", lambda x, i, s: x.index_add(2, i, s), real(2, 3, 4), index_of([3, 3, 1]), real(2, 3, 3))
case("one_hot", lambda i: F.one_hot(i, 4), index(2, 3, below=4))
case("one_hot.nothing", lambda i: F.one_hot(i, 4), index(0, below=4))
case("embedding", lambda i, w: F.embedding(i, w), index_of([[1, 0, 6], [1, 1, 3]]), real(7, 3))
case("embedding.padding", lambda i, w: F.embedding(i, w, padding_idx=2), index_of([2, 0, 2, 5, 5]), real(7, 3))
case("embedding.one", lambda i, w: F.embedding(i, w), index_of(4), real(7, 3))
case("nonzero", lambda x: (x != 0).nonzero(), given([[0, 1, nan], [-0.0, 0, -2]]))
case("nonzero.integers", lambda x: x.nonzero(), whole(3, 4, high=2))
case("nonzero.nothing", lambda x: x.nonzero(), mask_of([False, False]))
case("masked_select", lambda x, m: x.masked_select(m), real(3, 4), mask(3, 4))
case("masked_select.broadcast", lambda x, m: x.masked_select(m), real(3, 1), mask(4))

# --- products, convolution, pooling, norms --------------------------------------------------------------------------------------

case("matmul", torch.matmul, real(3, 4), real(4, 5))
case("matmul.large", torch.matmul, real(33, 65), real(65, 17))
case("matmul.vectors", torch.matmul, real(7), real(7))
case("matmul.matrix_vector", torch.matmul, real(3, 4), real(4))
case("matmul.vector_matrix", torch.matmul, real(4), real(4, 3))
case("matmul.batch", torch.matmul, real(2, 3, 4), real(2, 4, 5))
case("matmul.batch_broadcast", torch.matmul, real(2, 1, 3, 4), real(3, 4, 2))
case("matmul.batch_matrix", torch.matmul, real(2, 3, 4), real(4, 5))
case("matmul.matrix_batch", torch.matmul, real(3, 4), real(2, 4, 5))
case("matmul.batch_vector", torch.matmul, real(2, 3, 4), real(4))
case("matmul.vector_batch", torch.matmul, real(4), real(2, 4, 3))
case("matmul.transposed", lambda a, b: torch.matmul(a.transpose(0, 1), b.transpose(0, 1)), real(4, 3), real(5, 4))
case("matmul.with_itself", lambda a: torch.matmul(a, a), real(3, 3))
case("matmul.one_element", torch.matmul, real(1, 1), real(1, 1))
case("matmul.nothing_summed", torch.matmul, real(3, 0), real(0, 2))
case("matmul.no_rows", torch.matmul, real(0, 3), real(3, 2))
case("matmul.no_batch", torch.matmul, real(0, 2, 3), real(1, 3, 4))
case("matmul.nan", torch.matmul, given([[1, nan], [inf, 1]]), given([[1, 0], [0, 2]]))
case("matmul.integers", lambda a, b: torch.matmul(a, b), whole(3, 4, high=4), whole(4, 5, high=4))
case("linear", F.linear, real(4, 5), real(3, 5), real(3))
case("linear.no_bias", F.linear, real(4, 5), real(3, 5))
case("linear.batch", F.linear, real(2, 3, 5), real(4, 5), real(4))
case("linear.vector", F.linear, real(5), real(3, 5), real(3))
case("linear.no_rows", F.linear, real(0, 5), real(3, 5), real(3))
image = real(2, 4, 7, 6)
case("conv2d", F.conv2d, image, real(3, 4, 3, 3), real(3))
case("conv2d.no_bias", F.conv2d, image, real(3, 4, 3, 3))
case("conv2d.padding", lambda x, w: F.conv2d(x, w, padding=(1, 2)), image, real(3, 4, 3, 3))
case("conv2d.stride", lambda x, w: F.conv2d(x, w, stride=(2, 3)), image, real(3, 4, 3, 2))
case("conv2d.dilation", lambda x, w, b: F.conv2d(x, w, b, dilation=(3, 2)), image, real(3, 4, 3, 3), real(3))
case("conv2d.everything", lambda x, w, b: F.conv2d(x, w, b, 2, 2, 2, 2), image, real(6, 2, 3, 2), real(6))
case("conv2d.groups", lambda x, w: F.conv2d(x, w, groups=2), image, real(6, 2, 3, 3))
case("conv2d.depthwise", lambda x, w: F.conv2d(x, w, padding=1, groups=4), image, real(8, 1, 3, 3))
case("conv2d.pointwise", F.conv2d, image, real(5, 4, 1, 1), real(5))
case("conv2d.whole_image", F.conv2d, image, real(5, 4, 7, 6))
case("conv2d.padding_high", lambda x, w: F.conv2d(F.pad(x, (0, 2, 1, 3)), w), image, real(3, 4, 3, 3))
case("conv2d.rest_unread", lambda x, w: F.conv2d(x, w, stride=3), image, real(3, 4, 2, 2))
case("conv2d.no_images", lambda x, w: F.conv2d(x, w), real(0, 4, 5, 5), real(3, 4, 3, 3))
pool_image = real(2, 3, 7, 6)
case("max_pool2d", lambda x: F.max_pool2d(x, 2), pool_image)
case("max_pool2d.stride", lambda x: F.max_pool2d(x, (3, 2), (2, 1)), pool_image)
case("max_pool2d.padding", lambda x: F.max_pool2d(x, 3, 2, 1), pool_image)
case("max_pool2d.dilation", lambda x: F.max_pool2d(x, 2, 1, 0, (2, 3)), pool_image)
case("max_pool2d.ceil", lambda x: F.max_pool2d(x, 2, 2, ceil_mode=True), pool_image)
case("max_pool2d.ties", lambda x: F.max_pool2d(x, 2, 1), given([[[[1, 2, 2], [2, 2, 1], [0, 0, 0]]]]))
case("max_pool2d.nan", lambda x: F.max_pool2d(x, 2), given([[[[1, nan, -inf, -inf], [3, 2, -inf, -inf]]]]))
case("max_pool2d_with_indices", lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), pool_image)
case("max_pool2d_with_indices.ties", lambda x: F.max_pool2d(x, 2, 2, return_indices=True), given([[[[5, 5, 1, 1], [5, 5, 1, 2]]]]))
case("avg_pool2d", lambda x: F.avg_pool2d(x, 2), pool_image)
case("avg_pool2d.stride", lambda x: F.avg_pool2d(x, (3, 2), (2, 1)), pool_image)
case("avg_pool2d.padding", lambda x: F.avg_pool2d(x, 3, 2, 1), pool_image)
case("avg_pool2d.padding_uncounted", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), pool_image)
case("avg_pool2d.ceil", lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), real(2, 3, 8, 6))
case("avg_pool2d.ceil_uncounted", lambda x: F.avg_pool2d(x, 3, 2, 1, True, False), real(2, 3, 8, 6))
case("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, (3, 4)), pool_image)
case("adaptive_avg_pool2d.global", lambda x: F.adaptive_avg_pool2d(x, 1), pool_image)
case("adaptive_avg_pool2d.larger", lambda x: F.adaptive_avg_pool2d(x, (9, 6)), pool_image)
case("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, (3, 4)), pool_image)
case("adaptive_max_pool2d.global", lambda x: F.adaptive_max_pool2d(x, 1), pool_image)
case("softmax", lambda x: F.softmax(x, -1), real(3, 4, 5))
case("softmax.middle", lambda x: F.softmax(x, 1), real(3, 4, 5))
case("softmax.first", lambda x: F.softmax(x, 0), real(7, 3))
case("softmax.large", lambda x: F.softmax(x, 1), given([[1024, 1032, 1016], [-1024, -1024, -1024]]))
case("softmax.infinite", lambda x: F.softmax(x, 1), given([[-inf, 1, 2], [-inf, -inf, 0]]))
case("softmax.nan", lambda x: F.softmax(x, 1), given([[-inf, -inf], [nan, 1], [inf, 1]]))
case("softmax.scalar", lambda x: F.softmax(x, 0), real())
case("softmax.empty", lambda x: F.softmax(x, 1), real(0, 3))
case("softmax.empty_axis", lambda x: F.softmax(x, 1), real(3, 0))
case("softmax.long", lambda x: F.softmax(x, 1), real(2, 1031))
case("log_softmax", lambda x: F.log_softmax(x, -1), real(3, 4, 5))
case("log_softmax.middle", lambda x: F.log_softmax(x, 1), real(3, 4, 5))
case("log_softmax.first", lambda x: F.log_softmax(x, 0), real(7, 3))
case("log_softmax.large", lambda x: F.log_softmax(x, 1), given([[1024, 1032, 1016], [-1024, -1024, -1024]]))
case("log_softmax.scalar", lambda x: F.log_softmax(x, 0), real())
case("layer_norm", lambda x, w, b: F.layer_norm(x, (6,), w, b), real(4, 6), real(6), real(6))
case("layer_norm.plain", lambda x: F.layer_norm(x, (6,)), real(4, 6))
case("layer_norm.weight_alone", lambda x, w: F.layer_norm(x, (6,), w), real(4, 6), real(6))
case("layer_norm.axes", lambda x, w, b: F.layer_norm(x, (3, 4), w, b, 1e-3), real(2, 5, 3, 4), real(3, 4), real(3, 4))
case("layer_norm.width_1", lambda x, w, b: 0 * x * w + b, real(4, 1), real(1), real(1))
case("layer_norm.vector", lambda x, w, b: F.layer_norm(x, (6,), w, b), real(6), real(6), real(6))
case("layer_norm.no_rows", lambda x, w, b: F.layer_norm(x, (6,), w, b), real(0, 6), real(6), real(6))
case("layer_norm.offset", lambda x: F.layer_norm(x + 256, (50,)), real(4, 50))


def moved(x, m, v, w=None, b=None, momentum=0.1, eps=1e-5):
    m, v = m.detach().clone(), v.detach().clone()
    return F.batch_norm(x, m, v, w, b, True, momentum, eps), m, v


still = lambda *a, eps=1e-5: F.batch_norm(a[0], a[1].detach(), a[2].detach(), *a[3:], eps=eps)
case("batch_norm", moved, real(6, 4), real(4), positive(4), real(4), real(4))
case("batch_norm.images", moved, real(3, 4, 5, 2), real(4), positive(4), real(4), real(4))
case("batch_norm.lines", lambda *a: moved(*a, momentum=0.3, eps=1e-3), real(3, 4, 5), real(4), positive(4), real(4), real(4))
case("batch_norm.plain", moved, real(3, 4, 5), real(4), positive(4))
case("batch_norm.untracked", lambda x, w, b: F.batch_norm(x, None, None, w, b, True), real(5, 3, 2), real(3), real(3))
case("batch_norm.evaluation", still, real(3, 4, 5, 2), real(4), positive(4), real(4), real(4))
case("batch_norm.evaluation_plain", still, real(3, 4), real(4), positive(4))
case("dropout.evaluation", lambda x: F.dropout(x, 0.5, False), real(3, 4))
case("dropout.none", lambda x: F.dropout(x, 0.0, True), real(3, 4))
case("dropout.all", lambda x: F.dropout(x, 1.0, True), real(3, 4))

# --- losses --------------------------------------------------------------------------------------------------------------------

scores, classes = real(5, 4), index_of([2, 0, 3, 3, 1])
case("cross_entropy", F.cross_entropy, scores, classes)
case("cross_entropy.none", lambda x, t: F.cross_entropy(x, t, reduction="none"), scores, classes)
case("cross_entropy.sum", lambda x, t: F.cross_entropy(x, t, reduction="sum"), scores, classes)
case("cross_entropy.ignored", lambda x, t: F.cross_entropy(x, t, ignore_index=3), scores, classes)
case("cross_entropy.ignored_none", lambda x, t: F.cross_entropy(x, t, reduction="none"), scores, index_of([2, -100, 3, -100, 1]))
case("cross_entropy.weight", lambda x, t, w: F.cross_entropy(x, t, w.detach()), scores, classes, positive(4))
case("cross_entropy.weight_ignored", lambda x, t, w: F.cross_entropy(x, t, w.detach(), ignore_index=0), scores, classes, positive(4))
case("cross_entropy.smoothing", lambda x, t: F.cross_entropy(x, t, label_smoothing=0.125), scores, classes)
case("cross_entropy.smoothing_weight",
     lambda x, t, w: F.cross_entropy(x, t, w.detach(), ignore_index=3, label_smoothing=0.25), scores, classes, positive(4))
case("cross_entropy.images", F.cross_entropy, real(2, 3, 4, 2), index(2, 4, 2, below=3))
case("cross_entropy.one", F.cross_entropy, real(4), index_of(2))
case("cross_entropy.large", F.cross_entropy, given([[1000, 0], [0, 1000], [-1000, 1000]]), index_of([0, 0, 1]))
case("cross_entropy.probabilities", F.cross_entropy, scores, positive(5, 4))
case("cross_entropy.probabilities_weight",
     lambda x, p, w: F.cross_entropy(x, p, w.detach(), label_smoothing=0.25, reduction="sum"), scores, positive(5, 4), positive(4))
case("nll_loss", F.nll_loss, scores, classes)
case("nll_loss.none", lambda x, t: F.nll_loss(x, t, reduction="none"), scores, classes)
case("nll_loss.weight_ignored", lambda x, t, w: F.nll_loss(x, t, w.detach(), ignore_index=1), scores, classes, positive(4))
case("nll_loss.images", lambda x, t: F.nll_loss(x, t, reduction="sum"), real(2, 3, 4, 2), index(2, 4, 2, below=3))
case("mse_loss", F.mse_loss, real(3, 4), real(3, 4))
case("mse_loss.none", lambda x, t: F.mse_loss(x, t, reduction="none"), real(3, 4), real(3, 4))
case("mse_loss.sum", lambda x, t: F.mse_loss(x, t, reduction="sum"), real(3, 4), real(3, 4))
case("mse_loss.empty", F.mse_loss, real(0), real(0))
case("l1_loss", F.l1_loss, real(3, 4), real(3, 4))
case("l1_loss.sum", lambda x, t: F.l1_loss(x, t, reduction="sum"), real(3, 4), real(3, 4))
case("smooth_l1_loss", F.smooth_l1_loss, real(3, 4), real(3, 4))
case("smooth_l1_loss.beta", lambda x, t: F.smooth_l1_loss(x, t, reduction="none", beta=2.5), real(3, 4), real(3, 4))
case("smooth_l1_loss.beta_zero", lambda x, t: F.smooth_l1_loss(x, t, reduction="sum", beta=0), real(3, 4), real(3, 4))
bce = F.binary_cross_entropy_with_logits
case("binary_cross_entropy_with_logits", lambda x, t: bce(x, t / 4), real(3, 4), positive(3, 4))
case("binary_cross_entropy_with_logits.weight", lambda x, t, w: bce(x, t / 4, w.detach(), reduction="sum"), real(3, 4), positive(3, 4), positive(4))
case("binary_cross_entropy_with_logits.pos_weight",
     lambda x, t, p: bce(x, t / 4, pos_weight=p.detach(), reduction="none"), real(3, 4), positive(3, 4), positive(4))
case("binary_cross_entropy_with_logits.large", bce, given([1000, -1000, 1000, -1000]), given([1, 0, 0, 1]))

# --- creation ------------------------------------------------------------------------------------------------------------------

case("zeros", lambda: torch.zeros(2, 3, dtype=torch.float64))
case("zeros.empty", lambda: torch.zeros(2, 0, dtype=torch.float64))
case("ones", lambda: torch.ones((), dtype=torch.float64))
case("full", lambda: torch.full((2, 3), -1.25, dtype=torch.float64))
case("full.i64", lambda: torch.full((2,), 2**53 - 1))
case("full.bool", lambda: torch.full((2,), True))
case("zeros_like", lambda x: torch.zeros_like(x), whole(2, 3))
case("ones_like", lambda x: torch.ones_like(x), whole(2, 3))
case("full_like", lambda x: torch.full_like(x, 7), whole(2, 3))
case("arange", lambda: torch.arange(5))
case("arange.step", lambda: torch.arange(2, 11, 3))
case("arange.down", lambda: torch.arange(5, -4, -2))
case("arange.floats", lambda: torch.arange(-1, 1, 0.25, dtype=torch.float64))
case("arange.nothing", lambda: torch.arange(3, 3))
case("linspace", lambda: torch.linspace(-1, 2, 7, dtype=torch.float64))
case("linspace.one", lambda: torch.linspace(3, 5, 1, dtype=torch.float64))
case("linspace.down", lambda: torch.linspace(1, 0, 4, dtype=torch.float64))
case("eye", lambda: torch.eye(3, dtype=torch.float64))
case("scalar_tensor", lambda: torch.scalar_tensor(2.5, dtype=torch.float64))
case("scalar_tensor.i64", lambda: torch.scalar_tensor(-7, dtype=torch.int64))

if __name__ == "__main__":
    np.savez_compressed(Path(__file__).parent.parent / "data" / "ops_cases.npz", **arrays)
