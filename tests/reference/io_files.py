#!/usr/bin/env python3
"""Writes the recorded files of tests/data/io: arrays by NumPy, IDX and safetensors from their specifications.
Some of them are where the fuzz tests start from.

Needs NumPy and PyTorch (for bf16): /usr/bin/python3 tests/reference/io_files.py
"""

import gzip
import io
import json
import shutil
import struct
import zipfile
from pathlib import Path

import numpy as np
import torch

TESTS = Path(__file__).resolve().parent.parent
OUT = TESTS / "data" / "io"
SEEDS = {"npy": ["f32.npy", "bool.npy", "fortran.npy", "big_endian.npy", "version2.npy"],
         "npz": ["stored.npz", "deflated.npz", "comment.npz"],
         "idx": ["u8.idx", "f64.idx", "u8.idx.gz", "two_members.idx.gz"],
         "safetensors": ["all.safetensors"]}

INTEGERS = np.array([[0, 1, 2], [100, 101, 127]])
FLOATS = np.array([[0.1, -1.5, np.inf], [np.nan, -0.0, 65504.0]])
BOOLS = np.array([[False, True, False], [True, True, False]])
TYPES = {"bool": BOOLS.dtype, "u8": "<u1", "i8": "<i1", "i16": "<i2", "i32": "<i4", "i64": "<i8",
         "f16": "<f2", "f32": "<f4", "f64": "<f8"}


def values(name):
    source = BOOLS if name == "bool" else FLOATS if name.startswith("f") else INTEGERS
    return source.astype(TYPES[name])


def npy_files():
    for name in TYPES:
        np.save(OUT / f"{name}.npy", values(name))
    count = np.arange(24, dtype="<f4").reshape(2, 3, 4)
    np.save(OUT / "fortran.npy", np.asfortranarray(count))
    np.save(OUT / "big_endian.npy", INTEGERS.astype(">i4"))
    np.save(OUT / "scalar.npy", np.float64(2.5))
    np.save(OUT / "vector.npy", np.arange(5, dtype="<i4"))
    np.save(OUT / "empty.npy", np.zeros((0, 3), "<f4"))
    for version in (2, 3):
        with open(OUT / f"version{version}.npy", "wb") as file:
            np.lib.format.write_array(file, INTEGERS.astype("<i4"), version=(version, 0))
    np.save(OUT / "objects.npy", np.array([{}, "a"], dtype=object), allow_pickle=True)
    np.save(OUT / "structured.npy", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))
    np.save(OUT / "complex.npy", np.zeros(2, dtype="<c8"))


def npz_files():
    arrays = {"a": values("f32"), "layer.weight": values("i64"), "none": np.zeros((0,), "<f8")}
    np.savez(OUT / "stored.npz", **arrays)
    np.savez_compressed(OUT / "deflated.npz", **arrays)
    array = io.BytesIO()
    np.save(array, INTEGERS.astype("<i4"))
    with zipfile.ZipFile(OUT / "comment.npz", "w") as archive:
        archive.comment = b"an archive may end in a comment"
        archive.writestr(zipfile.ZipInfo("x.npy"), array.getvalue())


def idx_files():
    for name, (code, dtype) in {"u8": (8, ">u1"), "i8": (9, ">i1"), "i16": (11, ">i2"), "i32": (12, ">i4"),
                                "f32": (13, ">f4"), "f64": (14, ">f8")}.items():
        source = FLOATS if name.startswith("f") else INTEGERS
        content = struct.pack(">HBBII", 0, code, 2, 2, 3) + source.astype(dtype).tobytes()
        (OUT / f"{name}.idx").write_bytes(content)
        if name in ("u8", "i32"):
            (OUT / f"{name}.idx.gz").write_bytes(gzip.compress(content, mtime=0))
    halves = gzip.compress(content[:20], mtime=0) + gzip.compress(content[20:], mtime=0)
    (OUT / "two_members.idx.gz").write_bytes(halves)


def safetensors_file():
    names = {"bool": "BOOL"} | {name: name.upper() for name in TYPES if name != "bool"}
    parts = {name: (names[name], values(name).tobytes()) for name in TYPES}
    bf16 = torch.tensor(FLOATS, dtype=torch.float64).to(torch.bfloat16)
    parts["bf16"] = ("BF16", bf16.view(torch.int16).numpy().tobytes())
    header = {"__metadata__": {"format": "pt", "note": "a \"quoted\" word"}}
    data = b""
    for name, (dtype, content) in parts.items():
        header[name] = {"dtype": dtype, "shape": [2, 3], "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    header["none"] = {"dtype": "F32", "shape": [0, 4], "data_offsets": [len(data), len(data)]}
    header["number"] = {"dtype": "F32", "shape": [], "data_offsets": [len(data), len(data) + 4]}
    data += struct.pack("<f", 2.5)
    text = json.dumps(header).encode()
    (OUT / "all.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)


def fuzz_seeds():
    for target, names in SEEDS.items():
        folder = TESTS / "fuzz" / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copy(OUT / name, folder)


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    npy_files()
    npz_files()
    idx_files()
    safetensors_file()
    fuzz_seeds()
