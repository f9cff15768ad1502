"""The tables with which promotion is compared: JAX's documented table, and TensorFlow's actual results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import tensorflow as tf

#: The table of https://docs.jax.dev/en/latest/type_promotion.html.
JAX = """
     b1  u1  u2  u4  u8  i1  i2  i4  i8  bf  f2  f4  f8  c8  c16 i*  f*  c*
b1   b1  u1  u2  u4  u8  i1  i2  i4  i8  bf  f2  f4  f8  c8  c16 i*  f*  c*
u1   u1  u1  u2  u4  u8  i2  i2  i4  i8  bf  f2  f4  f8  c8  c16 u1  f*  c*
u2   u2  u2  u2  u4  u8  i4  i4  i4  i8  bf  f2  f4  f8  c8  c16 u2  f*  c*
u4   u4  u4  u4  u4  u8  i8  i8  i8  i8  bf  f2  f4  f8  c8  c16 u4  f*  c*
u8   u8  u8  u8  u8  u8  f*  f*  f*  f*  bf  f2  f4  f8  c8  c16 u8  f*  c*
i1   i1  i2  i4  i8  f*  i1  i2  i4  i8  bf  f2  f4  f8  c8  c16 i1  f*  c*
i2   i2  i2  i4  i8  f*  i2  i2  i4  i8  bf  f2  f4  f8  c8  c16 i2  f*  c*
i4   i4  i4  i4  i8  f*  i4  i4  i4  i8  bf  f2  f4  f8  c8  c16 i4  f*  c*
i8   i8  i8  i8  i8  f*  i8  i8  i8  i8  bf  f2  f4  f8  c8  c16 i8  f*  c*
bf   bf  bf  bf  bf  bf  bf  bf  bf  bf  bf  f4  f4  f8  c8  c16 bf  bf  c8
f2   f2  f2  f2  f2  f2  f2  f2  f2  f2  f4  f2  f4  f8  c8  c16 f2  f2  c8
f4   f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  f4  f8  c8  c16 f4  f4  c8
f8   f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  f8  c16 c16 f8  f8  c16
c8   c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c8  c16 c8  c16 c8  c8  c8
c16  c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16
i*   i*  u1  u2  u4  u8  i1  i2  i4  i8  bf  f2  f4  f8  c8  c16 i*  f*  c*
f*   f*  f*  f*  f*  f*  f*  f*  f*  f*  bf  f2  f4  f8  c8  c16 f*  f*  c*
c*   c*  c*  c*  c*  c*  c*  c*  c*  c*  c8  c8  c8  c16 c8  c16 c*  c*  c*
"""
#: JAX's names of dtypes -> np2tf's; JAX's names of Python numbers -> the numbers.
DTYPES: dict[str, str] = {
    "b1": "bool",
    **{f"{kind}{size}": np.dtype(f"{kind}{size}").name for kind in "ui" for size in (1, 2, 4, 8)},
    "bf": "bfloat16",
    "f2": "float16",
    "f4": "float32",
    "f8": "float64",
    "c8": "complex64",
    "c16": "complex128",
}
NUMBERS: dict[str, Any] = {"i*": 1, "f*": 1.0, "c*": 1 + 0j}
#: setting of `floats` -> the default dtype of a Python number.
DEFAULTS = {
    "float64": {"i*": "int64", "f*": "float64", "c*": "complex128"},
    "float32": {"i*": "int64", "f*": "float32", "c*": "complex64"},
}
_TENSORFLOW = """
import json, sys
import tensorflow as tf
dtypes, numbers = json.loads(sys.argv[1])
ones = {name: tf.ones(2, name) for name in dtypes}
numbers = {name: complex(*parts) if name == "c*" else parts for name, parts in numbers.items()}
def met(a, b):
    both_bool = a == "bool" and b == "bool"
    try:
        return (tf.logical_and if both_bool else tf.add)(ones[a], ones.get(b, numbers.get(b))).dtype.name
    except (TypeError, ValueError, tf.errors.InvalidArgumentError):
        return None
found = {}
for mode in ("all", "safe", "off"):
    tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode=mode)
    found[mode] = [[a, b, met(a, b)] for a in ones for b in (*ones, *numbers)]
print(json.dumps(found))
"""


def jax_table() -> dict[tuple[str, str], str]:
    """Return JAX's table: (name, name) -> name of the result, all in JAX's names."""
    head, *rows = JAX.strip("\n").splitlines()
    names = head.split()
    cells = {row.split()[0]: row.split()[1:] for row in rows}
    return {(a, b): cells[a][k] for a in names for k, b in enumerate(names)}


@cache
def tensorflow_tables() -> dict[str, dict[tuple[str, str], str | None]]:
    """Return, for each mode: (dtype, dtype or JAX's name of a number) -> TensorFlow's result, None if there
    is none.

    The results come from a separate process, because TensorFlow's switch belongs to the process.
    """
    numbers = {"i*": 1, "f*": 1.0, "c*": [1.0, 0.0]}
    ran = subprocess.run(
        [sys.executable, "-c", _TENSORFLOW, json.dumps([list(DTYPES.values()), numbers])],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    found = json.loads(ran.stdout.splitlines()[-1])
    return {
        mode: {(a, b): result for a, b, result in found[tensorflow_mode]}
        for mode, tensorflow_mode in {"all": "all", "safe": "safe", "none": "off"}.items()
    }


def ones(dtype: str) -> tf.Tensor:
    """Return a tensor that holds the number 1 twice."""
    return tf.ones(2, dtype)
