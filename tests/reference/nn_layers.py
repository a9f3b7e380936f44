#!/usr/bin/python3
"""Records what PyTorch's layers give in float64: output, gradients and buffers, for tests/nn/layers_test.cpp.

Writes tests/data/nn_layers.npz. Each case has x (the input), g (the gradient of the output), y (the output), dx, and
for every parameter p.<name> (its value) and d.<name> (its gradient), for every buffer b.<name> (its value afterwards).
Inputs, parameters and g are numbers that float32 holds exactly.
"""

from pathlib import Path

import numpy as np
import torch
from torch import nn

random = np.random.default_rng(7)


def exact(shape):
    return torch.from_numpy(random.normal(size=shape).astype(np.float32).astype(np.float64))


def cases():
    image = (3, 4, 7, 6)
    yield "linear", nn.Linear(5, 3), exact((4, 5))
    yield "linear_no_bias", nn.Linear(5, 3, bias=False), exact((4, 5))
    yield "linear_3d", nn.Linear(5, 3), exact((2, 4, 5))
    yield "conv", nn.Conv2d(4, 6, 3), exact(image)
    yield "conv_no_bias", nn.Conv2d(4, 6, 3, bias=False), exact(image)
    yield "conv_stride_padding_dilation", nn.Conv2d(4, 6, 3, stride=2, padding=2, dilation=2), exact(image)
    yield "conv_grouped", nn.Conv2d(4, 6, 3, padding=1, groups=2), exact(image)
    yield "conv_depthwise", nn.Conv2d(4, 8, 3, padding=1, groups=4), exact(image)
    yield "conv_oblong", nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 0)), exact(image)
    yield "max_pool", nn.MaxPool2d(2), exact(image)
    yield "max_pool_ceil", nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True), exact(image)
    yield "avg_pool", nn.AvgPool2d(2), exact(image)
    yield "avg_pool_padding", nn.AvgPool2d(3, stride=2, padding=1), exact(image)
    yield "avg_pool_ceil", nn.AvgPool2d(3, stride=2, padding=1, ceil_mode=True, count_include_pad=False), exact(image)
    yield "adaptive_avg_pool", nn.AdaptiveAvgPool2d((3, 4)), exact(image)
    yield "adaptive_avg_pool_global", nn.AdaptiveAvgPool2d(1), exact(image)
    yield "batch_norm_1d", nn.BatchNorm1d(5), exact((6, 5))
    yield "batch_norm_1d_length", nn.BatchNorm1d(5, eps=1e-3, momentum=0.3), exact((3, 5, 4))
    yield "batch_norm_2d", nn.BatchNorm2d(4), exact(image)
    yield "batch_norm_2d_plain", nn.BatchNorm2d(4, affine=False), exact(image)
    yield "batch_norm_2d_untracked", nn.BatchNorm2d(4, track_running_stats=False), exact(image)
    yield "batch_norm_2d_eval", nn.BatchNorm2d(4).eval(), exact(image)
    yield "batch_norm_2d_untracked_eval", nn.BatchNorm2d(4, track_running_stats=False).eval(), exact(image)
    yield "layer_norm", nn.LayerNorm(6), exact((4, 6))
    yield "layer_norm_two_axes", nn.LayerNorm((7, 6), eps=1e-3), exact(image)
    yield "layer_norm_plain", nn.LayerNorm(6, elementwise_affine=False), exact((4, 6))
    yield "embedding", nn.Embedding(7, 3), torch.tensor([[1, 0, 6], [1, 1, 3]])
    yield "embedding_padding", nn.Embedding(7, 3, padding_idx=2), torch.tensor([2, 0, 2, 5, 5])
    yield "flatten", nn.Flatten(), exact(image)
    yield "relu", nn.ReLU(), exact((4, 9))
    yield "leaky_relu", nn.LeakyReLU(0.2), exact((4, 9))
    yield "elu", nn.ELU(1.5), exact((4, 9))
    yield "gelu", nn.GELU(), exact((4, 9))
    yield "gelu_tanh", nn.GELU(approximate="tanh"), exact((4, 9))
    yield "silu", nn.SiLU(), exact((4, 9))
    yield "sigmoid", nn.Sigmoid(), exact((4, 9))
    yield "tanh", nn.Tanh(), exact((4, 9))
    yield "softplus", nn.Softplus(beta=2, threshold=3), exact((4, 9))
    yield "hardtanh", nn.Hardtanh(-0.5, 1.5), exact((4, 9))
    yield "hardsigmoid", nn.Hardsigmoid(), exact((4, 9)) * 4
    yield "hardswish", nn.Hardswish(), exact((4, 9)) * 4
    yield "mish", nn.Mish(), exact((4, 9))
    yield "log_sigmoid", nn.LogSigmoid(), exact((4, 9))
    yield "softmax", nn.Softmax(dim=1), exact((4, 9))
    yield "log_softmax", nn.LogSoftmax(dim=1), exact((4, 9))


def main():
    arrays = {}
    for name, layer, x in cases():
        layer.double()
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.copy_(exact(parameter.shape))
            for buffer in layer.buffers():
                if buffer.is_floating_point():
                    buffer.copy_(exact(buffer.shape).abs())
        arrays.update({f"{name}/p.{key}": value.detach().numpy().copy() for key, value in layer.state_dict().items()})
        if x.is_floating_point():
            x.requires_grad_()
        y = layer(x)
        g = exact(y.shape)
        y.backward(g)
        arrays.update({f"{name}/x": x.detach().numpy(), f"{name}/g": g.numpy(), f"{name}/y": y.detach().numpy()})
        if x.grad is not None:
            arrays[f"{name}/dx"] = x.grad.numpy()
        arrays.update({f"{name}/d.{key}": p.grad.numpy() for key, p in layer.named_parameters()})
        arrays.update({f"{name}/b.{key}": b.numpy() for key, b in layer.named_buffers()})
    np.savez_compressed(Path(__file__).parent.parent / "data" / "nn_layers.npz", **arrays)


if __name__ == "__main__":
    main()
