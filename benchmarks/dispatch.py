"""Measures the latency of small eager operations: np2tf, NumPy, the raw TensorFlow operation, TensorFlow's
NumPy.

    python benchmarks/dispatch.py            # the table; exit status 1 if a goal is missed
    python benchmarks/dispatch.py --json

All four run in one process, in turn, and each figure is the best of many short runs, so that other work on
the machine slows all of them down or none. Arrays have 100 elements of float64.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import tensorflow as tf
import tensorflow.experimental.numpy as experimental

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import tensor_array

#: The goals. With tensors, np2tf takes at most so many times the raw operation; on the host, at most so many
#: times NumPy, or so many seconds for a cheap operation. Writing an element: at most so many times NumPy.
TENSOR_GOAL, HOST_GOAL, CHEAP_GOAL, ELEMENT_GOAL = 2.0, 4.0, 1.5e-6, 5.0
#: If TensorFlow's NumPy takes so many times the raw operation, np2tf must be so many times faster.
SLOW_EXPERIMENTAL, QUICKER = 5.0, 3.0
#: Operations that NumPy does in less than this are cheap: the goal of np2tf on the host is then CHEAP_GOAL.
CHEAP = 0.5e-6

VALUES = np.linspace(0.0, 1.0, 100)
SQUARE = VALUES.reshape(10, 10)
MASK = VALUES > 0.5
raw = tf.raw_ops


def _setitem(array: Any) -> None:
    array[3] = 1.0


#: name -> the operation over a namespace, two vectors, a matrix and a mask.
OPERATIONS: dict[str, Callable[..., Any]] = {
    "a + b": lambda np, a, b, m, k: lambda: a + b,
    "a + 1.0": lambda np, a, b, m, k: lambda: a + 1.0,
    "np.add": lambda np, a, b, m, k: lambda: np.add(a, b),
    "multiply": lambda np, a, b, m, k: lambda: np.multiply(a, b),
    "sin": lambda np, a, b, m, k: lambda: np.sin(a),
    "sum": lambda np, a, b, m, k: lambda: np.sum(a),
    "mean": lambda np, a, b, m, k: lambda: np.mean(a),
    "a[3]": lambda np, a, b, m, k: lambda: a[3],
    "a[2:50]": lambda np, a, b, m, k: lambda: a[2:50],
    "a[mask]": lambda np, a, b, m, k: lambda: a[k],
    "a[3] = 1.0": lambda np, a, b, m, k: lambda: _setitem(a),
    "matmul": lambda np, a, b, m, k: lambda: np.matmul(m, m),
    "concatenate": lambda np, a, b, m, k: lambda: np.concatenate([a, b]),
    "where": lambda np, a, b, m, k: lambda: np.where(k, a, b),
    "astype": lambda np, a, b, m, k: lambda: a.astype("float32"),
    "reshape": lambda np, a, b, m, k: lambda: np.reshape(a, (10, 10)),
}


def _raw_operations() -> dict[str, Callable[[], Any]]:
    """Return the raw operations, called as directly as Python can, with operands that are tensors already."""
    a, b, m, k = (tf.constant(value) for value in (VALUES, VALUES, SQUARE, MASK))
    one, shape, axis = tf.constant(1.0, tf.float64), tf.constant([10, 10]), tf.constant([0])
    begin, end, steps = tf.constant([3]), tf.constant([50]), tf.constant([1])
    following = tf.constant([4])
    return {
        "a + b": lambda: raw.AddV2(x=a, y=b),
        "a + 1.0": lambda: raw.AddV2(x=a, y=1.0),
        "np.add": lambda: raw.AddV2(x=a, y=b),
        "multiply": lambda: raw.Mul(x=a, y=b),
        "sin": lambda: raw.Sin(x=a),
        "sum": lambda: raw.Sum(input=a, axis=axis),
        "mean": lambda: raw.Mean(input=a, axis=axis),
        "a[3]": lambda: raw.StridedSlice(
            input=a, begin=begin, end=following, strides=steps, shrink_axis_mask=1
        ),
        "a[2:50]": lambda: raw.StridedSlice(input=a, begin=begin, end=end, strides=steps),
        "a[mask]": lambda: raw.GatherV2(params=a, indices=raw.Where(condition=k)[:, 0], axis=0),
        "a[3] = 1.0": lambda: raw.TensorStridedSliceUpdate(
            input=a, begin=begin, end=following, strides=steps, value=one, shrink_axis_mask=1
        ),
        "matmul": lambda: raw.MatMul(a=m, b=m),
        "concatenate": lambda: raw.ConcatV2(values=[a, b], axis=0),
        "where": lambda: raw.SelectV2(condition=k, t=a, e=b),
        "astype": lambda: raw.Cast(x=a, DstT=tf.float32),
        "reshape": lambda: raw.Reshape(tensor=a, shape=shape),
    }


@dataclass
class Row:
    """The seconds per call of one operation."""

    name: str
    numpy: float = float("inf")
    host: float = float("inf")
    raw: float = float("inf")
    tensor: float = float("inf")
    experimental: float = float("inf")

    def misses(self) -> list[str]:
        """Return the goals that are missed, in words."""
        found = []
        if self.tensor > TENSOR_GOAL * self.raw:
            found.append(f"{self.tensor / self.raw:.1f}x its raw operation")
        if self.experimental > SLOW_EXPERIMENTAL * self.raw and self.tensor * QUICKER > self.experimental:
            found.append(f"only {self.experimental / self.tensor:.1f}x quicker than experimental")
        if self.host > HOST_GOAL * self.numpy:
            found.append(f"{self.host / self.numpy:.1f}x NumPy on the host")
        if self.numpy < CHEAP and self.host > CHEAP_GOAL:
            found.append(f"{self.host * 1e6:.2f} µs on the host")
        return found


def best(function: Callable[[], Any], seconds: float = 1e-3) -> float:
    """Return the seconds per call of the best of some short runs."""
    calls, spent = 0, 0.0
    start = time.perf_counter()
    while spent < seconds:
        for _ in range(8):
            function()
        calls += 8
        spent = time.perf_counter() - start
    return spent / calls


def measure(rounds: int, only: str = "") -> list[Row]:
    """Measure every operation on every side, in turn, and keep the best of so many rounds."""
    sides: dict[str, dict[str, Callable[[], Any]]] = {"raw": _raw_operations()}
    makes: dict[str, tuple[Any, Callable[[np.ndarray], Any]]] = {
        "numpy": (np, np.copy),
        "host": (tnp, lambda value: tnp.array(value.copy())),
        "tensor": (tnp, lambda value: tensor_array(tf.constant(value))),
        "experimental": (experimental, experimental.array),
    }
    for side, (namespace, make) in makes.items():
        operands = [make(value) for value in (VALUES, VALUES, SQUARE, MASK)]
        sides[side] = {name: build(namespace, *operands) for name, build in OPERATIONS.items()}
    # TensorFlow's NumPy cannot do this, or has another name for it.
    del sides["experimental"]["a[3] = 1.0"], sides["experimental"]["astype"]
    rows = [Row(name) for name in OPERATIONS if only in name]
    for _ in range(rounds):
        for row in rows:
            for side, functions in sides.items():
                if row.name in functions:
                    setattr(row, side, min(getattr(row, side), best(functions[row.name])))
    for row in rows:
        if row.experimental == float("inf"):
            row.experimental = 0.0
    return rows


def element_writes(rounds: int) -> tuple[float, float]:
    """Return the seconds per write of one element of a million: on NumPy, and by np2tf on the host."""
    plain = np.zeros(1_000_000)
    array = tnp.array(plain)
    times = {"numpy": float("inf"), "host": float("inf")}
    for _ in range(rounds):
        for side, target in (("numpy", plain), ("host", array)):
            start = time.perf_counter()
            for i in range(20_000):
                target[i] = 1.0
            times[side] = min(times[side], (time.perf_counter() - start) / 20_000)
    return times["numpy"], times["host"]


def show(rows: list[Row], writes: tuple[float, float]) -> bool:
    """Print the table, and return whether all goals are met."""
    heads = " ".join(f"{head:>7}" for head in ("NumPy", "host", "raw", "tensor", "exp."))
    print(f"{'microseconds':14} {heads}  host/NumPy tensor/raw")
    met = True
    for row in rows:
        numbers = (row.numpy, row.host, row.raw, row.tensor, row.experimental)
        missed = row.misses()
        met = met and not missed
        print(
            f"{row.name:14} {' '.join(f'{1e6 * n:7.2f}' for n in numbers)}  {row.host / row.numpy:10.1f} "
            f"{row.tensor / row.raw:10.1f}  {'; '.join(missed)}"
        )
    ratio = writes[1] / writes[0]
    print(f"one-element writes, 1e6 elements: NumPy {writes[0] * 1e9:.0f} ns, ", end="")
    print(f"host {writes[1] * 1e9:.0f} ns, {ratio:.1f}x")
    return met and ratio <= ELEMENT_GOAL


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--only", default="", help="operations whose name contains this")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with np2tf.config.using(eager="auto"):
        rows, writes = measure(options.rounds, options.only), element_writes(max(options.rounds // 6, 3))
    if options.json:
        print(json.dumps({"operations": [asdict(row) for row in rows], "element_writes": writes}, indent=1))
        return 0
    return 0 if show(rows, writes) else 1


if __name__ == "__main__":
    sys.exit(main())
