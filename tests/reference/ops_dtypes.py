#!/usr/bin/python3
"""Records PyTorch's type promotion and NumPy's conversions, for tests/ops/promotion_test.cpp.

Writes tests/data/ops_dtypes.npz. Dtypes are numbered in Stoker's order.
  tensors[a, a is 0-d, b, b is 0-d]   dtype of an operation of two tensors
  numbers[a, a is 0-d, kind]          and of a tensor and a Python bool, int or float
  cast/<from>, cast/<from>/<to>       values, and the same converted
"""

from pathlib import Path

import numpy as np
import torch

NAMES = ["bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"]
DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
          torch.float16, torch.bfloat16, torch.float32, torch.float64]
NUMPY = {"bool": np.bool_, "u8": np.uint8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "f16": np.float16, "f32": np.float32, "f64": np.float64}
# Ties between two halves of either kind, what just misses them, the ends of both ranges, and numbers below them.
REALS = [0, 1.5, -2.75, 100.7, 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-11 + 2**-40, 1 + 2**-8 + 2**-40,
         65504, 65519.99, 65520, 1e6, 2**-24, 2**-25, 3 * 2**-25, 2**-26, 1e-40, 3e38, 1e300, -1e300, float("inf"), float("nan")]
IN_RANGE = [0, 0.99, 1.5, 2.5, 100.7, 127]
WHOLE = [0, 1, -1, 127, 128, -128, -129, 255, 256, 300, 2049, 2051, 65536 + 5, 2**24 + 1, 2**31 + 5, -(2**31) - 5, 2**40 + 3, 2**53 - 1]


def to_bf16(values):
    """Rounded once, to the nearest even of eight bits."""
    mantissa, exponent = np.frexp(values.astype(np.float64))
    rounded = np.ldexp(np.rint(np.ldexp(mantissa, 8)), exponent - 8)
    tiny = np.rint(values.astype(np.float64) * 2.0**133) * 2.0**-133
    rounded = np.where(np.abs(values) < 2.0**-126, tiny, rounded)
    return np.where(np.abs(rounded) >= 2.0**128, np.sign(rounded) * np.inf, rounded)


def converted(values, name):
    if name == "bf16":
        return to_bf16(values)
    return values.astype(NUMPY[name]).astype(np.float64 if name.startswith("f") else np.int64)


def main():
    arrays = {}

    def example(dtype, scalar):
        return torch.zeros((), dtype=dtype) if scalar else torch.zeros(2, dtype=dtype)

    def code(dtype):
        return DTYPES.index(dtype)

    shapes = (False, True)
    arrays["tensors"] = np.array([[[[code(torch.result_type(example(a, i), example(b, j))) for j in shapes] for b in DTYPES]
                                   for i in shapes] for a in DTYPES], np.uint8)
    arrays["numbers"] = np.array([[[code(torch.result_type(example(a, i), n)) for n in (True, 1, 1.5)] for i in shapes]
                                  for a in DTYPES], np.uint8)
    with np.errstate(all="ignore"):
        for source in ("f64", "f32"):
            reals = np.array(REALS).astype(NUMPY[source])
            arrays[f"cast/{source}"] = reals
            for target in ("f16", "bf16", "f32", "f64"):
                arrays[f"cast/{source}/{target}"] = converted(reals, target)
            arrays[f"cast/{source}/bool"] = (reals != 0).astype(np.int64)
        for source in ("f64", "f32"):
            arrays[f"whole/{source}"] = np.array(IN_RANGE).astype(NUMPY[source])
            for target in ("u8", "i8", "i16", "i32", "i64"):
                arrays[f"whole/{source}/{target}"] = converted(arrays[f"whole/{source}"], target)
        for source in ("i64", "i32", "i16", "i8", "u8"):
            whole = np.array(WHOLE).astype(NUMPY[source])
            arrays[f"cast/{source}"] = whole
            for target in NAMES:
                arrays[f"cast/{source}/{target}"] = converted(whole, target)
    np.savez_compressed(Path(__file__).parent.parent / "data" / "ops_dtypes.npz", **arrays)


if __name__ == "__main__":
    main()
