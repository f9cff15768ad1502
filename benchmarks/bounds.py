"""Measures the cost of index checks at run time: `np2tf.config.bounds`.

python benchmarks/bounds.py
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import np2tf
from np2tf import tnp

SIZE = 200_000


def gathered_in_a_loop(x: Any, indices: Any) -> Any:
    """Read one element per iteration."""
    return np2tf.for_loop(range(SIZE), lambda i, s: s * 0.5 + x[indices[i]], 0.0)


def counted_in_a_loop(x: Any, indices: Any) -> Any:
    """Write one element per iteration."""
    counts = tnp.zeros(SIZE)
    return np2tf.for_loop(range(SIZE), lambda i, c: tnp.at(c)[indices[i]].add(x[i]), counts)


def gathered_at_once(x: Any, indices: Any) -> Any:
    """Read all elements by one index array."""
    return x[indices] * 2


def scattered_at_once(x: Any, indices: Any) -> Any:
    """Write all elements by one index array."""
    return tnp.add_at(tnp.zeros(SIZE), indices, x)


def best_of(calls: dict[str, Callable[[], Any]], repeats: int = 15) -> dict[str, float]:
    """Return the shortest time of some calls of each kind, which take turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            with np2tf.config.using(bounds=name):
                start = perf_counter()
                call()
            times[name].append(perf_counter() - start)
    return {name: min(found[2:]) for name, found in times.items()}


def main() -> None:
    """Measure each function with and without checks."""
    rng = np.random.default_rng(0)
    x, indices = rng.random(SIZE), rng.integers(0, SIZE, SIZE)
    for function in (gathered_in_a_loop, counted_in_a_loop, gathered_at_once, scattered_at_once):
        jitted = np2tf.jit(function, tier="compile")
        ways = {name: lambda f=jitted: f(x, indices) for name in ("unchecked", "checked")}
        found = best_of(ways)
        checked, unchecked = found["checked"] * 1e3, found["unchecked"] * 1e3
        more = f"{checked / unchecked - 1:+.0%}"
        print(f"{function.__name__:20} {unchecked:7.3f} ms, checked {checked:7.3f} ms: {more}")


if __name__ == "__main__":
    main()
