#!/usr/bin/python3
"""Records how NumPy prints arrays, for tests/ops/print_test.cpp.

Writes tests/data/ops_print.npz: <name>/x, the array, and <name>/text, what array2string gives as bytes of UTF-8.
"""

from pathlib import Path

import numpy as np

arrays = {}


def case(name, x):
    arrays[f"{name}/x"] = x
    arrays[f"{name}/text"] = np.frombuffer(np.array2string(x, separator=", ").encode(), np.uint8)


nan, inf = float("nan"), float("inf")
f32 = lambda values: np.array(values, np.float32)
case("whole", f32([1, 2, 3]))
case("aligned", f32([1.5, -22.25, 300]))
case("matrix", f32([[1, 2.5], [-3, 4]]))
case("cube", f32(range(12)).reshape(2, 3, 2))
case("rank4", np.arange(8).reshape(2, 1, 2, 2))
case("scalar", f32(2.5))
case("scalar_whole", f32(-3))
case("scalar_small", f32(1e-5))
case("scalar_large", f32(1e10))
case("scalar_integer", np.array(7))
case("scalar_bool", np.array(True))
case("scalar_nan", f32(nan))
case("empty", f32([]))
case("empty_axis", np.zeros((2, 0), np.float32))
case("tenths_f32", f32([0.1, 0.2, 0.7]))
case("tenths_f64", np.array([0.1, 0.2, 0.7]))
case("tenths_f16", np.array([0.1, 0.2, 0.7], np.float16))
case("thirds_f32", f32([1 / 3, 2 / 3, 1]))
case("thirds_f64", np.array([1 / 3, 2 / 3, 1]))
case("thirds_f16", np.array([1 / 3, 2 / 3, 1], np.float16))
case("infinite", f32([1, nan, inf, -inf]))
case("only_nan", f32([nan, nan]))
case("tiny", f32([1e-7, 1]))
case("large", f32([1e8, 1]))
case("not_large", f32([99999999, 1]) / 8)
case("wide_range", f32([0.01, 100]))
case("not_wide_range", f32([0.125, 100]))
case("scientific_f64", np.array([1.25e-10, -3e20]))
case("exponent_3", np.array([1e-100, 1e100]))
case("zeros", np.zeros(3, np.float32))
case("negative_zero", f32([-0.0, 0.0]))
case("integers", np.array([[1, -20], [300, 4]]))
case("bytes", np.array([0, 255, 7], np.uint8))
case("bools", np.array([True, False]))
case("long_lines", f32(range(30)) / 4)
case("long_rows", (np.arange(60) * 1001).reshape(2, 30))
case("thousand", np.arange(1000))
case("more_than_thousand", np.arange(1001))
case("summarised_f32", np.arange(2000, dtype=np.float32))
case("summarised_matrix", np.arange(1200).reshape(100, 12))
case("summarised_narrow", np.arange(2000).reshape(500, 4))
case("summarised_cube", np.arange(2 * 9 * 100).reshape(2, 9, 100))
hidden = np.ones(2000, np.float32)
hidden[1000] = 1e-9
case("summarised_hidden", hidden)

if __name__ == "__main__":
    np.savez_compressed(Path(__file__).parent.parent / "data" / "ops_print.npz", **arrays)
