#!/usr/bin/python3
"""Records twenty training steps in PyTorch, in float64, for tests/optim/training_test.cpp.

Writes tests/data/optim_training.npz. For each network `mlp` and `cnn`: x, y (four batches) and init.<name>, numbers that
float32 holds exactly. For each run: losses and the first group's rate before each step, final.<name> of every
parameter and buffer, state.<i>.<name> of the optimizer.
"""

from pathlib import Path

import numpy as np
import torch
from torch import nn, optim
from torch.optim import lr_scheduler as lr

STEPS, BATCHES, BATCH = 20, 4, 12
random = np.random.default_rng(11)


def exact(shape, scale=1.0):
    return (random.normal(size=shape) * scale).astype(np.float32).astype(np.float64)


def mlp():
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 3)
    )


def warm_up_then_cosine(opt):
    warm_up, cosine = lr.LinearLR(opt, 0.2, total_iters=5), lr.CosineAnnealingLR(opt, 15)
    return lr.SequentialLR(opt, [warm_up, cosine], [5])


def groups(net):
    parameters = list(net.parameters())
    return [{"params": parameters[:1]}, {"params": parameters[1:], "lr": 0.003, "weight_decay": 0.2}]


def gaps(net, step):
    """The last layer's bias takes no part in every third step, and in the first."""
    if step % 3 == 0:
        net[-1].bias.grad = None


RUNS = {
    "sgd": (lambda n: optim.SGD(n.parameters(), 0.05), lambda o: lr.StepLR(o, 7, 0.5)),
    "sgd_momentum": (
        lambda n: optim.SGD(n.parameters(), 0.05, momentum=0.9, dampening=0.1, weight_decay=0.01),
        lambda o: lr.MultiStepLR(o, [5, 12], 0.3),
    ),
    "sgd_nesterov": (
        lambda n: optim.SGD(n.parameters(), 0.02, momentum=0.9, nesterov=True, weight_decay=1e-3),
        lambda o: lr.CosineAnnealingLR(o, 15, 1e-4),
    ),
    "sgd_maximize": (lambda n: optim.SGD(n.parameters(), 0.001, momentum=0.5, weight_decay=0.1, maximize=True), None),
    "adam": (lambda n: optim.Adam(n.parameters(), 0.01), lambda o: lr.LinearLR(o, 0.1, total_iters=6)),
    "adam_amsgrad": (
        lambda n: optim.Adam(n.parameters(), 0.02, (0.8, 0.95), 1e-6, weight_decay=0.05, amsgrad=True),
        lambda o: lr.ExponentialLR(o, 0.93),
    ),
    "adam_gaps": (lambda n: optim.Adam(n.parameters(), 0.01), None),
    "adamw": (lambda n: optim.AdamW(n.parameters(), 0.01, weight_decay=0.1), warm_up_then_cosine),
    "adamw_groups": (
        lambda n: optim.AdamW(groups(n), 0.01, weight_decay=0.0, amsgrad=True),
        lambda o: lr.LambdaLR(o, lambda t: 1 / (1 + t)),
    ),
    "adamw_maximize": (lambda n: optim.AdamW(n.parameters(), 0.001, maximize=True), None),
}


def record(name, make, x, y, arrays):
    initial = {key: exact(value.shape, 0.3) for key, value in make().named_parameters()}
    arrays.update({f"{name}/x": x, f"{name}/y": y})
    arrays.update({f"{name}/init.{key}": value for key, value in initial.items()})
    for run, (optimizer, schedule) in RUNS.items():
        net = make().double()
        net.load_state_dict({key: torch.from_numpy(value) for key, value in initial.items()}, strict=False)
        opt = optimizer(net)
        scheduler = schedule(opt) if schedule else None
        losses, rates = [], []
        for step in range(STEPS):
            batch = slice(step % BATCHES * BATCH, (step % BATCHES + 1) * BATCH)
            loss = nn.functional.cross_entropy(net(torch.from_numpy(x[batch])), torch.from_numpy(y[batch]))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            if run == "adam_gaps":
                gaps(net, step)
            losses.append(loss.item())
            rates.append(opt.param_groups[0]["lr"])
            opt.step()
            if scheduler:
                scheduler.step()
        key = f"{name}.{run}"
        arrays.update({f"{key}/losses": np.array(losses), f"{key}/rates": np.array(rates)})
        arrays.update({f"{key}/final.{k}": v.numpy() for k, v in net.state_dict().items()})
        for i, state in opt.state_dict()["state"].items():
            for slot, value in state.items():
                if value is not None:
                    arrays[f"{key}/state.{i}.{slot}"] = np.asarray(value, dtype=np.float64)


def main():
    arrays = {}
    rows = BATCHES * BATCH
    record("mlp", mlp, exact((rows, 6)), random.integers(0, 3, rows), arrays)
    record("cnn", cnn, exact((rows, 1, 8, 8)), random.integers(0, 3, rows), arrays)
    np.savez_compressed(Path(__file__).parent.parent / "data" / "optim_training.npz", **arrays)


if __name__ == "__main__":
    main()
