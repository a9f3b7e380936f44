#!/usr/bin/python3
"""Records PyTorch's learning rates over forty epochs, for tests/optim/lr_scheduler_test.cpp.

Writes tests/data/optim_schedules.npz: for each schedule the rates [40, 2] of two groups that begin at 0.001 and 0.3.
"""

from pathlib import Path

import numpy as np
import torch
from torch.optim import SGD, lr_scheduler as lr


def sequence(opt):
    warm_up, steps = lr.LinearLR(opt, 0.25, total_iters=8), lr.MultiStepLR(opt, [4, 9], 0.5)
    return lr.SequentialLR(opt, [warm_up, steps, lr.ExponentialLR(opt, 0.8)], [8, 25])


SCHEDULES = {
    "step": lambda o: lr.StepLR(o, 6, 0.3),
    "multi_step": lambda o: lr.MultiStepLR(o, [3, 3, 10, 31]),
    "exponential": lambda o: lr.ExponentialLR(o, 0.9),
    "cosine": lambda o: lr.CosineAnnealingLR(o, 14, 1e-4),
    "linear": lambda o: lr.LinearLR(o),
    "linear_down": lambda o: lr.LinearLR(o, 1.0, 0.1, 20),
    "lambda": lambda o: lr.LambdaLR(o, [lambda t: 0.95**t, lambda t: 1 / (1 + t // 5)]),
    "sequence": sequence,
}


def main():
    arrays = {}
    for name, make in SCHEDULES.items():
        params = [torch.nn.Parameter(torch.zeros(1, dtype=torch.float64)) for _ in range(2)]
        opt = SGD([{"params": params[:1], "lr": 0.001}, {"params": params[1:], "lr": 0.3}], 0.001)
        schedule = make(opt)
        rates = []
        for _ in range(40):
            rates.append([group["lr"] for group in opt.param_groups])
            opt.step()
            schedule.step()
        arrays[name] = np.array(rates)
    np.savez_compressed(Path(__file__).parent.parent / "data" / "optim_schedules.npz", **arrays)


if __name__ == "__main__":
    main()
