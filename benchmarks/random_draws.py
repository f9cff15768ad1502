"""Compares Monte Carlo loops on NumPy with an XLA program that makes NumPy's own random numbers.

    python benchmarks/random_draws.py [--steps 200000]

The results, and the states of the generators afterwards, are compared bit for bit.
"""

from __future__ import annotations

import argparse
import time
import types
from functools import partial
from typing import Any

import numpy as np

import np2tf
from np2tf.translator.pipeline import convert

SOURCE = '''
import numpy as np


def darts(rng, n):
    """Pi, by darts."""
    hits = 0
    for _ in range(n):
        x = rng.random()
        y = rng.random()
        if x * x + y * y < 1.0:
            hits += 1
    return 4.0 * hits / n


def walk(rng, n):
    """The farthest from home of a random walk."""
    place = 0
    farthest = 0
    for _ in range(n):
        place += 2 * rng.integers(0, 2) - 1
        farthest = max(farthest, abs(place))
    return farthest


def metropolis(rng, n):
    """Samples of a double well."""
    x = 0.0
    total = 0.0
    for _ in range(n):
        new = x + rng.normal(0.0, 0.5)
        if rng.random() < np.exp((x * x - 1.0) ** 2 - (new * new - 1.0) ** 2):
            x = new
        total += x * x
    return total / n


def paths(rng, n):
    """The mean of a thousand paths, all of which take a step at a time."""
    price = np.full(1000, 100.0)
    for _ in range(n // 1000):
        price = price * (1.0 + 0.01 * rng.standard_normal(1000))
    return price.mean()


def legacy_darts(rng, n):
    hits = 0
    for _ in range(n):
        x = rng.uniform(-1.0, 1.0)
        y = rng.uniform(-1.0, 1.0)
        if x * x + y * y < 1.0:
            hits += 1
    return 4.0 * hits / n


def legacy_normals(rng, n):
    total = 0.0
    for _ in range(n):
        x = rng.normal()
        if x > 0.0:
            total += x
    return total


def arrivals(rng, n):
    """By calls back to NumPy: XLA has no gamma numbers."""
    total = 0.0
    for _ in range(n // 100):
        total += rng.gamma(2.0) * rng.random()
    return total
'''


def _module(text: str, name: str) -> Any:
    module = types.ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
    return module


def _timed(run: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    return run(), time.perf_counter() - start


def main() -> None:
    """Measure the loops, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200_000)
    steps = parser.parse_args().steps
    numpys, ours = _module(SOURCE, "numpys"), _module(convert(SOURCE).text, "ours")
    print(f"{'':16} {'NumPy':>9} {'compiled':>9} {'factor':>7} {'first':>7}  runs as, results")
    for name in ("darts", "walk", "metropolis", "paths", "legacy_darts", "legacy_normals", "arrivals"):
        make = np.random.RandomState if name.startswith("legacy") else np.random.default_rng
        one, other = make(1), make(1)
        expected, seconds = _timed(partial(getattr(numpys, name), one, steps))
        function = getattr(ours, name)
        with np2tf.config.using(tier="compile"):
            _, first = _timed(partial(function, make(1), steps))
            found, compiled = _timed(partial(function, other, steps))
            runs = function.explain(other, steps).runs
        same = found == expected and one.random() == other.random()
        print(
            f"{name:16} {seconds:8.3f}s {compiled:8.4f}s {seconds / compiled:6.1f}x {first:6.1f}s  {runs}, "
            f"{'the same bits' if same else f'{found} and {expected}'}"
        )


if __name__ == "__main__":
    main()
